"""What a cloud carries for operators that work on waves: how the points of a sample see the functions of its domain."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, kw_only=True, eq=False)
class Spectrum:
    r"""Functions that are orthonormal on the domain of one sample, and the way to and from them.

    A function known at the points, h, has the coefficients :math:`b = A h` and the integrals :math:`T b` over the
    domain with each wave, and is :math:`\Psi b` at the points. Made by ``gola.operators.spectral``.

    Attributes:
        functions: Ψ, every function at every point.
        analysis: A, from values at the points to coefficients.
        waves: T, the mean over the domain of every wave times every function: all cosines, then all sines.
        evaluate: Returns the functions at any other points, in float64.
    """

    functions: Float[Tensor, "point function"]
    analysis: Float[Tensor, "function point"]
    waves: Float[Tensor, "wave function"]
    evaluate: Callable[[Float[np.ndarray, "query dim"]], Float[np.ndarray, "query function"]]

    def to(self, device: torch.device | str) -> "Spectrum":
        """Return this spectrum on another device."""
        return replace(
            self,
            functions=self.functions.to(device),
            analysis=self.analysis.to(device),
            waves=self.waves.to(device),
        )
