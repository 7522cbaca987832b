"""Draw functions on meshes and scattered points, with holes kept open."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter
from matplotlib.tri import Triangulation
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from gola.data.sample import Channel, Sample
from gola.plotting.cuts import middle_cuts
from gola.plotting.parameters import ParameterSpace, draw_parameters, flat
from gola.plotting.raster import fill, raster
from gola.plotting.style import FIELD_COLOURS, frame, house_style, new_figure

# Without a mesh, fewer points are drawn one by one.
_FEWEST_POINTS = 8
# Along the longer side of a panel.
_NUM_PIXELS = 192
_PANELS_IN_A_ROW = 4


def draw_sample(
    sample: Sample,
    inputs: tuple[Channel, ...],
    targets: tuple[Channel, ...],
    *,
    title: str,
    parameters: ParameterSpace | None = None,
) -> Figure:
    """Draw every channel of a sample on its own points: in one row if they are few, else inputs above targets.

    Args:
        sample: The sample.
        inputs: Channels of its inputs.
        targets: Channels of its targets.
        title: The heading.
        parameters: Those of all samples, among which its own are drawn in a panel before the inputs.
    """
    shown = [partial(_draw_channel, sample, channel, sample.inputs[:, column]) for column, channel in enumerate(inputs)]
    if parameters:
        shown = [partial(_draw_own_parameters, parameters, sample), *shown]
    solved = [
        partial(_draw_channel, sample, channel, sample.targets[:, column]) for column, channel in enumerate(targets)
    ]
    rows = [shown + solved] if len(shown + solved) <= _PANELS_IN_A_ROW or not solved or not shown else [shown, solved]
    with house_style():
        num_columns = max(map(len, rows))
        figure = new_figure(num_columns, len(rows), three_dimensional=sample.dim == 3)
        panels = iter(list(figure.axes))
        for row in rows:
            for draw in row:
                draw(next(panels))
            for _ in range(num_columns - len(row)):
                next(panels).remove()
        figure.suptitle(title)
        return figure


def _draw_channel(sample: Sample, channel: Channel, values: Float[np.ndarray, " point"], panel: Axes) -> None:
    draw_field(panel, sample, values, label=channel.unit)
    frame(panel, str(channel), dim=sample.dim)


def _draw_own_parameters(parameters: ParameterSpace, sample: Sample, panel: Axes) -> None:
    draw_parameters(flat(panel), parameters, sample.parameters)


def draw_field(
    axes: Axes,
    sample: Sample,
    values: Float[np.ndarray, " point"],
    *,
    limits: tuple[float, float] | None = None,
    colours: str = FIELD_COLOURS,
    label: str = "",
) -> None:
    """Draw values at the points of a sample all over its domain, with a colour bar; on a line, as a curve.

    Args:
        axes: The panel; a 3D one for points in space, of which three cuts through the middle are then drawn.
        sample: Gives the points, and the mesh where there is one.
        values: One number per point.
        limits: Values at the ends of the scale; their own range by default.
        colours: Name of the colour map.
        label: What the numbers along the scale are.
    """
    limits = limits or (float(values.min()), float(values.max()))
    paint_field(axes, sample, values, limits=limits, colours=colours)
    if sample.dim == 1:
        axes.set_ylabel(label)
    else:
        add_scale([axes], limits, colours, label)


def paint_field(
    axes: Axes,
    sample: Sample,
    values: Float[np.ndarray, " point"],
    *,
    limits: tuple[float, float],
    colours: str = FIELD_COLOURS,
) -> None:
    """Draw values like :func:`draw_field`, without a colour bar."""
    scale = Normalize(*limits)
    if sample.dim == 1:
        _draw_curve(axes, sample, values, limits)
    elif sample.dim == 3:
        _draw_cuts(axes, sample, values, scale, colours)
    else:
        _draw_plane(axes, sample, values, scale, colours)


def add_scale(panels: Sequence[Axes], limits: tuple[float, float], colours: str, label: str) -> None:
    """Add a colour bar beside panels that share it."""
    figure = panels[0].get_figure(root=True)
    assert figure is not None
    shades = ScalarMappable(norm=Normalize(*limits), cmap=colours)
    figure.colorbar(shades, ax=list(panels), shrink=0.8, label=label, format=_numbers())


def _numbers() -> ScalarFormatter:
    """Write 0.0012 as 1.2 with the factor 10⁻³ above the scale, where it is read once."""
    numbers = ScalarFormatter(useMathText=True)
    numbers.set_powerlimits((-2, 4))
    return numbers


def _draw_curve(axes: Axes, sample: Sample, values: Float[np.ndarray, " point"], limits: tuple[float, float]) -> None:
    order = np.argsort(sample.points[:, 0])
    axes.plot(sample.points[order, 0], values[order], color="0.2", marker=".", markersize=3)
    room = 0.05 * (limits[1] - limits[0]) or 1.0
    axes.set_ylim(limits[0] - room, limits[1] + room)


def _draw_plane(
    axes: Axes, sample: Sample, values: Float[np.ndarray, " point"], scale: Normalize, colours: str
) -> None:
    x, y = sample.points.T
    if sample.cells is not None:
        surface = Triangulation(x, y, sample.cells)
        # A smooth surface of so many small triangles would make a vector picture of many megabytes.
        axes.tripcolor(surface, values, shading="gouraud", norm=scale, cmap=colours, rasterized=True)
        return
    lower, upper = sample.points.min(axis=0), sample.points.max(axis=0)
    if sample.num_points < _FEWEST_POINTS or not (upper > lower).all():
        axes.scatter(x, y, c=values, norm=scale, cmap=colours)
        return
    filled = np.ma.masked_invalid(fill(sample.points, values, raster(lower, upper, _NUM_PIXELS)))
    ends = (lower[0], upper[0], lower[1], upper[1])
    axes.imshow(filled, extent=ends, origin="lower", interpolation="nearest", norm=scale, cmap=colours)


def _draw_cuts(axes: Axes, sample: Sample, values: Float[np.ndarray, " point"], scale: Normalize, colours: str) -> None:
    assert isinstance(axes, Axes3D)
    x, y, z = sample.points.T
    cuts = middle_cuts(sample, values) if sample.num_points >= _FEWEST_POINTS else []
    if cuts:
        shades = ScalarMappable(norm=scale, cmap=colours).to_rgba(np.array([value for _, value in cuts]))
        corners = [polygon for polygon, _ in cuts]
        axes.add_collection3d(Poly3DCollection(corners, facecolors=shades, edgecolors=shades, linewidths=0.2))
        axes.auto_scale_xyz(x, y, z)
    else:
        # Shading by depth would change the colours, which are the numbers.
        axes.scatter(x, y, z, c=values, s=6, norm=scale, cmap=colours, depthshade=False)
