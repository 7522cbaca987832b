"""Plane flow on a periodic square: from the initial vorticity to a later one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from jaxtyping import Complex, Float

from gola.data.periods import Periods
from gola.data.sample import Channel
from gola.problems.exponential_stepping import step_through
from gola.problems.periodic_problem import PeriodicProblem

# The spectrum of the initial vorticity falls off beyond wave number TAU like a power, and ends at so many waves.
ALPHA = 4.0
TAU = 8.0
NUM_INITIAL_WAVES = 12
# Points of the solver's grid along each axis. Waves up to a third of them are kept, against aliasing.
NUM_GRID = 96
STEPS_PER_TIME = 25
# By how much a mean square may seem to rise within a time so short that it hardly falls.
_ROUNDING = 1e-9


@final
@dataclass(frozen=True, kw_only=True)
class Vorticity(PeriodicProblem):
    """Navier–Stokes ω_t + u·∇ω = νΔω on [0, 1)², periodic; from the vorticity ω at time 0 to that at a later time.

    The velocity is u = (ψ_y, −ψ_x) with −Δψ = ω, so that ω = v_x − u_y. The initial vorticity is a Gaussian random
    function of unit variance: a vortex turns by about half a radian in a unit of time, and as time goes on vortices
    of equal sign wind up around each other.

    Quarter turns map solutions to solutions, and so do shifts. A reflection changes the sign of ω as well.
    """

    name: ClassVar[str] = "vorticity"
    title: ClassVar[str] = "Vorticity of plane flow"
    equation: ClassVar[str] = "ω_t + u·∇ω = νΔω, u = (ψ_y, −ψ_x), −Δψ = ω on [0, 1)², periodic"
    inputs: ClassVar[tuple[Channel, ...]] = (Channel(name="initial_vorticity"),)
    targets: ClassVar[tuple[Channel, ...]] = (Channel(name="final_vorticity"),)
    symmetries: ClassVar[tuple[str, ...]] = ("-yx",)
    dim: ClassVar[int] = 2
    periods: ClassVar[Periods | None] = (1.0, 1.0)
    min_viscosity: ClassVar[float] = 5e-4

    resolution: int = 64
    viscosity: float = 1e-3
    time: float = 3.0

    def simulate(
        self, rngs: Sequence[np.random.Generator]
    ) -> tuple[Complex[np.ndarray, "sample row wave"], Complex[np.ndarray, "sample row wave"]]:
        """Draw the initial vorticities, and solve."""
        start = np.stack([draw_vorticity(rng) for rng in rngs])
        return start, stably_solved(start, self.viscosity, self.time)


def draw_vorticity(rng: np.random.Generator) -> Complex[np.ndarray, "row wave"]:
    """Draw a periodic Gaussian function of unit variance with spectrum (|k|² + τ²)^(−α), less its mean."""
    kept = np.arange(-NUM_INITIAL_WAVES, NUM_INITIAL_WAVES + 1)
    squares = (2.0 * np.pi) ** 2 * (kept[:, None] ** 2 + kept**2)
    deviations = np.where(squares > 0.0, (squares + TAU**2) ** (-ALPHA / 2.0), 0.0)
    deviations /= np.sqrt(np.square(deviations).sum())
    real, imaginary = rng.standard_normal((2, *deviations.shape))
    coefficients = deviations * (real + 1j * imaginary)
    # The real part of a complex function: the mean with the conjugate at the opposite wave vector.
    coefficients = 0.5 * (coefficients + coefficients[::-1, ::-1].conj())
    spectrum = np.zeros((NUM_GRID, NUM_GRID // 2 + 1), dtype=complex)
    spectrum[kept, : NUM_INITIAL_WAVES + 1] = coefficients[:, NUM_INITIAL_WAVES:]
    return spectrum


def stably_solved(
    start: Complex[np.ndarray, "sample row wave"], viscosity: float, time: float
) -> Complex[np.ndarray, "sample row wave"]:
    """Solve with as many time steps as it takes, which is more than usual for a few strong vortices.

    The mean square of the vorticity falls with time. Where it rises, the steps were too long to be stable, and the
    sample is solved again with steps of half the length.
    """
    num_steps, found = max(1, round(STEPS_PER_TIME * time)), np.full_like(start, np.nan)
    rows = np.arange(len(start))
    while len(rows):
        # Samples that are given up overflow on the way.
        with np.errstate(over="ignore", invalid="ignore"):
            found[rows] = solve_vorticity(start[rows], viscosity, time, num_steps)
            is_stable = _mean_squares(found[rows]) <= (1.0 + _ROUNDING) * _mean_squares(start[rows])
        rows, num_steps = rows[~is_stable], 2 * num_steps
    return found


def _mean_squares(spectra: Complex[np.ndarray, "sample row wave"]) -> Float[np.ndarray, " sample"]:
    """Return the mean square of real functions; all waves but the first column stand for their conjugates too."""
    squares = np.square(np.abs(spectra))
    return squares[:, :, 0].sum(axis=1) + 2.0 * squares[:, :, 1:].sum(axis=(1, 2))


def solve_vorticity(
    start: Complex[np.ndarray, "sample row wave"], viscosity: float, time: float, num_steps: int | None = None
) -> Complex[np.ndarray, "sample row wave"]:
    """Solve ω_t + u·∇ω = νΔω from Fourier coefficients at time 0.

    Args:
        start: The coefficients, as of ``np.fft.rfft2``.
        viscosity: The viscosity ν.
        time: The final time.
        num_steps: Time steps; by default as many as the initial vorticities of the problem ask for.
    """
    num_grid = start.shape[1]
    first = np.fft.fftfreq(num_grid, 1.0 / num_grid)[:, None]
    second = np.arange(start.shape[2])
    kept = (np.abs(first) <= num_grid // 3) & (second <= num_grid // 3)
    along_x, along_y = 2j * np.pi * first, 2j * np.pi * second
    squares = (2.0 * np.pi) ** 2 * (first**2 + second**2)
    inverse = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0.0)

    def fields(spectra: Complex[np.ndarray, "sample row wave"]) -> Float[np.ndarray, "sample row column"]:
        return np.fft.irfft2(spectra, (num_grid, num_grid), norm="forward")

    def transport(spectra: Complex[np.ndarray, "sample row wave"]) -> Complex[np.ndarray, "sample row wave"]:
        stream, vorticity = inverse * spectra, fields(spectra)
        flux_x = np.fft.rfft2(fields(along_y * stream) * vorticity, norm="forward")
        flux_y = np.fft.rfft2(fields(along_x * stream) * vorticity, norm="forward")
        # The velocity is (ψ_y, −ψ_x) and free of divergence, so that transport is −∇·(uω).
        return np.where(kept, along_y * flux_y - along_x * flux_x, 0.0)

    num_steps = num_steps or max(1, round(STEPS_PER_TIME * time))
    return step_through(start, -viscosity * squares, transport, time=time, num_steps=num_steps)
