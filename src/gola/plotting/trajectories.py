"""Draw trajectories: a few of their times side by side, with one scale of colours for all times."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D

from gola.data.sample import Channel, Sample
from gola.plotting.fields import add_scale, draw_field, paint_field
from gola.plotting.predictions import Prediction
from gola.plotting.style import ERROR_COLOURS, FIELD_COLOURS, frame, house_style

# Times that are shown side by side.
_NUM_FRAMES = 5
_PANEL = 2.2


@dataclass(frozen=True, kw_only=True, eq=False)
class Movie:
    """A function of space and time with its scale of colours.

    Attributes:
        title: What it is: ``"truth"``; empty where the channel says enough.
        channel: The channel.
        values: At every time and point.
        limits: Values at the ends of the scale.
        colours: Name of the colour map.
    """

    title: str
    channel: Channel
    values: Float[np.ndarray, "time point"]
    limits: tuple[float, float]
    colours: str = FIELD_COLOURS


def movies_of(sample: Sample, inputs: Sequence[Channel], targets: Sequence[Channel]) -> list[Movie]:
    """Return what there is to see of a trajectory: inputs that change with time, and targets."""
    given = zip(inputs, np.moveaxis(sample.inputs, -1, 0), strict=True) if sample.has_inputs_per_time else ()
    solved = zip(targets, np.moveaxis(sample.targets, -1, 0), strict=True) if sample.targets.size else ()
    return [
        Movie(title="", channel=channel, values=values, limits=_ends(values)) for channel, values in (*given, *solved)
    ]


def predicted_movies(prediction: Prediction, targets: Sequence[Channel]) -> list[list[Movie]]:
    """Return truth, prediction and absolute error of every channel; the first two share their scale."""
    rows = []
    for column, channel in enumerate(targets):
        truth, found = prediction.sample.targets[..., column], prediction.values[..., column]
        errors, limits = prediction.absolute_errors(column), _ends(np.stack([truth, found]))
        error = f"absolute error\n({prediction.relative_error(column):.1%} relative)"
        worst = (0.0, float(errors.max()))
        rows.append(
            [
                Movie(title="truth", channel=channel, values=truth, limits=limits),
                Movie(title="prediction", channel=channel, values=found, limits=limits),
                Movie(title=error, channel=channel, values=errors, limits=worst, colours=ERROR_COLOURS),
            ]
        )
    return rows


def draw_movies(sample: Sample, movies: Sequence[Movie], *, title: str) -> Figure:
    """Draw a row for each movie, with a few times side by side; of points on a line, space and time in one picture.

    Args:
        sample: Gives the points, the mesh where there is one, and the times.
        movies: What to draw.
        title: The heading.
    """
    with house_style():
        return _in_space_and_time(sample, movies, title) if sample.dim == 1 else _frames(sample, movies, title)


def frames_of(times: Float[np.ndarray, " time"], count: int = _NUM_FRAMES) -> Int[np.ndarray, " frame"]:
    """Return the times nearest to equally spaced ones, first and last among them.

    >>> frames_of(np.array([0.0, 0.1, 0.2, 0.5, 1.0]), count=3).tolist()
    [0, 3, 4]
    """
    wanted = np.linspace(times[0], times[-1], min(count, len(times)))
    return np.unique(np.abs(times - wanted[:, None]).argmin(axis=1))


def heading_of(label: str, sample: Sample, parameters: Sequence[Channel]) -> str:
    """Return a heading with the parameters of a sample."""
    numbers = [
        f"{channel.name} = {number:.4g} {channel.unit}".strip()
        for channel, number in zip(parameters, sample.parameters.tolist(), strict=True)
    ]
    return ": ".join(filter(None, [label, ", ".join(numbers)]))


def _frames(sample: Sample, movies: Sequence[Movie], title: str) -> Figure:
    assert sample.times is not None
    chosen = frames_of(sample.times)
    height, width = panel_size(sample)
    figure = Figure(figsize=(width * len(chosen) + 1.2, (height + 0.15) * len(movies) + 0.7), layout="constrained")
    kind = {"projection": "3d"} if sample.dim == 3 else {}
    panels = figure.subplots(len(movies), len(chosen), squeeze=False, subplot_kw=kind)
    for number, (row, movie) in enumerate(zip(panels, movies, strict=True)):
        for panel, time in zip(row, chosen, strict=True):
            paint_field(panel, sample, movie.values[time], limits=movie.limits, colours=movie.colours)
            frame(panel, f"t = {sample.times[time]:.4g}" if number == 0 else "", dim=sample.dim)
            _without_numbers(panel)
        _name_row(row[0], movie.title)
        add_scale(list(row), movie.limits, movie.colours, str(movie.channel))
    figure.suptitle(title, x=0.01, ha="left", fontweight="bold", parse_math=False)
    return figure


def _in_space_and_time(sample: Sample, movies: Sequence[Movie], title: str) -> Figure:
    """Draw movies on a line as one picture each, with the time upwards."""
    assert sample.times is not None
    nothing = np.empty((len(sample.times) * sample.num_points, 0))
    order = np.argsort(sample.points[:, 0])
    places = np.array([(x, time) for time in sample.times for x in sample.points[order, 0]])
    # A raster has square pixels: of a unit square, whatever the units of time and space.
    lower, sides = places.min(axis=0), np.ptp(places, axis=0)
    square = Sample(points=(places - lower) / np.where(sides > 0, sides, 1.0), inputs=nothing, targets=nothing)
    figure = Figure(figsize=(3.6 * len(movies), 3.4), layout="constrained")
    for panel, movie in zip(figure.subplots(1, len(movies), squeeze=False)[0], movies, strict=True):
        values = movie.values[:, order].ravel()
        draw_field(panel, square, values, limits=movie.limits, colours=movie.colours, label=str(movie.channel))
        panel.set(title=movie.title.replace("\n", " ") or movie.channel.name, xlabel="x", ylabel="t")
        for axis, low, side in zip((panel.xaxis, panel.yaxis), lower, sides, strict=True):
            marks = np.linspace(0.0, 1.0, 5)
            axis.set_ticks(marks.tolist(), [f"{low + side * mark:.3g}" for mark in marks])
    figure.suptitle(title, x=0.01, ha="left", fontweight="bold", parse_math=False)
    return figure


def panel_size(sample: Sample) -> tuple[float, float]:
    """Return height and width of a panel, in inches: in the proportions of the domain, within limits."""
    sides = np.ptp(sample.points, axis=0)
    if sample.dim != 2 or not (sides > 0).all():
        return _PANEL, _PANEL
    aspect = float(np.clip(sides[1] / sides[0], 0.3, 2.0))
    return _PANEL * min(1.0, aspect) + 0.1, _PANEL / max(1.0, aspect) + 0.1


def _without_numbers(panel: Axes) -> None:
    """Leave out what would be the same in every panel."""
    panel.set(xlabel="", ylabel="", xticks=[], yticks=[])
    panel.margins(0.02)
    for spine in panel.spines.values():
        spine.set_visible(False)
    if isinstance(panel, Axes3D):
        panel.set(zlabel="", zticks=[])


def _name_row(panel: Axes, title: str) -> None:
    if isinstance(panel, Axes3D):
        panel.text2D(-0.1, 0.5, title, rotation=90, ha="right", va="center", transform=panel.transAxes)
    else:
        panel.set_ylabel(title, parse_math=False)


def _ends(values: Float[np.ndarray, "..."]) -> tuple[float, float]:
    return float(values.min()), float(values.max())
