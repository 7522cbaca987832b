"""The few samples that show what all of a data set have in common."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

# So many points show what the functions of a data set have in common.
_SHOWING_POINTS = 1000


def spread(count: int, at_most: int) -> list[int]:
    """Pick evenly spaced numbers below ``count``, all of them where there are few.

    >>> spread(10, at_most=3)
    [0, 4, 9]
    """
    chosen = torch.linspace(0, count - 1, min(count, at_most)).long()
    return chosen.tolist()


def representatives(points: Sequence[Float[Tensor, "_ dim"]], at_least: int = 2) -> list[int]:
    """Pick the samples that show what all functions have in common: a few, or more where each has few points."""
    return spread(len(points), at_most=max(at_least, _SHOWING_POINTS // len(points[0])))
