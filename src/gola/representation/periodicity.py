"""Functions that repeat, as the sources and initial values of periodic problems do.

What such a function does beyond one side of the bounding box is known from the other side, so its fit can be as good
near the boundary as elsewhere.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from gola.representation.function_space import FunctionSpace
from gola.representation.representatives import representatives
from gola.representation.smoothness import held_out_errors, relative_squares

# How far points are copied beyond the bounding box at most, as a share of its side.
_REACH = 0.125
# Squared errors have to drop to this share: what differs by less differs by chance.
_CLEARLY_BETTER = 0.9
# Few points of a sample are near an end, so it takes more samples than other choices do.
_SAMPLES = 4


def repeating_axes(
    space: FunctionSpace, points: Sequence[Float[Tensor, "_ dim"]], values: Sequence[Float[Tensor, "_ channel"]]
) -> list[int]:
    """Return the axes along which all functions repeat, with the side of the bounding box as period.

    They do if points near both ends of the axis, left out one by one, are predicted better with what lies beyond.
    """
    if _reach(space) == 0.0:
        return []
    rows = representatives(points, at_least=_SAMPLES)
    plain, *repeated = [
        torch.stack([_errors_near_ends(space, axes, points[row], values[row]) for row in rows]).sum(dim=0)
        for axes in ([], *([axis] for axis in range(space.dim)))
    ]
    return [axis for axis, errors in enumerate(repeated) if errors[axis] < _CLEARLY_BETTER * plain[axis]]


def with_copies(
    space: FunctionSpace,
    repeating: Sequence[int],
    points: Float[Tensor, "point dim"],
    values: Float[Tensor, "point channel"],
) -> tuple[Float[Tensor, "copy dim"], Float[Tensor, "copy channel"]]:
    """Return the points and, after them, copies of those near one end of a repeating axis beyond the other end."""
    for axis in repeating:
        fractions, period = space.fractions(points)[:, axis], torch.zeros_like(points[:1])
        period[:, axis] = space.sides[axis].to(period)
        low, high = fractions < _reach(space), fractions > 1.0 - _reach(space)
        points = torch.cat([points, points[low] + period, points[high] - period])
        values = torch.cat([values, values[low], values[high]])
    return points, values


def _errors_near_ends(
    space: FunctionSpace,
    repeating: Sequence[int],
    points: Float[Tensor, "point dim"],
    values: Float[Tensor, "point channel"],
) -> Float[Tensor, " dim"]:
    """Return the squared error of left-out points near the ends of each axis."""
    one = torch.ones_like(space.penalties[:1])
    errors = held_out_errors(space, space.penalties, one, *with_copies(space, repeating, points, values))
    fractions = space.fractions(points)
    # Points that have others around them need no copies.
    alone = min(len(points) ** (-1.0 / space.dim), _reach(space))
    near = torch.minimum(fractions, 1.0 - fractions) < alone
    squares = [relative_squares(errors[:, : len(points)][:, one_end], values) for one_end in near.T]
    return torch.cat(squares)


def _reach(space: FunctionSpace) -> float:
    """Return how far copies reach, as a share of the side."""
    # Half way to the end of the cosines' box: they have no slope there, and functions have.
    return min(_REACH, 0.25 * float(space.padding) - 0.25)
