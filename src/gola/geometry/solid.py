"""The shape that scattered points of space fill: its outer surface, its hollows, and simplices between them."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from gola.geometry.filling import filling
from gola.geometry.shape import Shape
from gola.geometry.surfaces import areas, euler_characteristic, matched, spread

# Marks on a hollow, at least, however small it is.
_LEAST_MARKS = 60


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Solid(Shape):
    """The shape of a point set of space.

    Attributes:
        shells: Triangles of each closed surface of the boundary: the outer one, then the hollows.
    """

    shells: tuple[Int[np.ndarray, "_ 3"], ...]

    @property
    def borders(self) -> tuple[Int[np.ndarray, " _"], ...]:
        """Points on each surface."""
        return tuple(np.unique(shell) for shell in self.shells)

    def marks(self, at_most: int) -> list[tuple[Float[np.ndarray, "mark 3"], Float[np.ndarray, " mark"]]]:
        """Return places that share the area of each surface evenly, numbered."""
        sizes = np.array([areas(self.points[shell]).sum() for shell in self.shells])
        counts = np.maximum(_LEAST_MARKS, at_most * sizes / sizes.sum()).astype(int)
        return [
            (spread(self.points[shell], count), np.arange(count, dtype=np.float64))
            for shell, count in zip(self.shells, counts.tolist(), strict=True)
        ]

    def matched(
        self, part: int, marks: Float[np.ndarray, "mark 3"], _: Float[np.ndarray, " mark"]
    ) -> Float[np.ndarray, "mark 3"]:
        """Return the places of a surface that carry areas to areas."""
        return matched(self.points[self.shells[part]], marks)

    def moved(self, points: Float[np.ndarray, "point 3"], _: bool) -> "Solid":
        """Return the image under a motion."""
        return replace(self, points=points)


def solid(points: Float[np.ndarray, "point 3"]) -> Solid | None:
    """Find the shape that points fill, or nothing where they lie in a plane or a surface is not like a sphere.

    Holes that go through have walls that belong to the outer surface, and no place on it tells which.
    """
    try:
        mesh = filling(points)
    except ValueError:
        return None
    shells = _connected(mesh.facets, len(points))
    outer = np.argmax([np.ptp(points[shell], axis=(0, 1)).prod() for shell in shells])
    shells = [shells[outer], *shells[:outer], *shells[outer + 1 :]]
    # Where a surface touches itself at a corner, it is 1.
    if any(euler_characteristic(shell) < 1 for shell in shells):
        return None
    return Solid(points=points, cells=mesh.cells, shells=tuple(shells))


def _connected(facets: Int[np.ndarray, "facet 3"], num_points: int) -> list[Int[np.ndarray, "_ 3"]]:
    """Return the facets of each surface."""
    starts, ends = facets[:, [0, 1]].ravel(), facets[:, [1, 2]].ravel()
    links = coo_matrix((np.ones(len(starts)), (starts, ends)), shape=(num_points, num_points))
    labels = connected_components(links, directed=False)[1][facets[:, 0]]
    return [facets[labels == label] for label in np.unique(labels)]
