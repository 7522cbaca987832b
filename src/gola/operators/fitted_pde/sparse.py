"""Sparse linear systems: solved by a factorisation, or by plain operations where these are recorded."""

from typing import Any, final

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.sparse import csc_array
from scipy.sparse.linalg import SuperLU, splu
from torch import Tensor
from torch.fx.experimental.proxy_tensor import get_proxy_mode


def solved(
    entries: Float[Tensor, " entry"],
    right_side: Float[Tensor, " unknown"],
    pattern: tuple[Int[np.ndarray, " entry"], Int[np.ndarray, " entry"]],
) -> Float[Tensor, " unknown"]:
    """Solve; differentiable in the entries and in the right-hand side."""
    solve = plain_solution if is_recorded() else _Solve.apply
    found: Float[Tensor, " unknown"] = solve(entries, right_side, *pattern)
    return found


@final
class NoFactors:
    """Stands in for the factors of a singular matrix: nothing solves the system."""

    def solve(self, right_side: Float[np.ndarray, "*any"], _: str = "N") -> Float[np.ndarray, "*any"]:
        """Return no numbers."""
        return np.full_like(right_side, np.nan)


def factorised(
    entries: Float[np.ndarray, " entry"], rows: Int[np.ndarray, " entry"], columns: Int[np.ndarray, " entry"], size: int
) -> SuperLU | NoFactors:
    """Factorise a sparse matrix with a symmetric pattern."""
    if not np.isfinite(entries).all():
        return NoFactors()
    matrix = csc_array((entries, (rows, columns)), shape=(size, size))
    try:
        return splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:
        # Coefficients far off may make it exactly singular.
        return NoFactors()


def plain_solution(
    entries: Float[Tensor, " entry"],
    right_side: Float[Tensor, " unknown"],
    rows: Int[np.ndarray, " entry"],
    columns: Int[np.ndarray, " entry"],
) -> Float[Tensor, " unknown"]:
    """Solve with a dense matrix, by operations of PyTorch alone."""
    size = len(right_side)
    places = torch.from_numpy(size * rows + columns)
    matrix = entries.new_zeros(size * size).index_add(0, places, entries)
    return torch.linalg.solve(matrix.view(size, size), right_side)


def is_recorded() -> bool:
    """Whether operations are being recorded, to be exported: then they must be PyTorch's own."""
    return get_proxy_mode() is not None


class _Solve(torch.autograd.Function):
    """The solution of a sparse system, with gradients to its entries and right-hand side."""

    @staticmethod
    def forward(
        ctx: Any, entries: Tensor, right_side: Tensor, rows: np.ndarray, columns: np.ndarray
    ) -> Float[Tensor, " unknown"]:
        matrix = factorised(entries.detach().numpy(), rows, columns, len(right_side))
        found = torch.from_numpy(matrix.solve(right_side.detach().numpy()))
        ctx.matrix, ctx.rows, ctx.columns, ctx.found = matrix, torch.from_numpy(rows), torch.from_numpy(columns), found
        return found

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, Tensor, None, None]:
        adjoint = torch.from_numpy(ctx.matrix.solve(slope.numpy(), "T"))
        return -adjoint[ctx.rows] * ctx.found[ctx.columns], adjoint, None, None
