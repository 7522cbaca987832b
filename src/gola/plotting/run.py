"""Draw a run: predictions, learning curves, and the distribution of the errors."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from gola.data.dataset import Dataset
from gola.plotting.animation import write_animation
from gola.plotting.bands import draw_bands, has_bands
from gola.plotting.curves import draw_curves
from gola.plotting.errors import draw_errors
from gola.plotting.names import file_names
from gola.plotting.parameters import ParameterSpace
from gola.plotting.predictions import Prediction, draw_predictions
from gola.plotting.trajectories import draw_movies, heading_of, predicted_movies
from gola.plotting.trust import draw_trust
from gola.protocol import Epoch
from gola.surrogate.surrogate import Surrogate


def draw_run(
    surrogate: Surrogate,
    data: Dataset,
    errors: Float[np.ndarray, " sample"],
    *,
    what: str = "test sample",
    sample: int | None = None,
) -> dict[str, Figure]:
    """Draw ``fields``, ``errors``, for a network ``curves``, and ``bands`` and ``trust`` of a surrogate that has bands.

    Args:
        surrogate: The fitted surrogate.
        data: Samples to predict.
        errors: The relative L2 error of each of them.
        what: What to call one of them.
        sample: The one to draw; by default the best, the median and the worst, or the median alone where each of
            them takes several rows.
    """
    chosen = representative_samples(errors) if sample is None else {"": sample}
    if sample is None and (len(data.targets) > 1 or data.has_time):
        chosen = {"median": chosen["median"]}
    history = [Epoch(**epoch) for epoch in surrogate.provenance.get("history", ())]
    level = {f"{what}s, final": float(errors.mean())}
    figures = {
        "fields": draw_samples(
            surrogate, data, {label_of(data, row, f"{name} {what}"): row for name, row in chosen.items()}
        ),
        "errors": draw_errors({surrogate.operator.name: errors}, title=f"{len(errors)} {what}s"),
    }
    if history:
        figures["curves"] = draw_curves(history, title=surrogate.operator.name, levels=level)
    if has_bands(surrogate):
        name = next(iter(name for name in ("median", "") if name in chosen))
        row = chosen[name]
        figures["bands"] = draw_bands(surrogate, data[row], label=label_of(data, row, f"{name} {what}"))
        figures["trust"] = draw_trust(surrogate, data, title=f"{surrogate.operator.name}, {len(data)} {what}s")
    return figures


def animate_run(
    surrogate: Surrogate,
    data: Dataset,
    errors: Float[np.ndarray, " sample"],
    path: Path,
    *,
    what: str = "test sample",
    sample: int | None = None,
) -> Path:
    """Write truth, prediction and error of a trajectory as an animation.

    Args:
        surrogate: The fitted surrogate.
        data: Trajectories.
        errors: The relative L2 error of each of them.
        path: A .gif or .mp4 file.
        what: What to call one of them.
        sample: The one to show; the median by default.
    """
    if not data.has_time:
        raise ValueError(f"There is nothing to animate to {path}: the samples have no time.")
    row = representative_samples(errors)["median"] if sample is None else sample
    name = "median " * (sample is None)
    prediction = predicted(surrogate, data, row, label_of(data, row, f"{name}{what}"))
    return write_animation(prediction.sample, predicted_movies(prediction, data.targets), path, title=prediction.label)


def draw_samples(surrogate: Surrogate, data: Dataset, rows: Mapping[str, int]) -> Figure:
    """Draw the predictions for some samples, given by label and number."""
    predictions = [predicted(surrogate, data, row, label) for label, row in rows.items()]
    if data.has_time:
        first = predictions[0]
        movies = [movie for row in predicted_movies(first, data.targets) for movie in row]
        return draw_movies(first.sample, movies, title=heading_of(first.label, first.sample, data.parameters))
    parameters = ParameterSpace(channels=data.parameters, values=data.parameter_values)
    return draw_predictions(predictions, data.inputs, data.targets, parameters)


def predicted(surrogate: Surrogate, data: Dataset, row: int, label: str) -> Prediction:
    """Predict a sample, to be drawn below a label."""
    sample = data[row]
    return Prediction(label=label, sample=sample, values=surrogate.predict_sample(sample))


def label_of(data: Dataset, row: int, what: str) -> str:
    """Name a sample by its number, and by its file where that is known."""
    file = file_names(data)[row]
    return f"{what} {row}".strip() + (f" ({file})" if file else "")


def representative_samples(errors: Float[np.ndarray, " sample"]) -> dict[str, int]:
    """Return the samples with the smallest, the median and the largest error, each once.

    >>> representative_samples(np.array([0.3, 0.1, 0.2]))
    {'best': 1, 'median': 2, 'worst': 0}
    """
    order = np.argsort(errors, kind="stable").tolist()
    places = {"best": order[0], "median": order[(len(order) - 1) // 2], "worst": order[-1]}
    repeated = {name for name in ("best", "worst") if places[name] == places["median"]}
    return {name: row for name, row in places.items() if name not in repeated}
