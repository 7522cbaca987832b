"""Functions that are orthonormal on a domain, made of waves on a larger box."""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from gola.geometry import Box, Domain
from gola.operators.spectral.transforms import domain_transform
from gola.operators.spectral.waves import evaluate_waves, wave_gradients, wave_gram, wave_numbers, waves_at

# Combinations of waves with a smaller share of their energy in the domain, compared with the best one, hardly live
# there: points in the domain cannot tell how much of them there is.
_SMALLEST_SHARE = 1e-6
# Boxes have their walls at multiples of this, so that random points of one domain have one box; points may lie outside
# by a quarter of it, so that rounding does not move a wall.
_BOX_STEP = 1.0 / 8.0


@dataclass(frozen=True, kw_only=True, eq=False)
class DomainBasis:
    r"""Slepian functions: the combinations of waves that are orthonormal on a domain, those that live there.

    With the Gram matrix of the waves on the domain, :math:`G = U D U^\top`, the functions are
    :math:`\psi_j = D_j^{-1/2} \sum_k U_{kj} \phi_k`. Waves on a box larger than the domain depend on each other in the
    domain, so D falls off steeply; functions that hardly live in the domain are left out. In the span of the others
    a fit at scattered points is a well-posed question, and the integrals over the domain of a function with
    coefficients b, times each wave, are :math:`T b` with :math:`T = U D^{1/2}`.

    Attributes:
        numbers: Wave numbers.
        sides: Sides of the box on which the waves are periodic.
        coefficients: :math:`U D^{-1/2}`, each function as a combination of waves.
        integrals: T, the mean over the domain of each wave times each function.
    """

    numbers: Int[np.ndarray, "mode dim"]
    sides: tuple[float, ...]
    coefficients: Float[np.ndarray, "wave function"]
    integrals: Float[np.ndarray, "wave function"]
    _waves: dict[torch.dtype, Tensor] = field(default_factory=dict, init=False, repr=False)

    @staticmethod
    def on(domain: Domain, *, num_modes: int, padding: float) -> "DomainBasis":
        """Make the basis of a domain.

        Args:
            domain: Where the functions are orthonormal.
            num_modes: Largest wave number.
            padding: Sides of the box of the waves, in units of the domain's sides or of 1, whichever is larger: waves
                in the unit frame are the same in all samples.
        """
        numbers = wave_numbers(num_modes, domain.dim)
        sides = tuple(float(padding * max(1.0, side)) for side in domain.upper - domain.lower)
        energies, vectors = np.linalg.eigh(wave_gram(domain_transform(domain, sides, 2 * num_modes), numbers))
        kept = energies > _SMALLEST_SHARE * energies[-1]
        roots = np.sqrt(energies[kept])
        return DomainBasis(
            numbers=numbers, sides=sides, coefficients=vectors[:, kept] / roots, integrals=vectors[:, kept] * roots
        )

    def evaluate(self, points: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, "point function"]:
        """Evaluate every function at every point."""
        return evaluate_waves(points.astype(np.float64), self.numbers, self.sides) @ self.coefficients

    def at(self, points: Float[Tensor, "point dim"]) -> Float[Tensor, "point function"]:
        """Evaluate every function at every point, differentiable in the points if that is asked for."""
        if points.requires_grad:
            waves = waves_at(points, self.numbers, self.sides)
            return waves @ torch.from_numpy(self.coefficients).to(waves)
        return torch.from_numpy(self.evaluate(points.cpu().numpy())).to(points.device)

    def gradients(self, points: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, "dim point function"]:
        """Evaluate the derivatives of every function along every axis at every point."""
        return wave_gradients(points.astype(np.float64), self.numbers, self.sides) @ self.coefficients

    def waves(self, dtype: torch.dtype) -> Float[Tensor, "wave function"]:
        """Return T as a tensor, the same one for all samples that share the basis."""
        if dtype not in self._waves:
            self._waves[dtype] = torch.from_numpy(self.integrals).to(dtype)
        return self._waves[dtype]

    @cached_property
    def roughness(self) -> Float[np.ndarray, "function function"]:
        r"""The quadratic form :math:`\sum_k (1 + |\omega_k|^2)^2 a_k^2` of a combination of the functions.

        Here a are the coefficients of its waves, and ω their frequencies in waves per unit length.
        """
        frequencies = np.linalg.norm(self.numbers / np.array(self.sides), axis=1)
        growth = np.tile((1.0 + frequencies**2) ** 2, 2)
        return self.coefficients.T @ (growth[:, None] * self.coefficients)


def box_basis(
    points: Float[np.ndarray, "point dim"], *, num_modes: int, padding: float, box: tuple[float, ...] | None = None
) -> DomainBasis:
    """Return the basis of a box, given by its corners one after the other; by default of the box around the points."""
    lower, upper = box_around(points) if box is None else (box[: len(box) // 2], box[len(box) // 2 :])
    return _cached_box_basis(lower, upper, num_modes, padding)


def box_around(points: Float[np.ndarray, "point dim"]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the corners of the box around the points, with walls at multiples of an eighth of a unit."""
    lower = np.floor(points.min(axis=0) / _BOX_STEP + 0.25) * _BOX_STEP
    upper = np.ceil(points.max(axis=0) / _BOX_STEP - 0.25) * _BOX_STEP
    # Points on a plane have no extent across it; any will do there.
    upper = np.where(upper > lower, upper, lower + _BOX_STEP)
    return tuple(lower.tolist()), tuple(upper.tolist())


# Samples share their box as a rule, and the eigenvectors of a thousand waves take a second.
@lru_cache(maxsize=16)
def _cached_box_basis(
    lower: tuple[float, ...], upper: tuple[float, ...], num_modes: int, padding: float
) -> DomainBasis:
    return DomainBasis.on(Box(lower=np.array(lower), upper=np.array(upper)), num_modes=num_modes, padding=padding)
