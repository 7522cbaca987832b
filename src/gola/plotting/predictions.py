"""Draw predictions beside the truth."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gola.data.sample import Channel, Sample, as_rows
from gola.metrics import relative_l2
from gola.plotting.fields import draw_field
from gola.plotting.parameters import ParameterSpace, draw_parameters, flat
from gola.plotting.style import ERROR_COLOURS, frame, house_style, new_rows

# Truth, prediction and error.
_NUM_PANELS = 3


@dataclass(frozen=True, kw_only=True, eq=False)
class Prediction:
    """The prediction for one sample.

    Attributes:
        label: The heading above it: ``"median test sample"``, or the name of an operator.
        sample: The input function and the truth.
        values: The prediction at the points of the sample, a column for each target channel; of a trajectory, one such
            table for each time.
    """

    label: str
    sample: Sample
    values: Float[np.ndarray, "*time point channel"]

    def absolute_errors(self, column: int) -> Float[np.ndarray, "*time point"]:
        """Return the absolute error of a channel at every point."""
        return np.abs(self.values[..., column] - self.sample.targets[..., column])

    def relative_error(self, column: int) -> float:
        """Return the relative L2 error of a channel."""
        values, targets = (as_rows(values)[:, [column]] for values in (self.values, self.sample.targets))
        return float(relative_l2(torch.from_numpy(values), torch.from_numpy(targets)))


def draw_predictions(
    predictions: Sequence[Prediction],
    inputs: tuple[Channel, ...],
    targets: tuple[Channel, ...],
    parameters: ParameterSpace | None = None,
) -> Figure:
    """Draw inputs, truth, prediction and absolute error side by side, a row for each prediction and target channel.

    All inputs that vary over the points are drawn, shared out among the rows of a prediction, after its parameters
    among those of other samples; inputs that do not vary are numbers in its heading. Truth and prediction share a
    colour scale. That of the error begins at zero and is the same for all predictions of one sample, so that operators
    can be compared at a glance.
    """
    rows = [(prediction, column) for prediction in predictions for column in range(len(targets))]
    headings = [_heading(prediction, inputs) if column == 0 else "" for prediction, column in rows]
    given = [_given(prediction.sample, parameters) for prediction in predictions]
    num_inputs = max(math.ceil(len(panels) / len(targets)) for panels in given)
    with house_style():
        figure, panels = new_rows(headings, num_inputs + _NUM_PANELS, three_dimensional=predictions[0].sample.dim == 3)
        for row, (prediction, column) in zip(panels, rows, strict=True):
            alike = [other for other in predictions if other.sample is prediction.sample]
            worst = max(float(other.absolute_errors(column).max()) for other in alike)
            shown = _given(prediction.sample, parameters)[column * num_inputs : (column + 1) * num_inputs]
            for panel, number in zip(row, shown, strict=False):
                if number is None:
                    assert parameters is not None
                    draw_parameters(flat(panel), parameters, prediction.sample.parameters)
                else:
                    _draw_input(panel, prediction.sample, inputs[number], number)
            for panel in row[len(shown) : num_inputs]:
                panel.remove()
            _draw_target(row[num_inputs:], prediction, targets[column], column, worst)
        return figure


def _draw_input(panel: Axes, sample: Sample, channel: Channel, column: int) -> None:
    draw_field(panel, sample, sample.inputs[:, column], label=str(channel))
    frame(panel, f"input: {channel.name}", dim=sample.dim)


def _draw_target(panels: Sequence[Axes], prediction: Prediction, channel: Channel, column: int, worst: float) -> None:
    sample = prediction.sample
    truth, predicted = sample.targets[:, column], prediction.values[:, column]
    ends = (float(min(truth.min(), predicted.min())), float(max(truth.max(), predicted.max())))
    for panel, values, title in zip(panels[:2], (truth, predicted), ("truth", "prediction"), strict=True):
        draw_field(panel, sample, values, limits=ends, label=str(channel))
        frame(panel, f"{title}: {channel.name}", dim=sample.dim)
    absolute_errors = prediction.absolute_errors(column)
    draw_field(panels[2], sample, absolute_errors, limits=(0.0, worst), colours=ERROR_COLOURS, label=str(channel))
    frame(panels[2], f"absolute error; relative {prediction.relative_error(column):.1%}", dim=sample.dim)


def _given(sample: Sample, parameters: ParameterSpace | None) -> list[int | None]:
    """Return what a sample was given that takes a panel: its parameters (None), and inputs by number."""
    return [*([None] if parameters else []), *_varying(sample)]


def _varying(sample: Sample) -> list[int]:
    """Return the inputs that vary over the points."""
    return np.flatnonzero(np.ptp(sample.inputs, axis=0) > 0.0).tolist()


def _heading(prediction: Prediction, inputs: Sequence[Channel]) -> str:
    """Return the label, and the value of every input that is the same at all points."""
    sample = prediction.sample
    numbers = [
        f"{channel.name} = {sample.inputs[0, column]:.4g} {channel.unit}".strip()
        for column, channel in enumerate(inputs)
        if column not in _varying(sample)
    ]
    return ": ".join(filter(None, [prediction.label, ", ".join(numbers)]))
