"""Draw what a surrogate predicts beside the truth."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gola.data.sample import Channel, Sample
from gola.metrics import relative_l2
from gola.plotting.fields import draw_field
from gola.plotting.style import ERROR_COLOURS, frame, house_style, new_figure

_PANELS = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class Prediction:
    """What was predicted for one sample.

    Attributes:
        label: What to call it in the picture: ``"median"``, or the name of an operator.
        sample: The input function and the truth.
        values: The prediction at the points of the sample, a column for each target channel.
    """

    label: str
    sample: Sample
    values: Float[np.ndarray, "point channel"]


def draw_predictions(
    predictions: Sequence[Prediction],
    inputs: tuple[Channel, ...],
    targets: tuple[Channel, ...],
    *,
    title: str,
) -> Figure:
    """Draw input, truth, prediction and absolute error side by side, a row for each prediction and target channel.

    Truth and prediction share a colour scale. That of the error begins at zero, and is the same in all rows of a
    channel that show the same sample, so that two operators can be compared at a glance.
    """
    rows = [(prediction, column) for prediction in predictions for column in range(len(targets))]
    with house_style():
        figure = new_figure(_PANELS, len(rows), three_dimensional=predictions[0].sample.dim == 3)
        panels = iter(list(figure.axes))
        for prediction, column in rows:
            row = [next(panels) for _ in range(_PANELS)]
            alike = [other for other in predictions if other.sample is prediction.sample]
            worst = max(float(_misses(other, column).max()) for other in alike)
            _draw_row(row, prediction, inputs, targets[column], column, worst)
        figure.suptitle(title)
        return figure


def _draw_row(
    panels: Sequence[Axes],
    prediction: Prediction,
    inputs: tuple[Channel, ...],
    target: Channel,
    column: int,
    worst: float,
) -> None:
    sample = prediction.sample
    truth, predicted = sample.targets[:, column], prediction.values[:, column]
    ends = (float(min(truth.min(), predicted.min())), float(max(truth.max(), predicted.max())))
    shown = _telling_input(sample)
    draw_field(panels[0], sample, sample.inputs[:, shown], label=str(inputs[shown]))
    draw_field(panels[1], sample, truth, limits=ends, label=str(target))
    draw_field(panels[2], sample, predicted, limits=ends, label=str(target))
    misses = _misses(prediction, column)
    draw_field(panels[3], sample, misses, limits=(0.0, worst), colours=ERROR_COLOURS, label=str(target))
    frame(panels[0], f"{prediction.label}: input {inputs[shown].name}")
    frame(panels[1], f"true {target.name}")
    frame(panels[2], f"predicted {target.name}")
    frame(panels[3], f"absolute error ({_relative_error(prediction, column):.1%})")


def _misses(prediction: Prediction, column: int) -> Float[np.ndarray, " point"]:
    return np.abs(prediction.values[:, column] - prediction.sample.targets[:, column])


def _relative_error(prediction: Prediction, column: int) -> float:
    values, targets = prediction.values[:, [column]], prediction.sample.targets[:, [column]]
    return float(relative_l2(torch.from_numpy(values), torch.from_numpy(targets), [len(values)]))


def _telling_input(sample: Sample) -> int:
    """Return the first input that varies over the points; the first one where none does."""
    return int((np.ptp(sample.inputs, axis=0) > 0.0).argmax())
