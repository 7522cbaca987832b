"""Derivatives by few coefficients."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

# Coefficients are of the order of 1, and differences over twice this step lose half of the digits.
_STEP = 1e-6


def derivatives_of(
    function: Callable[[Float[Tensor, " coefficient"]], Float[Tensor, "*row"]], at: Float[Tensor, " coefficient"]
) -> Float[Tensor, "*row coefficient"]:
    """Return the derivatives of a function by all coefficients, by central differences.

    PyTorch's forward mode agrees, takes as long, and seconds more when it is first called.
    """
    steps = _STEP * torch.eye(len(at), dtype=at.dtype)
    columns = [(function(at + step) - function(at - step)) / (2.0 * _STEP) for step in steps]
    return torch.stack(columns, dim=-1)
