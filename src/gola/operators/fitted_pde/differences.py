"""Derivatives by few coefficients."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

# Coefficients are of the order of 1, and differences over twice this step lose half of the digits.
_STEP = 1e-6
# So many numbers are computed at once.
_AT_ONCE = 2_000_000


def derivatives_of(
    function: Callable[[Float[Tensor, " coefficient"]], Float[Tensor, "*row"]],
    at: Float[Tensor, " coefficient"],
    num_rows: int,
) -> Float[Tensor, "*row coefficient"]:
    """Return the derivatives of a function by all coefficients, by central differences, many at once.

    PyTorch's forward mode agrees, takes as long, and seconds more when it is first called.

    Args:
        function: Of coefficients, without decisions that depend on them.
        at: Where.
        num_rows: How many numbers it computes with, about.
    """
    steps = _STEP * torch.eye(len(at), dtype=at.dtype)
    chunk = max(1, _AT_ONCE // max(1, num_rows))
    several = torch.vmap(function, chunk_size=chunk)
    found: Float[Tensor, coefficient * row] = (several(at + steps) - several(at - steps)) / (2.0 * _STEP)
    return found.movedim(0, -1)
