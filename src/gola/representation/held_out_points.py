r"""How well a penalised fit predicts points that it has not seen, which follows from one fit to all of them.

With the matrix H that maps values to the fit, the error at a held-out point is :math:`(v_i - \hat v_i) / (1 - H_{ii})`.
Where there are no more points than functions, a weak penalty makes both nearly zero. There the matrix K = Φ P⁻¹ Φᵀ of
all pairs of points has an inverse, and the strength ε of the penalty cancels in the equal
:math:`[(K + \varepsilon)^{-1} v]_i / [(K + \varepsilon)^{-1}]_{ii}`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.representation.cholesky import cholesky_or_none, cholesky_solve
from gola.representation.function_space import FunctionSpace

Errors = Callable[[float], Float[Tensor, "held_out channel"]]

# A point that the fit meets whatever its value cannot be judged.
_LEAST_FREEDOM = 1e-9
# Points for each function that fits into the bounding box, up to which a fit follows every point.
_POINTS_PER_FUNCTION = 2.0
# Rows of a symmetric matrix are computed in so many parts, each up to the diagonal: nearly half of it is left out.
_PARTS = 8


def held_out_errors(
    space: FunctionSpace,
    penalties: Float[Tensor, " mode"],
    strengths: Float[Tensor, " strength"],
    points: Float[Tensor, "point dim"],
    values: Float[Tensor, "point channel"],
) -> Float[Tensor, "strength point channel"]:
    """Return the error of predicting each point from the others, for penalties of several strengths.

    One decomposition serves all strengths. It takes as long as :class:`HeldOutPoints` takes for ten of them.
    """
    few = len(points) <= space.num_modes
    scale = penalties.rsqrt()
    functions = space.functions(points) * scale
    matrix = functions @ functions.T if few else space.gram(points) * scale * scale[:, None]
    eigenvalues, vectors = torch.linalg.eigh(matrix)
    basis = vectors if few else functions @ vectors
    weights = 1.0 / (eigenvalues.clamp(min=0.0) + strengths[:, None])
    centred = values - values.mean(dim=0)
    sums = basis @ (weights[:, :, None] * (basis.T @ centred))
    squares = (weights @ basis.square().T)[:, :, None]
    return sums / squares if few else (centred - sums) / (1.0 - squares).clamp(min=_LEAST_FREEDOM)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class HeldOutPoints:
    """Points of one sample, the last of which are held out one by one.

    Attributes:
        space: Where functions are expressed.
        points: The points.
        values: Values there.
        count: How many of them are held out.
        squares: The variation of each channel over the sample, of which these points may be a part.
    """

    space: FunctionSpace
    points: Float[Tensor, "point dim"]
    values: Float[Tensor, "point channel"]
    count: int
    squares: Float[Tensor, " channel"]

    def under(self, penalties: Float[Tensor, " mode"]) -> Errors:
        """Return what tells the error of predicting each held-out point from all others, for penalties of a strength.

        Errors are infinite where rounding takes over.
        """
        return self._by_points(penalties) if self._are_few else self._by_functions(penalties)

    def _by_points(self, penalties: Float[Tensor, " mode"]) -> Errors:
        matrix = lower_products(self._functions * penalties.rsqrt())

        def errors(strength: float) -> Float[Tensor, "held_out channel"]:
            shifted = matrix.clone()
            shifted.diagonal().add_(strength)
            factors = cholesky_or_none(shifted)
            if factors is None:
                return torch.full_like(self._last(self.values), torch.inf)
            # Of the inverse only the last part is needed, and that is the inverse of the last part of the factors.
            last = factors[-self.count :, -self.count :]
            inverse = torch.linalg.solve_triangular(last, torch.eye(self.count).to(last), upper=False)
            sums = cholesky_solve(self._centred, factors)
            return self._last(sums) / inverse.square().sum(dim=0)[:, None]

        return errors

    def _by_functions(self, penalties: Float[Tensor, " mode"]) -> Errors:
        def errors(strength: float) -> Float[Tensor, "held_out channel"]:
            matrix = self._gram.clone()
            matrix.diagonal().add_(strength * penalties)
            factors = cholesky_or_none(matrix)
            if factors is None:
                return torch.full_like(self._last(self.values), torch.inf)
            found = self._functions @ cholesky_solve(self._moments, factors)
            halves = torch.linalg.solve_triangular(factors, self._functions.T, upper=False)
            freedom = (1.0 - halves.square().sum(dim=0)).clamp(min=_LEAST_FREEDOM)
            return (self._last(self._centred) - found) / freedom[:, None]

        return errors

    @property
    def _are_few(self) -> bool:
        return len(self.points) <= self.space.num_modes

    def _last(self, rows: Float[Tensor, "point channel"]) -> Float[Tensor, "held_out channel"]:
        return rows[-self.count :]

    @cached_property
    def _centred(self) -> Float[Tensor, "point channel"]:
        return self.values - self.values.mean(dim=0)

    @cached_property
    def _functions(self) -> Float[Tensor, "some_point mode"]:
        return self.space.functions(self.points if self._are_few else self._last(self.points))

    @cached_property
    def _gram(self) -> Float[Tensor, "mode mode"]:
        return self.space.gram(self.points)

    @cached_property
    def _moments(self) -> Float[Tensor, "mode channel"]:
        return self.space.moments(self.points, self._centred)


def is_local(space: FunctionSpace, num_points: int) -> bool:
    """Tell whether there are enough functions for a point to be predicted from the points around it."""
    return num_points <= _POINTS_PER_FUNCTION * space.num_modes / float(space.padding) ** space.dim


def lower_products(rows: Float[Tensor, "row column"]) -> Float[Tensor, "row row"]:
    """Return the inner products of all pairs of rows; above the diagonal some are left out.

    >>> lower_products(torch.eye(2)).tril().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    found = rows.new_zeros(len(rows), len(rows))
    step = -(-len(rows) // _PARTS)
    for start in range(0, len(rows), step):
        end = start + step
        found[start:end, :end] = rows[start:end] @ rows[:end].T
    return found


def relative_squares(
    errors: Float[Tensor, "*strength some_point channel"], squares: Float[Tensor, " channel"]
) -> Float[Tensor, "*strength"]:
    """Return the sum of squared errors in units of the variation of each channel that varies."""
    varies = squares > 0.0
    return (errors.square().sum(dim=-2)[..., varies] / squares[varies]).sum(dim=-1)


def variation(values: Float[Tensor, "point channel"]) -> Float[Tensor, " channel"]:
    """Return the sum of squared differences from the mean, of each channel."""
    return (values - values.mean(dim=0)).square().sum(dim=0)
