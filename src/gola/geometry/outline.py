"""The shape that scattered points of the plane fill: its outer boundary, its holes, and triangles between them."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import Delaunay, QhullError

from gola.geometry.curves import fractions, matched
from gola.geometry.shape import Shape
from gola.geometry.voids import signed_volumes, voids


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Outline(Shape):
    """The shape of a point set of the plane; its triangles are counter-clockwise.

    Attributes:
        loops: Points of each boundary curve in order, counter-clockwise: the outer one, then the holes.
    """

    loops: tuple[Int[np.ndarray, " _"], ...]

    @property
    def borders(self) -> tuple[Int[np.ndarray, " _"], ...]:
        """Points on each boundary curve."""
        return self.loops

    @property
    def curves(self) -> tuple[Float[np.ndarray, "_ 2"], ...]:
        """The corners of each boundary curve."""
        return tuple(self.points[loop] for loop in self.loops)

    def marks(self, at_most: int) -> list[tuple[Float[np.ndarray, "mark 2"], Float[np.ndarray, " mark"]]]:
        """Return some of the corners of each curve, and the fractions of its length before them."""
        found = []
        for curve in self.curves:
            rows = np.linspace(0, len(curve), min(len(curve), at_most), endpoint=False).astype(int)
            found.append((curve[rows], fractions(curve)[rows]))
        return found

    def matched(
        self, part: int, marks: Float[np.ndarray, "mark 2"], numbers: Float[np.ndarray, " mark"]
    ) -> Float[np.ndarray, "mark 2"]:
        """Return the points of a curve with the same fractions of its length between them."""
        return matched(self.curves[part], marks, numbers)

    def moved(self, points: Float[np.ndarray, "point 2"], is_reflected: bool) -> "Outline":
        """Return the image under a motion: a reflection turns what was counter-clockwise around."""
        if not is_reflected:
            return replace(self, points=points)
        return Outline(points=points, cells=self.cells[:, ::-1], loops=tuple(loop[::-1] for loop in self.loops))


def outline(points: Float[np.ndarray, "point 2"]) -> Outline | None:
    """Find the shape that points fill, or nothing where they lie on a line or their boundary touches itself.

    Of the Delaunay triangulation holes and bays are left out (:mod:`gola.geometry.voids`).
    """
    try:
        mesh = Delaunay(points)
    except (QhullError, ValueError):
        return None
    cells = _counter_clockwise(points, mesh.simplices)
    empty = voids(points, cells, mesh.neighbors)
    at_hull = np.any(mesh.neighbors < 0, axis=1, keepdims=True)[:, 0]
    holes = [void for void in empty if not at_hull[void].any()]
    inside = np.ones(len(cells), dtype=bool)
    for void in empty:
        inside[void] = False
    filled = inside.copy()
    for void in holes:
        filled[void] = True
    outer = _loops(cells[filled])
    inner = [_loops(cells[void]) for void in holes]
    if len(outer) != 1 or any(len(loops) != 1 for loops in inner):
        return None
    return Outline(points=points, cells=cells[inside], loops=(outer[0], *(loops[0] for loops in inner)))


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
    turned = signed_volumes(points[cells]) < 0.0
    return np.where(turned[:, None], cells[:, ::-1], cells).astype(np.int64)
