"""Gaussian random functions on the unit square, drawn as sums of waves.

Every field here is g(x) = Σₖₗ σₖₗ zₖₗ bₖ(x₀) bₗ(x₁) with independent standard normal numbers z and waves b along
each axis; the kinds of field differ only in the waves and in the deviations σ. A field is thus a function, not a
table: it can be evaluated on any grid, a draw does not depend on the resolution, and no covariance matrix of
grid points is ever built.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float

# Waves across the square in a power-law field: what a grid of 128 points can carry.
NUM_WAVES = 64
# exp(-REACH² / 2) is below the rounding of float64: a Gaussian is zero beyond so many of its widths.
REACH = 8.5
# Shorter ones need more waves than memory should hold, longer ones are constants.
LENGTH_SCALES = (0.005, 100.0)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Waves:
    """Waves along one axis, bₖ(x) = √2 cos(ωₖ x − φₖ), or 1 where ωₖ = 0.

    Attributes:
        frequencies: The angular frequencies ω.
        phases: The phases φ: 0 for a cosine, π/2 for a sine.
    """

    frequencies: Float[np.ndarray, " mode"]
    phases: Float[np.ndarray, " mode"]

    def at(self, coordinates: Float[np.ndarray, " point"]) -> Float[np.ndarray, "point mode"]:
        """Evaluate every wave at every coordinate."""
        amplitudes = np.where(self.frequencies == 0.0, 1.0, np.sqrt(2.0))
        return amplitudes * np.cos(np.outer(coordinates, self.frequencies) - self.phases)


def periodic_waves(num_waves: int, period: float = 1.0) -> Waves:
    """Return the constant, then cosines and sines of the first ``num_waves`` multiples of 2π / period."""
    multiples = 2.0 * np.pi / period * np.arange(1, num_waves + 1)
    return Waves(
        frequencies=np.concatenate([[0.0], multiples, multiples]),
        phases=np.repeat([0.0, np.pi / 2.0], [num_waves + 1, num_waves]),
    )


def cosine_waves(num_waves: int) -> Waves:
    """Return the constant and the cosines of the first ``num_waves`` multiples of π: no slope at 0 and 1."""
    return Waves(frequencies=np.pi * np.arange(num_waves + 1), phases=np.zeros(num_waves + 1))


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class RandomField:
    """A zero-mean Gaussian random function g(x) = Σₖₗ σₖₗ zₖₗ bₖ(x₀) bₗ(x₁).

    Attributes:
        waves: The waves b along each axis.
        deviations: The standard deviations σ of the coefficients.
    """

    waves: tuple[Waves, Waves]
    deviations: Float[np.ndarray, "mode0 mode1"]

    def draw(self, rngs: Sequence[np.random.Generator]) -> Float[np.ndarray, "sample mode0 mode1"]:
        """Draw the coefficients σₖₗ zₖₗ of one function per generator."""
        return self.deviations * np.stack([rng.standard_normal(self.deviations.shape) for rng in rngs])

    def evaluate(
        self,
        coefficients: Float[np.ndarray, "sample mode0 mode1"],
        rows: Float[np.ndarray, " row"],
        columns: Float[np.ndarray, " column"],
    ) -> Float[np.ndarray, "sample row column"]:
        """Evaluate drawn functions on the grid of these coordinates along the first and the second axis."""
        return self.waves[0].at(rows) @ coefficients @ self.waves[1].at(columns).T


def periodic_field(*, alpha: float, tau: float) -> RandomField:
    """Return the periodic field whose covariance operator is 2τ^(2α−2) (−Δ + τ²)^(−α), without its mean.

    A Fourier mode of wave vector k has standard deviation √2 τ^(α−1) (4π²|k|² + τ²)^(−α/2).

    Args:
        alpha: Smoothness α; draws have a little less than α − 1 derivatives.
        tau: Inverse length τ; the spectrum is flat for angular frequencies below it.
    """
    return _power_law_field(periodic_waves(NUM_WAVES), np.sqrt(2.0), alpha, tau)


def neumann_field(*, alpha: float, tau: float) -> RandomField:
    """Return the field with covariance operator τ^(2α−2) (−Δ + τ²)^(−α) and no slope across the boundary.

    The product of cosines with k and l half-waves has standard deviation τ^(α−1) (π²(k² + l²) + τ²)^(−α/2).
    The mean is left out. The arguments are those of ``periodic_field``.
    """
    return _power_law_field(cosine_waves(2 * NUM_WAVES), 1.0, alpha, tau)


def _power_law_field(waves: Waves, factor: float, alpha: float, tau: float) -> RandomField:
    squares = waves.frequencies**2
    deviations = factor * tau ** (alpha - 1.0) * (squares[:, None] + squares + tau**2) ** (-alpha / 2.0)
    deviations[0, 0] = 0.0
    return RandomField(waves=(waves, waves), deviations=deviations)


def gaussian_process(length_scales: tuple[float, float]) -> RandomField:
    """Return the Gaussian process with kernel exp(−(x₀−y₀)²/2ℓ₀² − (x₁−y₁)²/2ℓ₁²) on the unit square.

    The kernel is a product, so an expansion along one axis at a time is enough; and each factor equals its
    periodic repetition, to rounding, when the period leaves a gap of several length-scales. By Poisson's
    summation formula the repetition is a sum of cosines with known positive coefficients. So the expansion is
    exact, where a covariance matrix of grid points is singular to rounding for a kernel this smooth and its
    factors, up to their signs, are whatever LAPACK makes of them.
    """
    check_length_scales(length_scales)
    first, second = (_squared_exponential_axis(length_scale) for length_scale in length_scales)
    return RandomField(waves=(first[0], second[0]), deviations=np.outer(first[1], second[1]))


def check_length_scales(length_scales: tuple[float, float]) -> None:
    """Refuse length-scales that a Gaussian process on the unit square cannot have."""
    shortest, longest = LENGTH_SCALES
    if not all(shortest <= length_scale <= longest for length_scale in length_scales):
        raise ValueError(
            f"A Gaussian process needs length-scales from {shortest} to {longest} times the side of the square; "
            f"got {length_scales[0]} and {length_scales[1]} times the side."
        )


def _squared_exponential_axis(length_scale: float) -> tuple[Waves, Float[np.ndarray, " mode"]]:
    """Return waves and deviations with Σₖ σₖ² bₖ(x) bₖ(y) = exp(−(x−y)²/2ℓ²) for x and y in [0, 1]."""
    period = 1.0 + REACH * length_scale
    waves = periodic_waves(int(np.ceil(REACH * period / (2.0 * np.pi * length_scale))), period)
    variances = np.sqrt(2.0 * np.pi) * length_scale / period * np.exp(-0.5 * (length_scale * waves.frequencies) ** 2)
    return waves, np.sqrt(variances)
