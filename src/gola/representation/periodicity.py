"""Functions that repeat, as the sources and initial values of periodic problems do.

What such a function does beyond one side of the bounding box is known from the other side, so its fit can be as good
near the boundary as elsewhere.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from gola.representation.function_space import FunctionSpace
from gola.representation.held_out_points import HeldOutPoints, is_local, relative_squares, variation
from gola.representation.representatives import representatives

# How far points are copied beyond the bounding box at most, as a share of its side.
_REACH = 0.125
# Squared errors have to drop to this share: what differs by less differs by chance.
_CLEARLY_BETTER = 0.9
# What is more than so many spacings of points away from the ends tells nothing of the points there.
_DEPTH = 5.0
# Few points of a sample are near an end, so it takes more samples than other choices do.
_SAMPLES = 4
# Points of each of them, at most.
_MOST_POINTS = 10_000


def repeating_axes(
    space: FunctionSpace, points: Sequence[Float[Tensor, "_ dim"]], values: Sequence[Float[Tensor, "_ channel"]]
) -> list[int]:
    """Return the axes along which all functions repeat, with the side of the bounding box as period.

    They do if points near both ends of the axis, left out one by one, are predicted better with what lies beyond.
    """
    if _reach(space) == 0.0:
        return []
    samples = [_some(points[row], values[row]) for row in representatives(points, at_least=_SAMPLES)]
    return [axis for axis in range(space.dim) if _repeats(space, axis, samples)]


def _some(
    points: Float[Tensor, "point dim"], values: Float[Tensor, "point channel"]
) -> tuple[Float[Tensor, "some dim"], Float[Tensor, "some channel"]]:
    """Return some of the points where they are more than it takes."""
    rows = torch.randperm(len(points), generator=torch.Generator().manual_seed(0))[:_MOST_POINTS].to(points.device)
    return (points[rows], values[rows]) if len(points) > _MOST_POINTS else (points, values)


def _repeats(
    space: FunctionSpace, axis: int, samples: Sequence[tuple[Float[Tensor, "_ dim"], Float[Tensor, "_ channel"]]]
) -> bool:
    """Tell whether what lies beyond the ends of an axis helps to predict the points near these ends."""
    plain, repeated = (
        sum(float(_error_near_ends(space, axis, *sample, repeats=repeats)) for sample in samples)
        for repeats in (False, True)
    )
    return repeated < _CLEARLY_BETTER * plain


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


def _error_near_ends(
    space: FunctionSpace,
    axis: int,
    points: Float[Tensor, "point dim"],
    values: Float[Tensor, "point channel"],
    *,
    repeats: bool,
) -> Float[Tensor, ""]:
    """Return the squared error of left-out points near the ends of an axis."""
    fractions = space.fractions(points)[:, axis]
    from_end = torch.minimum(fractions, 1.0 - fractions)
    spacing = len(points) ** (-1.0 / space.dim)
    # Points that have others around them need no copies.
    alone = int((from_end < min(spacing, _reach(space))).sum())
    if alone == 0:
        return torch.zeros_like(from_end[0])
    known = from_end < max(_DEPTH * spacing, _reach(space)) if is_local(space, len(points)) else from_end >= 0.0
    order = from_end.argsort(descending=True)[-int(known.sum()) :]
    places, own = with_copies(space, [axis] if repeats else [], points[order], values[order])
    # Copies go first, because the last are held out.
    held_out = HeldOutPoints(
        space=space,
        points=places.roll(-len(order), dims=0),
        values=own.roll(-len(order), dims=0),
        count=alone,
        squares=variation(values),
    )
    return relative_squares(held_out.under(space.penalties)(1.0), variation(values))


def _reach(space: FunctionSpace) -> float:
    """Return how far copies reach, as a share of the side."""
    # Half way to the end of the cosines' box: they have no slope there, and functions have.
    return min(_REACH, 0.25 * float(space.padding) - 0.25)
