"""How smooth the functions of a data set are: penalties chosen by leaving out points."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from gola.operators.closed_form.function_space import FunctionSpace
from gola.operators.closed_form.samples import spread

# Exponents p of the penalties (1 + ω²/ω₀²)ᵖ, beyond the d/2 that continuity takes.
_EXPONENTS = (0.5, 1.0, 2.0, 4.0)
# The frequency ω₀ up to which functions may vary freely: about three half-waves across the box.
_CORNER = 10.0
# Strengths of the penalty, as a share of the number of points. The smallest is where rounding takes over.
_STRENGTHS = torch.logspace(-2, -12, 21, dtype=torch.float64)
# Samples that are looked at: what is chosen is a property of the data set, and a few show it.
_SAMPLES = 2
# A point that the fit meets whatever its value cannot be judged.
_LEAST_FREEDOM = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class _Spectrum:
    """The least-squares problem of one sample in coordinates that make matrix and penalty diagonal."""

    functions: Float[Tensor, "point mode"]
    eigenvalues: Float[Tensor, " mode"]


def with_chosen_penalties(
    space: FunctionSpace,
    points: Sequence[Float[Tensor, "_ dim"]],
    values: Sequence[Float[Tensor, "_ channel"]],
) -> FunctionSpace:
    r"""Return the space with the penalties :math:`\rho_k = \varepsilon N (1 + \omega_k^2/\omega_0^2)^p` that fit best.

    Exponent p and strength ε minimise the error of predicting each point from the others, which follows from one fit:

    .. math:: \sum_i \Bigl(\frac{v_i - \hat v_i}{1 - H_{ii}}\Bigr)^2 \Big/ \sum_i v_i^2

    with the matrix H that maps values to the fit. Generalised cross-validation, which takes the mean of H's diagonal
    instead, is blind to the boundary, where a point has fewer neighbours and the fit leans on it.
    """
    chosen = spread(len(points), at_most=_SAMPLES)
    exponents = [0.5 * space.dim + excess for excess in _EXPONENTS]
    scores = torch.stack(
        [
            sum(
                (_scores(_spectrum(space, points[row], exponent), values[row]) for row in chosen), start=torch.zeros(())
            )
            for exponent in exponents
        ]
    )
    best, strength = divmod(int(scores.argmin()), len(_STRENGTHS))
    num_points = sum(len(points[row]) for row in chosen) / len(chosen)
    return space.with_penalties(float(_STRENGTHS[strength]) * num_points * growth(space, exponents[best]))


def growth(space: FunctionSpace, exponent: float, corner: float = _CORNER) -> Float[Tensor, " mode"]:
    """Return (1 + ω²/ω₀²)ᵖ for each function."""
    return (1.0 + (space.frequencies / corner) ** 2) ** exponent


def _spectrum(space: FunctionSpace, points: Float[Tensor, "point dim"], exponent: float) -> _Spectrum:
    scale = growth(space, exponent).rsqrt()
    eigenvalues, vectors = torch.linalg.eigh(space.gram(points) * scale * scale[:, None])
    functions = space.functions(points) @ (scale[:, None] * vectors)
    return _Spectrum(functions=functions, eigenvalues=eigenvalues.clamp(min=0.0))


def _scores(spectrum: _Spectrum, values: Float[Tensor, "point channel"]) -> Float[Tensor, " strength"]:
    """Return the relative error of left-out points for each strength, summed over the channels that vary."""
    penalties = (_STRENGTHS * len(values)).to(values.device)[:, None]
    shrinkage = 1.0 / (spectrum.eigenvalues + penalties)
    freedom = 1.0 - spectrum.functions.square() @ shrinkage.T
    centred = values - values.mean(dim=0)
    fits = spectrum.functions @ (shrinkage[:, :, None] * (spectrum.functions.T @ centred))
    errors = (centred - fits) / freedom.clamp(min=_LEAST_FREEDOM).T[:, :, None]
    totals = centred.square().sum(dim=0)
    varies = totals > 0.0
    return (errors.square().sum(dim=1)[:, varies] / totals[varies]).sum(dim=1).cpu()
