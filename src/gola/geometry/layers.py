"""Points in layers: the same points for each value of the last coordinate, as the points of space and time are."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

# Values that an interpolation in one dimension reads: cubic polynomials.
_NUM_READ = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class Layers:
    """Points that are repeated for each of some heights, layer after layer.

    Attributes:
        points: The points of a layer, without the last coordinate.
        heights: The last coordinate of each layer.
    """

    points: Float[np.ndarray, "point dim"]
    heights: Float[np.ndarray, " layer"]

    @staticmethod
    def of(rows: Float[np.ndarray, "row dim_plus_one"]) -> "Layers | None":
        """Recognise layers; None where points do not lie in layers, one after the other.

        >>> found = Layers.of(np.array([[0.0, 3.0], [1.0, 3.0], [0.0, 7.0], [1.0, 7.0]]))
        >>> found.points.tolist(), found.heights.tolist()
        ([[0.0], [1.0]], [3.0, 7.0])
        """
        if rows.shape[1] < 2 or not len(rows):
            return None
        changes = rows[:, -1] != rows[0, -1]
        size = int(changes.argmax()) or len(rows)
        if len(rows) % size:
            return None
        layers = rows.reshape(-1, size, rows.shape[1])
        heights = layers[:, 0, -1]
        alike = (layers[:, :, -1] == heights[:, None]).all() and (layers[..., :-1] == layers[0, :, :-1]).all()
        return Layers(points=layers[0, :, :-1], heights=heights) if alike else None

    @property
    def ascend(self) -> bool:
        """Whether each layer is higher than the one before."""
        return bool((np.diff(self.heights) > 0).all())


def line_weights(
    known: Float[np.ndarray, " known"], asked: Float[np.ndarray, " asked"]
) -> Float[np.ndarray, "asked known"]:
    """Return the matrix that interpolates along a line by cubic polynomials through the nearest values.

    Outside the known places it continues the straight line through the last two.

    Args:
        known: Where values are known, ascending.
        asked: Where they are wanted.

    >>> line_weights(np.array([0.0, 1.0, 2.0]), np.array([0.5, 3.0])).round(3).tolist()
    [[0.375, 0.75, -0.125], [0.0, -1.0, 2.0]]
    """
    matrix = np.zeros((len(asked), len(known)))
    for rows, columns in line_stencils(known, asked):
        matrix[rows[:, None], columns] = _lagrange(known[columns], asked[rows])
    return matrix


def line_stencils(
    known: Float[np.ndarray, " known"], asked: Float[np.ndarray, " asked"]
) -> list[tuple[Int[np.ndarray, " row"], Int[np.ndarray, "row read"]]]:
    """Return which of the known places each asked one reads: those inside, then those outside."""
    inside = (asked >= known[0]) & (asked <= known[-1])
    found = []
    for is_chosen, num_read in ((inside, _NUM_READ), (~inside, 2)):
        rows = np.flatnonzero(is_chosen)
        count = min(num_read, len(known))
        first = np.clip(np.searchsorted(known, asked[rows]) - count // 2, 0, len(known) - count)
        found.append((rows, first[:, None] + np.arange(count)))
    return found


def _lagrange(
    known: Float[np.ndarray, "asked read"], asked: Float[np.ndarray, " asked"]
) -> Float[np.ndarray, "asked read"]:
    """Return the Lagrange polynomials of the known places at the asked ones."""
    weights = np.ones_like(known)
    for one in range(known.shape[1]):
        for other in range(known.shape[1]):
            if other != one:
                weights[:, one] *= (asked - known[:, other]) / (known[:, one] - known[:, other])
    return weights
