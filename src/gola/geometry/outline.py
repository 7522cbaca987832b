"""The shape that scattered points of the plane fill: its outer boundary, its holes, and triangles between them."""

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import Delaunay, QhullError, cKDTree

# A triangle is empty if its circumcircle is so many times as large as the distances between points around it.
_EMPTY = 2.5
# Points count as neighbours up to this one.
_NEIGHBOUR = 3
# Empty triangles that are connected are a hole or a bay if so many points would have found room there.
_LEAST_ROOM = 30.0


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Outline:
    """The shape of a point set.

    Attributes:
        points: The points.
        cells: Triangles between them, counter-clockwise.
        loops: Points of each boundary curve in order, counter-clockwise: the outer one, then the holes.
    """

    points: Float[np.ndarray, "point 2"]
    cells: Int[np.ndarray, "cell 3"]
    loops: tuple[Int[np.ndarray, " _"], ...]

    @property
    def num_holes(self) -> int:
        """Number of holes."""
        return len(self.loops) - 1

    @property
    def curves(self) -> tuple[Float[np.ndarray, "_ 2"], ...]:
        """The corners of each boundary curve."""
        return tuple(self.points[loop] for loop in self.loops)


def outline(points: Float[np.ndarray, "point 2"]) -> Outline | None:
    """Find the shape that points fill, or nothing where they lie on a line or their boundary touches itself.

    Of the Delaunay triangulation those triangles are left out that are large for the distances of points around them,
    and connected to others such that many more points would have found room there (a locally scaled alpha shape).
    Meshes may be fine in one place and coarse in another, but not finer along one axis than along the other.
    """
    try:
        mesh = Delaunay(points)
    except (QhullError, ValueError):
        return None
    distances, _ = cKDTree(points).query(points, k=[min(_NEIGHBOUR + 1, len(points))])
    spacing = np.asarray(distances)[:, 0]
    cells = _counter_clockwise(points, mesh.simplices)
    voids = _voids(points, cells, mesh.neighbors, spacing)
    at_hull = np.any(mesh.neighbors < 0, axis=1, keepdims=True)[:, 0]
    holes = [void for void in voids if not at_hull[void].any()]
    inside = np.ones(len(cells), dtype=bool)
    for void in voids:
        inside[void] = False
    filled = inside.copy()
    for void in holes:
        filled[void] = True
    outer = _loops(cells[filled])
    inner = [_loops(cells[void]) for void in holes]
    if len(outer) != 1 or any(len(loops) != 1 for loops in inner):
        return None
    return Outline(points=points, cells=cells[inside], loops=(outer[0], *(loops[0] for loops in inner)))


def _voids(
    points: Float[np.ndarray, "point 2"],
    cells: Int[np.ndarray, "cell 3"],
    neighbours: Int[np.ndarray, "cell 3"],
    spacing: Float[np.ndarray, " point"],
) -> list[Int[np.ndarray, " _"]]:
    """Return the cells of each hole and bay."""
    corners, around = points[cells], spacing[cells].mean(axis=1)
    areas = signed_areas(corners)
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        is_empty = sides.prod(axis=1) / (4.0 * areas) > _EMPTY * around
        rooms = areas / around**2
    labels = _components(is_empty, neighbours)
    found = [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]
    return [void for void in found if rooms[void].sum() > _LEAST_ROOM]


def _components(chosen: Bool[np.ndarray, " cell"], neighbours: Int[np.ndarray, "cell 3"]) -> Int[np.ndarray, " cell"]:
    """Number the connected parts of some cells; −1 for the others."""
    rows, sides = np.nonzero((neighbours >= 0) & chosen[:, None] & chosen[neighbours])
    links = coo_matrix((np.ones(len(rows)), (rows, neighbours[rows, sides])), shape=(len(chosen),) * 2)
    _, labels = connected_components(links, directed=False)
    _, numbers = np.unique(labels[chosen], return_inverse=True)
    found = np.full(len(chosen), -1)
    found[chosen] = numbers
    return found


def _loops(cells: Int[np.ndarray, "cell 3"]) -> list[Int[np.ndarray, " _"]]:
    """Return the boundary curves of counter-clockwise triangles; none where one touches itself."""
    edges = np.concatenate([cells[:, [0, 1]], cells[:, [1, 2]], cells[:, [2, 0]]])
    known = set(map(tuple, edges.tolist()))
    border = [(start, end) for start, end in edges.tolist() if (end, start) not in known]
    following = dict(border)
    if len(following) < len(border):
        return []
    loops = []
    while following:
        start, end = following.popitem()
        loop = [start]
        while end != start:
            loop.append(end)
            end = following.pop(end)
        loops.append(np.array(loop))
    return loops


def _counter_clockwise(
    points: Float[np.ndarray, "point 2"], cells: Int[np.ndarray, "cell 3"]
) -> Int[np.ndarray, "cell 3"]:
    turned = signed_areas(points[cells]) < 0.0
    return np.where(turned[:, None], cells[:, ::-1], cells).astype(np.int64)


def signed_areas(corners: Float[np.ndarray, "cell 3 2"]) -> Float[np.ndarray, " cell"]:
    """Return the areas of triangles, negative for clockwise ones."""
    (ax, ay), (bx, by) = (corners[:, 1] - corners[:, 0]).T, (corners[:, 2] - corners[:, 0]).T
    return 0.5 * (ax * by - ay * bx)
