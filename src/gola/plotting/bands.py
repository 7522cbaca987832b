"""Draw a prediction with its band: where it is wide, where the error is large, and both along a line."""

import warnings

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gola.data.sample import Channel, Sample
from gola.geometry.interpolation import interpolation_weights
from gola.plotting.fields import draw_field
from gola.plotting.parameters import flat
from gola.plotting.style import ERROR_COLOURS, frame, house_style, new_rows
from gola.surrogate.surrogate import Surrogate
from gola.surrogate.uncertainty.prediction import Prediction

LEVEL = 0.9
"""The level of bands that are drawn."""
_NUM_PLACES = 120


def has_bands(surrogate: Surrogate) -> bool:
    """Whether bands of the level that is drawn can be drawn for a surrogate, which predicts no trajectories."""
    calibration = surrogate.calibration
    enough = calibration is not None and calibration.num_samples >= LEVEL / (1.0 - LEVEL) - 1e-9
    return enough and not surrogate.has_time


def draw_bands(surrogate: Surrogate, sample: Sample, *, label: str) -> Figure:
    """Draw error and half-width over the domain, and truth and band along its middle, a row for each target channel.

    Args:
        surrogate: One that has bands.
        sample: With its solution.
        label: What it is.
    """
    line = middle_line(sample.points)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # places along the line may lie in a hole, where nothing is drawn
        found = surrogate.predict_sample(sample, interval=LEVEL)
        along = surrogate.predict_sample(sample, at=line, interval=LEVEL)
    estimated = f"estimated error {found.error}, unusual {found.unusual:.2f}"
    headings = [f"{label}: {estimated}", *[""] * (len(surrogate.targets) - 1)]
    with house_style():
        figure, rows = new_rows(headings, 3, three_dimensional=sample.dim == 3)
        for column, (row, channel) in enumerate(zip(rows, surrogate.targets, strict=True)):
            _draw_maps(row, sample, found, channel, column)
            _draw_line(flat(row[2]), sample, line, along, channel, column)
        return figure


def middle_line(points: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, "place dim"]:
    """Return places along the longest side of the box around points, through its middle."""
    lower, upper = points.min(axis=0), points.max(axis=0)
    line = np.tile((lower + upper) / 2, (_NUM_PLACES, 1))
    axis = int(np.argmax(upper - lower))
    line[:, axis] = np.linspace(lower[axis], upper[axis], _NUM_PLACES)
    return line


def _draw_maps(row: list[Axes], sample: Sample, found: Prediction, channel: Channel, column: int) -> None:
    error = np.abs(found.mean - sample.targets)[:, column]
    half = ((found.upper - found.lower) / 2)[:, column]
    limits = (0.0, float(max(error.max(), half.max())))
    for panel, values, title in ((row[0], error, "absolute error"), (row[1], half, "half-width of the band")):
        draw_field(panel, sample, values, limits=limits, colours=ERROR_COLOURS, label=str(channel))
        frame(panel, f"{title}: {channel.name}", dim=sample.dim)


def _draw_line(
    axes: Axes,
    sample: Sample,
    line: Float[np.ndarray, "place dim"],
    along: Prediction,
    channel: Channel,
    column: int,
) -> None:
    rows, weights = interpolation_weights(sample.points, line)
    truth = (weights * sample.targets[rows, column]).sum(axis=1)
    axis = int(np.argmax(np.ptp(line, axis=0)))
    where = line[:, axis]
    band = f"band, {100 * LEVEL:.0f} % {along.kind}"
    axes.fill_between(
        where, along.lower[:, column], along.upper[:, column], color="C0", alpha=0.25, linewidth=0, label=band
    )
    axes.plot(where, along.mean[:, column], color="C0", label="prediction")
    axes.plot(where, truth, color="0.1", linestyle="--", linewidth=1.0, label="truth, interpolated")
    axes.set(xlabel="xyz"[axis], ylabel=str(channel), title="through the middle of the domain")
    axes.legend(frameon=False, fontsize=7)
