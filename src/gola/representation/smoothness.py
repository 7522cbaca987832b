"""How smooth the functions of a data set are: penalties chosen by leaving out points."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from gola.representation.function_space import FunctionSpace
from gola.representation.representatives import representatives

# Exponents p of the penalties (1 + ω²/ω₀²)ᵖ, beyond the d/2 that continuity takes.
_EXPONENTS = (0.5, 1.0, 2.0, 4.0)
# The frequency ω₀ up to which functions may vary freely: about three half-waves across the box.
_CORNER = 10.0
# Where a sample has no more points than this, penalties exp(ω²/ω₀²) are tried too, with these ω₀: they suit functions
# that are smoother than any power, of which few points tell much. With many points `linear` errs more with them.
_FEW_POINTS = 200
_GAUSSIAN_CORNERS = (3.0, 4.0, 5.0, 6.0, 7.0, 14.0)
_LARGEST_POWER = 60.0
# Strengths of the penalty, as a share of the number of points. The smallest is where rounding takes over.
_STRENGTHS = torch.logspace(0, -12, 25, dtype=torch.float64)
# A point that the fit meets whatever its value cannot be judged.
_LEAST_FREEDOM = 1e-9


def with_chosen_penalties(
    space: FunctionSpace,
    points: Sequence[Float[Tensor, "_ dim"]],
    values: Sequence[Float[Tensor, "_ channel"]],
) -> FunctionSpace:
    r"""Return the space with the penalties :math:`\rho_k = \varepsilon N (1 + \omega_k^2/\omega_0^2)^p` that fit best.

    Where points are few, :math:`\varepsilon N \exp(\omega_k^2/\omega_0^2)` are tried too. Exponent p, or corner
    :math:`\omega_0`, and strength ε minimise the squared error of predicting each point from the others. Generalised
    cross-validation, which is simpler, is blind to the boundary, where a point has fewer neighbours and the fit leans
    on it.
    """
    chosen = representatives(points)
    num_points = sum(len(points[row]) for row in chosen) / len(chosen)
    growths = _growths(space, is_few=num_points <= _FEW_POINTS)
    scores = torch.zeros(len(growths), len(_STRENGTHS), dtype=torch.float64)
    for row in chosen:
        strengths = len(points[row]) * _STRENGTHS.to(points[row].device)
        for number, penalties in enumerate(growths):
            errors = held_out_errors(space, penalties, strengths, points[row], values[row])
            scores[number] += relative_squares(errors, values[row]).cpu()
    best, strength = divmod(int(scores.argmin()), len(_STRENGTHS))
    return space.with_penalties(float(_STRENGTHS[strength]) * num_points * growths[best])


def _growths(space: FunctionSpace, *, is_few: bool) -> list[Float[Tensor, " mode"]]:
    """Return the ways in which penalties may grow."""
    powers = [growth(space, 0.5 * space.dim + excess) for excess in _EXPONENTS]
    if not is_few:
        return powers
    squares = [(space.frequencies / corner).square() for corner in _GAUSSIAN_CORNERS]
    return [*powers, *(one.clamp(max=_LARGEST_POWER).exp() for one in squares)]


def held_out_errors(
    space: FunctionSpace,
    penalties: Float[Tensor, " mode"],
    strengths: Float[Tensor, " strength"],
    points: Float[Tensor, "point dim"],
    values: Float[Tensor, "point channel"],
) -> Float[Tensor, "strength point channel"]:
    r"""Return the error of predicting each point from the others, for penalties of several strengths.

    It follows from one fit, with the matrix H that maps values to the fit: :math:`(v_i - \hat v_i) / (1 - H_{ii})`.
    Where there are no more points than functions, a weak penalty makes both nearly zero. There the matrix
    K = Φ P⁻¹ Φᵀ of all pairs of points has an inverse, and the strength cancels in the equal
    :math:`[(K + \varepsilon)^{-1} v]_i / [(K + \varepsilon)^{-1}]_{ii}`.
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


def relative_squares(
    errors: Float[Tensor, "strength some_point channel"], values: Float[Tensor, "point channel"]
) -> Float[Tensor, " strength"]:
    """Return the sum of squared errors in units of the variation of each channel that varies."""
    squares = (values - values.mean(dim=0)).square().sum(dim=0)
    varies = squares > 0.0
    return (errors.square().sum(dim=1)[:, varies] / squares[varies]).sum(dim=1)


def growth(space: FunctionSpace, exponent: float, corner: float = _CORNER) -> Float[Tensor, " mode"]:
    """Return (1 + ω²/ω₀²)ᵖ for each function."""
    return (1.0 + (space.frequencies / corner) ** 2) ** exponent
