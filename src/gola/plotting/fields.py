"""Draw functions on scattered points, with holes kept open."""

from itertools import combinations

import numpy as np
from jaxtyping import Bool, Float, Int
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter
from matplotlib.tri import Triangulation
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from scipy.spatial import Delaunay, KDTree, QhullError

from gola.data.sample import Channel, Sample
from gola.plotting.style import FIELD_COLOURS, frame, house_style, new_figure

# Without a mesh, a triangle with an edge this many times longer than the mean distance of its corners to this many
# nearest points bridges a hole. Of 90 clouds of 300 to 4000 random points without holes, 2 got a false one at 4.5 and
# 33 at 3.5; the holes of `plate_elasticity` and `perforated_darcy`, thinned to 1000 points, stay open up to 4.5.
_BRIDGE = 4.5
_NUM_NEAREST = 6
_PANELS_IN_A_ROW = 4


def draw_sample(sample: Sample, inputs: tuple[Channel, ...], targets: tuple[Channel, ...], *, title: str) -> Figure:
    """Draw every channel of a sample on its own points: in one row if they are few, else inputs above targets."""
    rows = [
        [(channel, sample.inputs[:, column]) for column, channel in enumerate(inputs)],
        [(channel, sample.targets[:, column]) for column, channel in enumerate(targets)],
    ]
    if len(inputs) + len(targets) <= _PANELS_IN_A_ROW or not targets:
        rows = [rows[0] + rows[1]]
    with house_style():
        num_columns = max(map(len, rows))
        figure = new_figure(num_columns, len(rows), three_dimensional=sample.dim == 3)
        panels = iter(list(figure.axes))
        for row in rows:
            for channel, values in row:
                panel = next(panels)
                draw_field(panel, sample, values, label=channel.unit)
                frame(panel, str(channel), dim=sample.dim)
            for _ in range(num_columns - len(row)):
                next(panels).remove()
        figure.suptitle(title)
        return figure


def draw_field(
    axes: Axes,
    sample: Sample,
    values: Float[np.ndarray, " point"],
    *,
    limits: tuple[float, float] | None = None,
    colours: str = FIELD_COLOURS,
    label: str = "",
) -> None:
    """Draw values at the points of a sample as a surface of triangles, with a colour bar; on a line, as a curve.

    Args:
        axes: The panel; a 3D one for points in space, whose outer surface is then drawn.
        sample: Gives the points, and the mesh where there is one.
        values: One number per point.
        limits: Values at the ends of the scale; their own range by default.
        colours: Name of the colour map.
        label: What the numbers along the scale are.
    """
    limits = limits or (float(values.min()), float(values.max()))
    if sample.dim == 1:
        _draw_curve(axes, sample, values, limits, label)
        return
    scale = Normalize(*limits)
    if sample.dim == 3:
        _draw_surface(axes, sample, values, scale, colours)
    else:
        _draw_triangles(axes, sample, values, scale, colours)
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.colorbar(ScalarMappable(norm=scale, cmap=colours), ax=axes, shrink=0.8, label=label, format=_numbers())


def _numbers() -> ScalarFormatter:
    """Write 0.0012 as 1.2 with the factor 10⁻³ above the scale, where it is read once."""
    numbers = ScalarFormatter(useMathText=True)
    numbers.set_powerlimits((-2, 4))
    return numbers


def _draw_curve(
    axes: Axes, sample: Sample, values: Float[np.ndarray, " point"], limits: tuple[float, float], label: str
) -> None:
    order = np.argsort(sample.points[:, 0])
    axes.plot(sample.points[order, 0], values[order], color="0.2", marker=".", markersize=3)
    room = 0.05 * (limits[1] - limits[0]) or 1.0
    axes.set_ylim(limits[0] - room, limits[1] + room)
    axes.set_ylabel(label)


def _draw_triangles(
    axes: Axes, sample: Sample, values: Float[np.ndarray, " point"], scale: Normalize, colours: str
) -> None:
    points = sample.points
    triangles = sample.cells if sample.cells is not None else triangulate(points)
    if len(triangles) == 0:
        axes.scatter(points[:, 0], points[:, 1], c=values, norm=scale, cmap=colours)
        return
    surface = Triangulation(points[:, 0], points[:, 1], triangles)
    # A smooth surface of so many small triangles would make a vector picture of many megabytes.
    axes.tripcolor(surface, values, shading="gouraud", norm=scale, cmap=colours, rasterized=True)


def triangulate(points: Float[np.ndarray, "point 2"]) -> Int[np.ndarray, "triangle 3"]:
    """Connect points to triangles, leaving out those that bridge a hole or a concave part of the outline."""
    try:
        triangles = Delaunay(points).simplices
    except (QhullError, ValueError):  # fewer than three points, or all on one line
        return np.empty((0, 3), dtype=np.int64)
    return triangles[~_bridging(points, triangles)]


def _bridging(
    points: Float[np.ndarray, "point 2"], triangles: Int[np.ndarray, "triangle 3"]
) -> Bool[np.ndarray, " triangle"]:
    """Flag triangles that are much larger than the distance of their corners to their nearest points."""
    edges = np.stack([points[triangles[:, a]] - points[triangles[:, b]] for a, b in combinations(range(3), 2)])
    longest = np.linalg.norm(edges, axis=2).max(axis=0)
    num_nearest = min(_NUM_NEAREST, len(points) - 1)
    distances, _ = KDTree(points).query(points, k=list(range(2, num_nearest + 2)))  # the nearest is the point itself
    usual = np.asarray(distances).mean(axis=1)
    return longest > _BRIDGE * usual[triangles].mean(axis=1)


def _draw_surface(
    axes: Axes, sample: Sample, values: Float[np.ndarray, " point"], scale: Normalize, colours: str
) -> None:
    assert isinstance(axes, Axes3D)
    x, y, z = sample.points.T
    if sample.cells is None:
        # Shading by depth would change the colours, which are the numbers.
        axes.scatter(x, y, z, c=values, s=6, norm=scale, cmap=colours, depthshade=False)
    else:
        faces = outer_faces(sample.cells)
        shades = ScalarMappable(norm=scale, cmap=colours).to_rgba(values[faces].mean(axis=1))
        axes.add_collection3d(
            Poly3DCollection(list(sample.points[faces]), facecolors=shades, edgecolors=shades, linewidths=0.2)
        )
        axes.auto_scale_xyz(x, y, z)


def outer_faces(cells: Int[np.ndarray, "cell 4"]) -> Int[np.ndarray, "face 3"]:
    """Return the triangles that belong to one tetrahedron only: the surface of the body."""
    faces = np.concatenate([cells[:, list(corners)] for corners in combinations(range(4), 3)])
    _, first, counts = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return faces[first[counts == 1]]
