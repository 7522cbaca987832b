r"""Evolution equations on a periodic line, solved by Fourier series.

.. math:: u_t = s + a u + b u_x + c u_{xx} + d u_{xxx} - e u_{xxxx} + (f u^2 + g u^3)_x + p u^2 + q u^3

Among them are the heat equation, advection, those of Burgers, Korteweg–de Vries, Kuramoto–Sivashinsky, Fisher and
Allen–Cahn. The unit of time is what passes from the input to the solution; the unit of length is the period.
"""

import math
from typing import Final

import torch
from jaxtyping import Complex, Float
from torch import Tensor

TERMS: Final = ("source", "growth", "transport", "diffusion", "dispersion", "biharmonic", "flux2", "flux3", "square",
                "cube")  # fmt: skip
"""Names of the coefficients s, a, b, c, d, e, f, g, p, q, in this order."""
LINEAR = slice(1, 6)
NONLINEAR: Final = ("flux2", "flux3", "square", "cube")

# Radians by which the fastest wave turns in a time step: those of Runge and Kutta are stable up to 2.8.
_COURANT = 2.0
_LEAST_STEPS = 16
MOST_STEPS = 4000
"""Equations that take more steps are not solved."""
# No wave grows by more than e to this power: others would leave the range of numbers.
_LARGEST_GROWTH = 10.0


def resampled(values: Float[Tensor, "row node"], count: int) -> Float[Tensor, "row other_node"]:
    """Return trigonometric polynomials at another number of nodes; waves that these do not have are left out."""
    spectrum = torch.fft.rfft(values, norm="forward")
    kept = min((values.shape[1] + 1) // 2, (count + 1) // 2)
    padded = spectrum.new_zeros(len(values), count // 2 + 1)
    padded = torch.cat([spectrum[:, :kept], padded[:, kept:]], dim=1)
    return torch.fft.irfft(padded, count, norm="forward")


def num_steps(
    coefficients: Float[Tensor, "row term"], largest: Float[Tensor, " row"], count: int
) -> Float[Tensor, " row"]:
    """Return how many time steps each row takes on a grid, from the largest value of its start."""
    sources, _, _, _, _, _, flux, cubic_flux, square, cube = coefficients.abs().unbind(dim=1)
    sizes = largest + sources
    slopes = 2.0 * sizes, 3.0 * sizes.square()
    rates = _largest_wave(count) * (flux * slopes[0] + cubic_flux * slopes[1]) + square * slopes[0] + cube * slopes[1]
    return (rates / _COURANT).ceil().clamp(min=_LEAST_STEPS)


def evolved(
    starts: Float[Tensor, "row node"], coefficients: Float[Tensor, "row term"], steps: int
) -> Float[Tensor, "row node"]:
    """Return the states after a unit of time: Runge–Kutta steps of fourth order with integrating factors.

    Args:
        starts: States at the nodes of an equispaced grid.
        coefficients: Of the equation of each row.
        steps: Number of time steps.
    """
    count = starts.shape[1]
    waves = _waves(count, starts)
    kept = (waves <= _largest_wave(count)).to(starts.dtype)
    half = torch.exp(symbols(coefficients, waves) * (0.5 / steps))
    whole = half * half
    state = torch.fft.rfft(starts, norm="forward") * kept
    for _ in range(steps):
        first = _rates(state, coefficients, waves, kept) / steps
        second = _rates(half * (state + 0.5 * first), coefficients, waves, kept) / steps
        third = _rates(half * state + 0.5 * second, coefficients, waves, kept) / steps
        fourth = _rates(whole * state + half * third, coefficients, waves, kept) / steps
        state = whole * (state + first / 6.0) + half * (second + third) / 3.0 + fourth / 6.0
    return torch.fft.irfft(state, count, norm="forward")


def symbols(coefficients: Float[Tensor, "row term"], waves: Float[Tensor, " wave"]) -> Complex[Tensor, "row wave"]:
    """Return the rate at which the linear part of each equation makes each wave grow and turn."""
    growth, transport, diffusion, dispersion, biharmonic = (
        column[:, None] for column in coefficients[:, LINEAR].unbind(dim=1)
    )
    real = growth - diffusion * waves**2 - biharmonic * waves**4
    return torch.complex(real.clamp(max=_LARGEST_GROWTH), transport * waves - dispersion * waves**3)


def terms_of(states: Float[Tensor, "row node"]) -> Float[Tensor, "term row node"]:
    """Evaluate each term of the equation with a coefficient of 1."""
    count = states.shape[1]
    waves = 1j * _waves(count, states)

    def derived(values: Float[Tensor, "row node"], order: int) -> Float[Tensor, "row node"]:
        return torch.fft.irfft(waves**order * torch.fft.rfft(values), count)

    linear = [derived(states, order) for order in (1, 2, 3)]
    fluxes = [derived(states**power, 1) for power in (2, 3)]
    return torch.stack([torch.ones_like(states), states, *linear, -derived(states, 4), *fluxes, states**2, states**3])


def _rates(
    state: Complex[Tensor, "row wave"],
    coefficients: Float[Tensor, "row term"],
    waves: Float[Tensor, " wave"],
    kept: Float[Tensor, " wave"],
) -> Complex[Tensor, "row wave"]:
    """Return how fast states change by sources and by terms that are not linear."""
    source, flux, cubic_flux, square, cube = (coefficients[:, term, None] for term in (0, 6, 7, 8, 9))
    values = torch.fft.irfft(state, 2 * (len(waves) - 1), norm="forward")
    squares = values.square()
    # Horner's scheme: a product takes a third of the time of a power.
    inside = torch.fft.rfft(squares * (flux + cubic_flux * values), norm="forward")
    local = torch.fft.rfft(source + squares * (square + cube * values), norm="forward")
    return kept * (1j * waves * inside + local)


def _waves(count: int, like: Tensor) -> Float[Tensor, " wave"]:
    return 2.0 * math.pi * torch.arange(count // 2 + 1, dtype=like.dtype, device=like.device)


def _largest_wave(count: int) -> float:
    """Return the largest wave that is kept: products of two waves then alias to none of these."""
    return 2.0 * math.pi * (count // 3)
