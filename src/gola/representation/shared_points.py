"""Samples in a row that share their points share the work that depends on points alone."""

import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, final

import torch
from jaxtyping import Float
from torch import Tensor

Made = TypeVar("Made")

# Points of samples that are computed together.
_POINTS_TOGETHER = 2**14


def same_points(points: Float[Tensor, "_ dim"], others: Float[Tensor, "_ dim"] | None) -> bool:
    """Whether both are the same points, as far as it can be known: tensors on the meta device have no numbers."""
    if others is None or points.shape != others.shape or points.device.type == "meta":
        return False
    # Derivatives are taken by each sample's own points.
    return points is others or (not points.requires_grad and torch.equal(points, others))


def runs(points: Sequence[Float[Tensor, "_ dim"]]) -> list[slice]:
    """Return the samples in a row that share their points.

    >>> here, there = torch.zeros(3, 2), torch.ones(3, 2)
    >>> runs([here, here, there, here])
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    starts = [0] + [row for row in range(1, len(points)) if not same_points(points[row], points[row - 1])]
    return [slice(*ends) for ends in itertools.pairwise([*starts, len(points)])] if len(points) else []


def together(counts: Sequence[int]) -> list[slice]:
    """Cut samples with so many points into such as are best computed together: few, and small enough for the cache.

    >>> together([6000, 6000, 4000, 1000, 20000])
    [slice(0, 3, None), slice(3, 4, None), slice(4, 5, None)]
    """
    starts, taken = [0], 0
    for number, count in enumerate(counts):
        if number > starts[-1] and taken + count > _POINTS_TOGETHER:
            starts.append(number)
            taken = 0
        taken += count
    return [slice(*ends) for ends in itertools.pairwise([*starts, len(counts)])]


@final
class Recent(Generic[Made]):
    """What was made of the points last asked for: whoever predicts again and again mostly does so at the same points.

    It is neither copied nor saved with what holds it.
    """

    def __init__(self) -> None:
        self._known: tuple[Tensor, tuple[Tensor, ...], Made] | None = None

    def of(self, make: Callable[[], Made], points: Float[Tensor, "_ dim"], *others: Tensor) -> Made:
        """Return what was made of these very points and other tensors, or make it.

        Args:
            make: Makes it; called if need be.
            points: Compared by their values.
            others: Compared by identity: a tensor that was put in place of another is another.
        """
        known = self.known(points, *others)
        return self.keep(make(), points, *others) if known is None else known

    def known(self, points: Float[Tensor, "_ dim"], *others: Tensor) -> Made | None:
        """Return what was made of these very points and other tensors, if that is what was made last."""
        known = self._known
        if known is not None and same_points(points, known[0]) and all(map(operator.is_, known[1], others)):
            return known[2]
        return None

    def keep(self, made: Made, points: Float[Tensor, "_ dim"], *others: Tensor) -> Made:
        """Remember what was made of points and other tensors, and return it."""
        if not points.requires_grad:
            # A copy: the caller may write over theirs.
            self._known = (points.clone(), others, made)
        return made

    def __deepcopy__(self, memory: dict[int, object]) -> "Recent[Made]":
        return Recent()

    def __reduce__(self) -> tuple[type["Recent[Made]"], tuple[()]]:
        return Recent, ()
