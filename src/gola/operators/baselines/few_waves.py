r"""The Fourier transform of a real function on a grid, for few of its waves: products with small matrices.

A fast Fourier transform computes all waves of a grid, and of 144 × 144 the Fourier neural operator keeps 24 × 12. Sums
for these alone are cheaper, and the same numbers up to rounding.
"""

import functools
import math
from collections.abc import Sequence

import torch
from jaxtyping import Complex, Float
from torch import Tensor


def to_waves(
    functions: Float[Tensor, "sample channel *grid"], num_modes: int
) -> Complex[Tensor, "sample channel *mode"]:
    r"""Return the waves −m, …, m − 1 along all axes of the grid but the last, and 0, …, m − 1 along that one.

    .. math::
        c_k = \frac{1}{n_1 \cdots n_d} \sum_x f(x) \, e^{-2 \pi i \, (k_1 x_1 / n_1 + \dots + k_d x_d / n_d)}
    """
    *others, last = functions.shape[2:]
    # The real and imaginary parts of a wave are neighbouring columns, as in a complex number.
    columns = _exponentials(last, 0, num_modes).conj().resolve_conj() / last
    waves = torch.view_as_complex(
        torch.unflatten(functions @ _real(columns).to(functions), -1, (num_modes, 2)).contiguous()
    )
    for axis, size in enumerate(others, start=2):
        matrix = _exponentials(size, -num_modes, num_modes).conj().resolve_conj().mT / size
        waves = _along(axis, matrix.to(waves), waves)
    return waves


def from_waves(
    waves: Complex[Tensor, "sample channel *mode"], shape: Sequence[int]
) -> Float[Tensor, "sample channel *grid"]:
    """Return the real function with these waves on a grid, those of the other half of the last axis implied."""
    *others, last = shape
    num_modes = waves.shape[-1]
    for axis, size in enumerate(others, start=2):
        waves = _along(axis, _exponentials(size, -num_modes, num_modes).to(waves), waves)
    # A wave and its mirror image add up to twice its real part; the wave 0 is its own image.
    counts = torch.full((num_modes,), 2.0)
    counts[0] = 1.0
    rows = _real(_exponentials(last, 0, num_modes).conj().resolve_conj() * counts).mT
    parts = torch.view_as_real(waves).flatten(-2)
    return parts @ rows.to(parts)


def are_few(shape: Sequence[int], num_modes: int) -> bool:
    """Whether a grid has all of these waves."""
    return all(size >= 2 * num_modes for size in shape)


@functools.cache
def _exponentials(size: int, first: int, stop: int) -> Complex[Tensor, "node mode"]:
    """The waves ``first`` to ``stop`` − 1 on a line of nodes."""
    turns = torch.outer(torch.arange(size), torch.arange(first, stop)) % size
    angles = turns.double() * (2 * math.pi / size)
    return torch.polar(torch.ones_like(angles), angles).to(torch.complex64)


def _real(matrix: Complex[Tensor, "node mode"]) -> Float[Tensor, "node twice_mode"]:
    return torch.view_as_real(matrix).flatten(1)


def _along(
    axis: int, matrix: Complex[Tensor, "new old"], waves: Complex[Tensor, "sample channel *mode"]
) -> Complex[Tensor, "sample channel *new"]:
    """Apply a matrix along one axis, which is not the last."""
    rows = waves.flatten(axis + 1)
    return torch.unflatten(matrix @ rows, -1, waves.shape[axis + 1 :])
