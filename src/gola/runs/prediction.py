"""Predict from file to file: inputs are read, predicted and written with their predictions."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from gola.data.dataset import Dataset
from gola.data.formats import Band, export_sample, named_columns, read_points
from gola.data.sample import Channel, Sample, as_rows
from gola.data.trajectories import require_times
from gola.metrics import relative_l2, relative_l2_errors, variation_error
from gola.registry import WRITERS
from gola.runs.channels import ChannelError, channel_errors
from gola.runs.inputs import DATA_SETS, Inputs
from gola.surrogate.estimates import usual_level
from gola.surrogate.surrogate import Surrogate
from gola.surrogate.uncertainty.prediction import Kind, Prediction

# Samples that are predicted by one call.
_TOGETHER = 64


@dataclass(frozen=True, kw_only=True, eq=False)
class Predicted:
    """The prediction for a sample.

    Attributes:
        index: Number of the sample in its file.
        sample: Points, and what is known there; the times of a trajectory are those that were predicted.
        values: The prediction at these points.
        seconds: Time of the prediction.
        error: Relative L2 error; None where the truth is unknown.
        channels: Errors of each target channel; empty where the truth is unknown.
        judged: The prediction with its band, the error to expect and how unusual it is; None where the surrogate cannot
            say.
        has_band: Whether its band was asked for.
    """

    index: int
    sample: Sample
    values: Float[np.ndarray, "*time point channel"]
    seconds: float
    error: float | None
    channels: tuple[ChannelError, ...] = ()
    judged: Prediction | None = None
    has_band: bool = False

    @property
    def band(self) -> Band | None:
        """Lower and upper end of the band."""
        return (self.judged.lower, self.judged.upper) if self.judged is not None and self.has_band else None


def require_writable(out: Path, at: Path | None) -> None:
    """Check, before anything is computed, that predictions can be written to a file or folder of this name."""
    suffix = out.suffix.lower()
    if suffix not in ("", ".h5", *WRITERS):
        raise ValueError(f"Cannot write {out}; its name must end in {', '.join(WRITERS)} or .h5, or be a folder's.")
    if suffix == ".h5" and at is not None:
        raise ValueError("A data set needs inputs at its points, and --at has none; write .vtu, .npz or .csv.")


def holds_many(out: Path) -> bool:
    """Whether an output of this name can hold several samples: a data set or a folder."""
    return out.suffix.lower() in ("", ".h5")


def read_places(at: Path, surrogate: Surrogate) -> Sample:
    """Read where to predict: points, with cells if there are any, and no values."""
    if at.suffix.lower() in DATA_SETS:
        first = Dataset.load(at)[0]
        nothing = np.empty((first.num_points, 0))
        places = replace(first, inputs=nothing, targets=nothing, times=None)
    else:
        places = read_points(at)
    if places.dim != surrogate.dim:
        raise ValueError(f"{at} has points in {places.dim}D, and the surrogate was fitted in {surrogate.dim}D.")
    return places


def predict_samples(
    surrogate: Surrogate,
    inputs: Inputs,
    rows: Sequence[int],
    places: Sample | None = None,
    times: Float[np.ndarray, " time"] | None = None,
    *,
    interval: float | None = None,
    kind: Kind = "everywhere",
) -> Iterator[Predicted]:
    """Predict samples at their own points and times, or at others, several by one call.

    Errors are estimated where the surrogate can, with bands or without. Trajectories are predicted one by one: each
    has times of its own.
    """
    level = usual_level(surrogate) if interval is None else interval
    together = 1 if surrogate.has_time else _TOGETHER
    inputs = inputs.with_targets_of(rows)
    for start in range(0, len(rows), together):
        numbers = rows[start : start + together]
        samples = [inputs.sample(number) for number in numbers]
        began = time.perf_counter()
        answers = _answers(surrogate, samples, None if places is None else places.points, times, level, kind)
        seconds = (time.perf_counter() - began) / len(samples)
        for number, given, answer in zip(numbers, samples, answers, strict=True):
            judged = answer if isinstance(answer, Prediction) else None
            values = answer.mean if isinstance(answer, Prediction) else answer
            sample = _at_times(given, surrogate, times)
            found = _predicted(surrogate, number, sample, values, judged, places, seconds)
            yield replace(found, has_band=interval is not None)


def _answers(
    surrogate: Surrogate,
    samples: Sequence[Sample],
    at: Float[np.ndarray, "query dim"] | None,
    times: Float[np.ndarray, " time"] | None,
    interval: float | None,
    kind: Kind,
) -> Sequence[Float[np.ndarray, "*time row channel"] | Prediction]:
    if len(samples) == 1:
        only = samples[0]
        if interval is None:
            return [surrogate.predict_sample(only, at=at, times=times)]
        return [surrogate.predict_sample(only, at=at, times=times, interval=interval, kind=kind)]
    points, values, numbers = ([getattr(one, name) for one in samples] for name in ("points", "inputs", "parameters"))
    found: Any = surrogate.predict(points, values, parameters=numbers, at=at, interval=interval, kind=kind)
    answers: Sequence[Float[np.ndarray, "*time row channel"] | Prediction] = found
    return answers


def _predicted(
    surrogate: Surrogate,
    index: int,
    sample: Sample,
    values: Float[np.ndarray, "*time row channel"],
    judged: Prediction | None,
    places: Sample | None,
    seconds: float,
) -> Predicted:
    known = places is None and sample.targets.shape[-1] > 0
    if places is not None:
        nothing = np.empty((*values.shape[:-1], 0))
        places = replace(places, parameters=sample.parameters, times=sample.times, targets=nothing)
    return Predicted(
        index=index,
        sample=sample if places is None else places,
        values=values,
        seconds=seconds,
        error=_error(surrogate, values, sample.targets) if known else None,
        channels=_channel_errors(surrogate, values, sample.targets) if known else (),
        judged=judged,
    )


def write_predictions(predictions: Sequence[Predicted], out: Path, surrogate: Surrogate) -> None:
    """Write predictions with inputs, truth and error where they are known: a data set, a folder, or a single file."""
    if out.suffix.lower() == ".h5":
        _as_dataset(predictions, surrogate).save(out)
        return
    if not out.suffix:
        out.mkdir(parents=True, exist_ok=True)
    for predicted in predictions:
        suffix = ".pvd" if surrogate.has_time else ".vtu"
        export_sample(
            predicted.sample,
            out if out.suffix else out / f"sample_{predicted.index:04d}{suffix}",
            inputs=surrogate.inputs if predicted.sample.inputs.shape[-1] else (),
            targets=surrogate.targets,
            parameters=surrogate.parameters,
            predictions=predicted.values,
            band=predicted.band,
            further=_further(predicted),
        )


def _further(predicted: Predicted) -> dict[str, float | Float[np.ndarray, " point"]]:
    """Return what is known of the error of a prediction; places outside the domain are as unusual as can be."""
    judged = predicted.judged
    if judged is None:
        return {}
    unusual = np.where(judged.is_outside, 1.0, judged.unusual)
    return {"prediction_unusual": unusual, "prediction_estimated_error": judged.error.value}


def _at_times(sample: Sample, surrogate: Surrogate, times: Float[np.ndarray, " time"] | None) -> Sample:
    """Return a sample with the times that were predicted; what is known at other times is left out."""
    if surrogate.time_axis is None:
        return sample
    asked = require_times(sample.times if times is None else times, surrogate.time_axis)
    if sample.times is not None and np.array_equal(asked, sample.times):
        return sample
    return replace(sample, times=asked, targets=np.empty((len(asked), sample.num_points, 0)))


def _error(
    surrogate: Surrogate,
    values: Float[np.ndarray, "*time point channel"],
    targets: Float[np.ndarray, "*time point channel"],
) -> float:
    values, targets = as_rows(values), as_rows(targets)
    scale = surrogate.scaling.target_scales
    return float(relative_l2_errors(torch.from_numpy(values), torch.from_numpy(targets), [len(values)], scale))


def _channel_errors(
    surrogate: Surrogate,
    values: Float[np.ndarray, "*time point channel"],
    targets: Float[np.ndarray, "*time point channel"],
) -> tuple[ChannelError, ...]:
    found, truth = (torch.from_numpy(as_rows(array)).T[..., None] for array in (values, targets))
    names = [channel.name for channel in surrogate.targets]
    return channel_errors(names, relative_l2(found, truth).tolist(), variation_error(found, truth).tolist())


def _as_dataset(predictions: Sequence[Predicted], surrogate: Surrogate) -> Dataset:
    samples, names = [], []
    for predicted in predictions:
        columns = named_columns(predicted.sample, surrogate.inputs, surrogate.targets, predicted.values, predicted.band)
        names = list(columns)[len(surrogate.inputs) :]
        samples.append(replace(predicted.sample, targets=np.stack([columns[name] for name in names], axis=-1)))
    units = [channel.unit for channel in surrogate.targets]
    targets = [Channel(name=name, unit=units[place % len(units)]) for place, name in enumerate(names)]
    fitted_to = surrogate.provenance.get("data", {}).get("fingerprint", "unknown")
    provenance = {"source": "prediction", "operator": surrogate.operator.name, "fitted_to": fitted_to}
    return Dataset.from_samples(
        samples, inputs=surrogate.inputs, targets=targets, parameters=surrogate.parameters, provenance=provenance
    )
