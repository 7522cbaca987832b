"""What shapes in the plane and in space have in common: points that fill them, and a boundary in parts."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment


@dataclass(frozen=True, kw_only=True, eq=False)
class Shape(ABC):
    """The shape of a point set.

    Attributes:
        points: The points.
        cells: Simplices between them.
    """

    points: Float[np.ndarray, "point dim"]
    cells: Int[np.ndarray, "cell vertex"]

    @property
    @abstractmethod
    def borders(self) -> tuple[Int[np.ndarray, " _"], ...]:
        """Points on each part of the boundary: the outer one, then the holes."""

    @abstractmethod
    def marks(self, at_most: int) -> list[tuple[Float[np.ndarray, "mark dim"], Float[np.ndarray, " mark"]]]:
        """Return places on each part of the boundary, and numbers that say which of it they are."""

    @abstractmethod
    def matched(
        self, part: int, marks: Float[np.ndarray, "mark dim"], numbers: Float[np.ndarray, " mark"]
    ) -> Float[np.ndarray, "mark dim"]:
        """Return the places on a part of this boundary that correspond to marks of another shape."""

    @abstractmethod
    def moved(self, points: Float[np.ndarray, "point dim"], is_reflected: bool) -> "Shape":
        """Return the image under a motion, given those of the points."""

    @property
    def dim(self) -> int:
        """Number of coordinates of a point."""
        return self.points.shape[1]

    @property
    def num_holes(self) -> int:
        """Number of holes."""
        return len(self.borders) - 1

    def matched_boundary(
        self, marks: Sequence[Float[np.ndarray, "_ dim"]], numbers: Sequence[Float[np.ndarray, " _"]]
    ) -> Float[np.ndarray, "mark dim"]:
        """Return the places on this boundary that correspond to the marks on all parts of another."""
        holes = paired([self.points[border] for border in self.borders[1:]], marks[1:])
        parts = [0, *(1 + holes).tolist()]
        return np.concatenate([self.matched(*some) for some in zip(parts, marks, numbers, strict=True)])


def paired(
    holes: Sequence[Float[np.ndarray, "_ dim"]], references: Sequence[Float[np.ndarray, "_ dim"]]
) -> Int[np.ndarray, " reference"]:
    """Return which of the holes corresponds to each reference: together they are moved least."""
    if not references:
        return np.zeros(0, dtype=np.int64)
    centres, wanted = (np.array([hole.mean(axis=0) for hole in some]) for some in (holes, references))
    _, columns = linear_sum_assignment(np.square(wanted[:, None] - centres).sum(axis=2))
    return np.asarray(columns, dtype=np.int64)
