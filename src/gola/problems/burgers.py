"""The viscous Burgers equation on a periodic line: from the initial velocity to a later one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from jaxtyping import Complex, Float

from gola.data.periods import Periods
from gola.data.sample import Channel
from gola.problems.exponential_stepping import step_through
from gola.problems.periodic_problem import PeriodicProblem
from gola.problems.random_fields import periodic_waves

# Initial velocities have the covariance operator σ² (1 − Δ/τ²)^(−2), without their mean, for so many waves.
DEVIATION = 1.0
TAU = 5.0
NUM_INITIAL_WAVES = 40
# Points of the solver's grid. Waves up to a third of them are kept, so that products of two are free of aliasing.
NUM_GRID = 768
# Stable for the fastest of the initial velocities.
STEPS_PER_TIME = 1000


@final
@dataclass(frozen=True, kw_only=True)
class Burgers(PeriodicProblem):
    """Viscous Burgers equation u_t + u u_x = ν u_xx for x in [0, 1), periodic; from u at time 0 to u at a later time.

    The initial velocity is a Gaussian random function. It steepens into fronts of width ν / |u|, which merge. A
    reflection maps solutions to solutions, with the sign of the velocity changed, and so does any shift.
    """

    name: ClassVar[str] = "burgers"
    title: ClassVar[str] = "Viscous Burgers equation"
    equation: ClassVar[str] = "u_t + u u_x = ν u_xx for x in [0, 1), periodic"
    inputs: ClassVar[tuple[Channel, ...]] = (Channel(name="initial_velocity_x"),)
    targets: ClassVar[tuple[Channel, ...]] = (Channel(name="final_velocity_x"),)
    symmetries: ClassVar[tuple[str, ...]] = ("-x",)
    dim: ClassVar[int] = 1
    periods: ClassVar[Periods | None] = (1.0,)
    chunk_size: ClassVar[int] = 25
    min_viscosity: ClassVar[float] = 0.002

    resolution: int = 256
    viscosity: float = 0.01
    time: float = 1.0

    def simulate(
        self, rngs: Sequence[np.random.Generator]
    ) -> tuple[Complex[np.ndarray, "sample wave"], Complex[np.ndarray, "sample wave"]]:
        """Draw the initial velocities, and solve."""
        start = np.stack([draw_velocity(rng) for rng in rngs])
        return start, solve_burgers(start, self.viscosity, self.time)


def draw_velocity(rng: np.random.Generator) -> Complex[np.ndarray, " wave"]:
    """Draw a function from the periodic Gaussian process with covariance operator σ² (1 − Δ/τ²)^(−2), less its mean."""
    waves = periodic_waves(NUM_INITIAL_WAVES)
    coefficients = DEVIATION / (1.0 + (waves.frequencies / TAU) ** 2) * rng.standard_normal(len(waves.frequencies))
    cosines, sines = coefficients[1 : NUM_INITIAL_WAVES + 1], coefficients[NUM_INITIAL_WAVES + 1 :]
    spectrum = np.zeros(NUM_GRID // 2 + 1, dtype=complex)
    # √2 (a cos + b sin) is (a − ib) / √2 times a complex exponential, and its conjugate.
    spectrum[1 : NUM_INITIAL_WAVES + 1] = (cosines - 1j * sines) / np.sqrt(2.0)
    return spectrum


def solve_burgers(
    start: Complex[np.ndarray, "sample wave"], viscosity: float, time: float, num_steps: int | None = None
) -> Complex[np.ndarray, "sample wave"]:
    """Solve u_t + (u²/2)_x = ν u_xx from Fourier coefficients at time 0.

    Args:
        start: The coefficients, as of ``np.fft.rfft``.
        viscosity: The viscosity ν.
        time: The final time.
        num_steps: Time steps; by default as many as the initial velocities of the problem ask for.
    """
    num_waves = start.shape[-1]
    num_grid = 2 * (num_waves - 1)
    wave_numbers = 2.0 * np.pi * np.arange(num_waves)
    slope = np.where(np.arange(num_waves) <= num_grid // 3, -0.5j * wave_numbers, 0.0)

    def transport(spectra: Complex[np.ndarray, "sample wave"]) -> Complex[np.ndarray, "sample wave"]:
        velocity: Float[np.ndarray, "sample place"] = np.fft.irfft(spectra, num_grid, norm="forward")
        return slope * np.fft.rfft(velocity**2, norm="forward")

    rates = -viscosity * wave_numbers**2
    return step_through(start, rates, transport, time=time, num_steps=num_steps or max(1, round(STEPS_PER_TIME * time)))
