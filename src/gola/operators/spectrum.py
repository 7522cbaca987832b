"""What a cloud carries for operators that work on waves: how the points of a sample see the functions of its domain."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor


@runtime_checkable
class FunctionBasis(Protocol):
    """Functions that can be evaluated anywhere, in float64."""

    def evaluate(self, points: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, "point function"]:
        """Return every function at every point."""

    def at(self, points: Float[Tensor, "point dim"]) -> Float[Tensor, "point function"]:
        """Return every function at every point, differentiable in the points."""

    def gradients(self, points: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, "dim point function"]:
        """Return the derivatives of every function along every axis at every point."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Spectrum:
    r"""Functions that are orthonormal on the domain of one sample, and the way to and from them.

    A function known at the points, h, has the coefficients :math:`b = A h` and the integrals :math:`T b` over the
    domain with each wave, and is :math:`\Psi b` at the points. Made by ``gola.operators.spectral``.

    Attributes:
        functions: Ψ, every function at every point.
        analysis: A, from values at the points to coefficients.
        waves: T, the mean over the domain of every wave times every function: all cosines, then all sines.
        basis: The functions, at any other points.
    """

    functions: Float[Tensor, "point function"]
    analysis: Float[Tensor, "function point"]
    waves: Float[Tensor, "wave function"]
    basis: FunctionBasis

    def to(self, device: torch.device | str) -> "Spectrum":
        """Return this spectrum on another device."""
        return replace(
            self,
            functions=self.functions.to(device),
            analysis=self.analysis.to(device),
            waves=self.waves.to(device),
        )


def by_basis(spectra: Sequence[Spectrum]) -> list[list[int]]:
    """Return the numbers of the samples that share their functions, and so their waves: they go through them together.

    One product of matrices for all of them is faster than a narrow one for each.
    """
    groups: dict[int, list[int]] = {}
    for number, spectrum in enumerate(spectra):
        groups.setdefault(id(spectrum.basis), []).append(number)
    return list(groups.values())
