"""Graded triangle meshes of plane domains with curved boundaries and holes.

Boundary nodes are sampled on the curves and never move. Inner nodes start on triangular lattices whose spacing follows
the wanted element size, and a few smoothing steps let the lattices grow together. SciPy's Delaunay triangulation does
the rest: see ``docs/decisions/0005-meshing.md``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import Delaunay, cKDTree

from gola.geometry.domains import Polygon

SizeFunction = Callable[[Float[np.ndarray, "point 2"]], Float[np.ndarray, " point"]]
"""Maps points to the edge length wanted there."""
Curve = Callable[[Float[np.ndarray, " parameter"]], Float[np.ndarray, "parameter 2"]]
"""Maps parameters in [0, 1] to points, from the start of the curve to its end."""

# Pieces in which the length of a curve is measured before its nodes are placed.
_CURVE_PIECES = 2048
# Ratio of the spacings of neighbouring lattices: small enough that elements between two of them stay well shaped.
_LATTICE_RATIO = 2**0.5
# Smoothing has converged for all practical purposes: further steps change the smallest angle by a degree or less.
_SMOOTHING_STEPS = 5
# Inner nodes closer than this many element sizes to the boundary or to each other would squeeze the elements between.
_CLEARANCE = 0.7
# Triangles flatter than this (area over longest edge squared) are rounding noise along a straight side.
_FLAT = 1e-9


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class TriangleMesh:
    """A conforming triangulation: every boundary segment is an edge of exactly one triangle.

    Attributes:
        points: Nodes, those of the boundary first.
        cells: Corners of the triangles, counter-clockwise.
        loops: Nodes of each closed boundary curve in order: the outline, then the holes.
    """

    points: Float[np.ndarray, "point 2"]
    cells: Int[np.ndarray, "cell 3"]
    loops: tuple[Int[np.ndarray, " _"], ...]

    @cached_property
    def boundary(self) -> Bool[np.ndarray, " point"]:
        """Whether each node lies on the boundary."""
        return np.arange(len(self.points)) < sum(map(len, self.loops))

    @property
    def segments(self) -> Int[np.ndarray, "segment 2"]:
        """Boundary edges, by their nodes."""
        return _segments(self.loops)

    @property
    def areas(self) -> Float[np.ndarray, " cell"]:
        """Area of each triangle, positive."""
        return _signed_areas(self.points[self.cells])

    @property
    def angles(self) -> Float[np.ndarray, "cell 3"]:
        """Angle of each triangle at each of its corners, in degrees."""
        return _angles(self.points[self.cells])


def graded_size(
    fine_at: Float[np.ndarray, "source 2"], *, finest: float, coarsest: float, growth: float
) -> SizeFunction:
    r"""Return the element size that grows away from given points.

    .. math:: h(x) = \min(h_\text{coarsest}, h_\text{finest} + g \min_i |x - x_i|)

    Args:
        fine_at: Points where elements are smallest, usually dense samples of the hole edges.
        finest: Element size at these points.
        coarsest: Element size far from them.
        growth: Increase of the element size per unit of distance; above 0.3 elements become needles.
    """
    if not 0.0 < finest <= coarsest:
        raise ValueError(f"Element sizes need 0 < finest <= coarsest; got finest={finest}, coarsest={coarsest}.")
    if not 0.0 < growth <= 0.3:
        raise ValueError(f"Element sizes need 0 < growth <= 0.3 to change smoothly; got growth={growth}.")
    tree = cKDTree(fine_at)
    # Beyond this reach the size is the coarsest anyway, and the tree answers infinity at once.
    reach = (coarsest - finest) / growth * (1.0 + 1e-9)

    def size(points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, " point"]:
        distance, _ = tree.query(points, distance_upper_bound=reach)
        return np.minimum(coarsest, finest + growth * distance)

    return size


def sample_curve(curve: Curve, size: SizeFunction) -> Float[np.ndarray, "node 2"]:
    """Place nodes on a curve, spaced by the size function, from its start up to but not including its end.

    The nodes divide the integral of ds / h(s) equally. Closed curves and the sides of an outline both join up, because
    each leaves out the last point, where the next one starts.
    """
    parameters = np.linspace(0.0, 1.0, _CURVE_PIECES + 1)
    points = curve(parameters)
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    midpoints = 0.5 * (points[1:] + points[:-1])
    edges_before = np.concatenate([[0.0], np.cumsum(lengths / size(midpoints))])
    num_nodes = max(3, int(np.ceil(edges_before[-1])))
    wanted = np.arange(num_nodes) * (edges_before[-1] / num_nodes)
    return curve(np.interp(wanted, edges_before, parameters))


def sample_outline(corners: Float[np.ndarray, "corner 2"], size: SizeFunction) -> Float[np.ndarray, "node 2"]:
    """Place nodes on the straight sides between corners, the corners included."""

    def side(
        start: Float[np.ndarray, " 2"], end: Float[np.ndarray, " 2"]
    ) -> Callable[[Float[np.ndarray, " parameter"]], Float[np.ndarray, "parameter 2"]]:
        return lambda parameters: start + parameters[:, None] * (end - start)

    sides = zip(corners, np.roll(corners, -1, axis=0), strict=True)
    return np.concatenate([sample_curve(side(start, end), size) for start, end in sides])


def triangulate(polygon: Polygon, size: SizeFunction) -> TriangleMesh:
    """Fill a polygon with triangles of the wanted sizes.

    The corners of the polygon become the boundary nodes as they are: sample them with :func:`sample_curve` and
    :func:`sample_outline` and the same size function.

    Raises:
        ValueError: If boundary curves are closer together than their nodes allow.
    """
    front = _Boundary.of(polygon)
    inner = _thinned(front, _lattice_nodes(front, size), size)
    for _ in range(_SMOOTHING_STEPS):
        inner = _smoothed(front, inner, size)
    return _conforming(front, inner)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class _Boundary:
    """The fixed nodes of a mesh under construction."""

    polygon: Polygon
    points: Float[np.ndarray, "node 2"]
    loops: tuple[Int[np.ndarray, " _"], ...]

    @classmethod
    def of(cls, polygon: Polygon) -> "_Boundary":
        curves = (polygon.exterior, *polygon.holes)
        starts = np.cumsum([0, *map(len, curves)])
        loops = tuple(np.arange(start, start + len(curve)) for start, curve in zip(starts, curves, strict=False))
        return cls(polygon=polygon, points=np.concatenate(curves), loops=loops)


def _lattice_nodes(front: _Boundary, size: SizeFunction) -> Float[np.ndarray, "inner 2"]:
    """Fill the polygon with lattices, each where its spacing fits the wanted size."""
    spacing = float(size(front.points).min())
    nodes = [np.empty((0, 2))]
    while True:
        lattice = _triangular_lattice(front.polygon.lower, front.polygon.upper, spacing)
        sizes = size(lattice)
        if (sizes < spacing).all():
            break
        nodes.append(lattice[(sizes >= spacing) & (sizes < spacing * _LATTICE_RATIO)])
        spacing *= _LATTICE_RATIO
    inner = np.concatenate(nodes)
    distance, _ = cKDTree(front.points).query(inner)
    inner = inner[distance > _CLEARANCE * size(inner)]
    return inner[front.polygon.contains(inner)]


def _triangular_lattice(
    lower: Float[np.ndarray, " 2"], upper: Float[np.ndarray, " 2"], spacing: float
) -> Float[np.ndarray, "node 2"]:
    """Cover a box with equilateral triangles and return their corners."""
    steps = np.array([spacing, spacing * 0.75**0.5])
    columns, rows = (np.arange(count) for count in np.ceil((upper - lower) / steps).astype(int) + 1)
    shifted = columns[None, :] + 0.5 * (rows % 2)[:, None]
    lattice = np.stack([shifted, np.broadcast_to(rows[:, None], shifted.shape)], axis=-1)
    return lower + lattice.reshape(-1, 2) * steps


def _thinned(front: _Boundary, inner: Float[np.ndarray, "inner 2"], size: SizeFunction) -> Float[np.ndarray, "kept 2"]:
    """Drop one of any two nodes that crowd each other where lattices meet."""
    points = np.concatenate([front.points, inner])
    edges = _edges(_cells(front, points))
    ends = points[edges]
    crowded = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1) < _CLEARANCE * size(ends.mean(axis=1))
    keep = np.ones(len(points), dtype=bool)
    # One at a time: whether the second of a pair must go depends on whether the first one stayed.
    for first, second in edges[crowded]:
        if keep[first] and second >= len(front.points):
            keep[second] = False
    return inner[keep[len(front.points) :]]


def _smoothed(
    front: _Boundary, inner: Float[np.ndarray, "inner 2"], size: SizeFunction
) -> Float[np.ndarray, "inner 2"]:
    """Move each inner node to the mean centroid of the triangles around it.

    A triangle counts by its area in units of the wanted element size squared, so that small elements pull as strongly
    as large ones do.
    """
    points = np.concatenate([front.points, inner])
    cells = _cells(front, points)
    corners = points[cells]
    centroids = corners.mean(axis=1)
    weights = _signed_areas(corners) / size(centroids) ** 2

    def gather(values: Float[np.ndarray, " cell"]) -> Float[np.ndarray, " inner"]:
        totals: Float[np.ndarray, " point"] = np.bincount(cells.ravel(), np.repeat(values, 3), len(points))
        return totals[len(front.points) :]

    moments = np.stack([gather(weights * centroids[:, axis]) for axis in range(2)], axis=1)
    return moments / gather(weights)[:, None]


def _conforming(front: _Boundary, inner: Float[np.ndarray, "inner 2"]) -> TriangleMesh:
    """Triangulate, dropping inner nodes that keep a boundary segment from being an edge."""
    segments = _segments(front.loops)
    # While segments were missing, smoothing may have carried a node across the boundary.
    inner = inner[front.polygon.contains(inner)]
    while True:
        points = np.concatenate([front.points, inner])
        cells = _cells(front, points)
        missing = segments[~_contains_rows(_edges(cells), np.sort(segments, axis=1))]
        if len(missing) == 0:
            return TriangleMesh(points=points, cells=cells, loops=front.loops)
        encroaching = _in_diametral_circles(inner, front.points[missing])
        if not encroaching.any():
            raise ValueError(
                f"{len(missing)} boundary segments cannot be mesh edges because other boundary nodes are too near,"
                f" for instance the one at {front.points[missing[0, 0]].tolist()}. Use a smaller element size there,"
                " or leave a wider gap between the curves."
            )
        inner = inner[~encroaching]


def _in_diametral_circles(
    points: Float[np.ndarray, "point 2"], ends: Float[np.ndarray, "segment 2 2"]
) -> Bool[np.ndarray, " point"]:
    """Whether a point lies in the circle over a segment: an empty circle makes the segment a Delaunay edge."""
    radii = 0.5 * np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    distances = np.linalg.norm(points[:, None] - ends.mean(axis=1), axis=2)
    encroaching: Bool[np.ndarray, " point"] = (distances <= radii * (1.0 + 1e-9)).any(axis=1)
    return encroaching


def _cells(front: _Boundary, points: Float[np.ndarray, "point 2"]) -> Int[np.ndarray, "cell 3"]:
    """Return the Delaunay triangles inside the polygon, counter-clockwise."""
    cells = Delaunay(points).simplices.astype(np.int64)
    corners = points[cells]
    areas = _signed_areas(corners)
    cells = np.where(areas[:, None] < 0.0, cells[:, ::-1], cells)
    inside = np.abs(areas) > _FLAT * np.square(np.ptp(corners, axis=1)).sum(axis=1)
    # Only triangles between boundary nodes can lie outside, since the boundary separates inner nodes from it.
    doubtful = inside & (cells < len(front.points)).all(axis=1)
    inside[doubtful] = front.polygon.contains(corners[doubtful].mean(axis=1))
    return cells[inside]


def _segments(loops: tuple[Int[np.ndarray, " _"], ...]) -> Int[np.ndarray, "segment 2"]:
    return np.concatenate([np.stack([loop, np.roll(loop, -1)], axis=1) for loop in loops])


def _edges(cells: Int[np.ndarray, "cell 3"]) -> Int[np.ndarray, "edge 2"]:
    """Return every edge once, its smaller node first, in lexicographic order."""
    halves = np.sort(cells[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    codes = np.unique(halves[:, 0] * (cells.max() + 1) + halves[:, 1])
    return np.stack(np.divmod(codes, cells.max() + 1), axis=1)


def _contains_rows(table: Int[np.ndarray, "row 2"], rows: Int[np.ndarray, "wanted 2"]) -> Bool[np.ndarray, " wanted"]:
    base = max(table.max(), rows.max()) + 1
    return np.isin(rows @ [base, 1], table @ [base, 1])


def _signed_areas(corners: Float[np.ndarray, "cell 3 2"]) -> Float[np.ndarray, " cell"]:
    (ax, ay), (bx, by) = (corners[:, 1] - corners[:, 0]).T, (corners[:, 2] - corners[:, 0]).T
    return 0.5 * (ax * by - ay * bx)


def _angles(corners: Float[np.ndarray, "cell 3 2"]) -> Float[np.ndarray, "cell 3"]:
    ahead = np.roll(corners, -1, axis=1) - corners
    behind = np.roll(corners, -2, axis=1) - corners
    cross = ahead[..., 0] * behind[..., 1] - ahead[..., 1] * behind[..., 0]
    return np.degrees(np.arctan2(cross, (ahead * behind).sum(axis=2)))
