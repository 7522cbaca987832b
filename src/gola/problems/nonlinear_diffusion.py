"""Diffusion with a quadratic reaction: from the forcing to the concentration in space and time."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import ClassVar, final

import numpy as np
from jaxtyping import Float
from scipy.linalg import solve_banded

from gola.data.sample import Channel
from gola.problems.grid_problem import GridProblem
from gola.problems.random_fields import check_length_scales, gaussian_process

LENGTH = 2.0
DIFFUSIVITY = 1e-2
REACTION = 1e-2


@final
@dataclass(frozen=True, kw_only=True)
class NonlinearDiffusion(GridProblem):
    """Reaction and diffusion u_t = 10⁻² u_xx + 10⁻² u² + f; the operator maps the forcing f(x, t) to u(x, t).

    The first grid axis is x in [−1, 1], the second t in [0, 1]; u = 0 at both ends. The forcing is a Gaussian process
    with a squared-exponential kernel and unit variance.

    Attributes:
        length_scale: Length-scale of the forcing in x and in t, in the units of x and t.
        mean_forcing: Mean of the forcing. A mean gives all solutions a common part, and relative errors shrink by as
            much as that part is large.
        initial_height: Height h of the initial values u(x, 0) = h cos(π x / 2), the same in all samples.
    """

    name: ClassVar[str] = "nonlinear_diffusion"
    title: ClassVar[str] = "Nonlinear diffusion"
    equation: ClassVar[str] = (
        "u_t = 10⁻² u_xx + 10⁻² u² + f for x in [−1, 1] and t in [0, 1], u = 0 at x = ±1 and t = 0"
    )
    inputs: ClassVar[tuple[Channel, ...]] = (Channel(name="forcing"),)
    targets: ClassVar[tuple[Channel, ...]] = (Channel(name="concentration"),)
    symmetries: ClassVar[tuple[str, ...]] = ("-xy",)

    length_scale: float = 0.2
    mean_forcing: float = 0.0
    initial_height: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_length_scales(self._length_scales)
        for name in ("mean_forcing", "initial_height"):
            if not isfinite(getattr(self, name)):
                raise ValueError(f"nonlinear_diffusion needs a finite {name}; got {getattr(self, name)}.")

    @property
    def _length_scales(self) -> tuple[float, float]:
        """As fractions of the domain in x and in t."""
        return self.length_scale / LENGTH, self.length_scale

    def simulate(
        self, rngs: Sequence[np.random.Generator]
    ) -> tuple[Float[np.ndarray, "sample row column"], Float[np.ndarray, "sample row column"]]:
        """Draw the forcings, and step through time."""
        field = gaussian_process(self._length_scales)
        forcings = self.mean_forcing + field.evaluate(field.draw(rngs), self.coordinates, self.coordinates)
        initial = self.initial_height * np.sin(np.pi * self.coordinates)
        return forcings, solve_diffusion(forcings, initial)


def solve_diffusion(
    forcings: Float[np.ndarray, "sample x t"], initial: Float[np.ndarray, " x"] | None = None
) -> Float[np.ndarray, "sample x t"]:
    """Solve u_t = ν u_xx + ρ u² + f on [−1, 1] × [0, 1] with u = 0 at x = ±1, ν = ρ = 10⁻².

    Diffusion and forcing are averaged over a step (Crank–Nicolson), and the reaction is linearised as
    u² ≈ u(t) u(t + Δt), so a step is linear and of second order in both spacings:

        (1/Δt − ν/2 ∂ₓₓ − ρ u) u⁺ = (1/Δt + ν/2 ∂ₓₓ) u + (f + f⁺)/2

    One step per time level: f between the levels is unknown to an operator too, and on the default 128 × 128 grid
    the error against an eight times finer one is 0.06 %.

    Args:
        forcings: The forcing f of each sample.
        initial: Values of u at t = 0, those at both ends not counting; None for zero.
    """
    num_samples, num_x, num_t = forcings.shape
    solutions = np.zeros_like(forcings)
    if initial is not None:
        solutions[:, 1:-1, 0] = initial[1:-1]
    step = 1.0 / (num_t - 1)
    mobility = 0.5 * DIFFUSIVITY * ((num_x - 1) / LENGTH) ** 2
    matrix = _tridiagonal(num_samples, num_x - 2, mobility)
    for level in range(num_t - 1):
        current, interior = solutions[:, :, level], solutions[:, 1:-1, level]
        mean_forcing = 0.5 * (forcings[:, 1:-1, level] + forcings[:, 1:-1, level + 1])
        diffusion = mobility * (current[:, 2:] - 2.0 * interior + current[:, :-2])
        matrix[1] = (1.0 / step + 2.0 * mobility - REACTION * interior).ravel()
        right = (interior / step + diffusion + mean_forcing).ravel()
        following = solve_banded((1, 1), matrix, right, check_finite=False)
        solutions[:, 1:-1, level + 1] = following.reshape(num_samples, -1)
    return solutions


def _tridiagonal(num_samples: int, num_interior: int, mobility: float) -> Float[np.ndarray, "3 unknown"]:
    """Lay out one tridiagonal matrix in LAPACK's band form: the samples follow one another, uncoupled."""
    bands = np.full((3, num_samples, num_interior), -mobility)
    bands[0, :, 0] = 0.0
    bands[2, :, -1] = 0.0
    return bands.reshape(3, -1)
