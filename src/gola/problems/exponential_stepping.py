"""Time stepping of stiff, diagonal systems: exponential time differencing of fourth order."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Complex, Float

# Points on the circle over which the coefficients are averaged; more change nothing but rounding.
_NUM_ON_CIRCLE = 32

Spectrum = Complex[np.ndarray, "*shape"]


def step_through(
    state: Spectrum,
    rates: Float[np.ndarray, "*mode"],
    change: Callable[[Spectrum], Spectrum],
    *,
    time: float,
    num_steps: int,
) -> Spectrum:
    """Integrate du/dt = L u + N(u) over a time, by ETDRK4 (Cox and Matthews, 2002).

    The linear part is integrated exactly, so that the step is limited by the nonlinear part alone. The coefficients are
    means over a circle in the complex plane, which avoids the cancellation in their formulae (Kassam and Trefethen,
    2005).

    Args:
        state: The coefficients u at the start.
        rates: The diagonal of L, real, which broadcasts against them.
        change: The nonlinear part N.
        time: How long to go.
        num_steps: In how many equal steps.
    """
    step = time / num_steps
    decay, half_decay = np.exp(step * rates), np.exp(0.5 * step * rates)
    half, first, middle, last = _coefficients(step, rates)
    for _ in range(num_steps):
        here = change(state)
        a = half_decay * state + half * here
        at_a = change(a)
        b = half_decay * state + half * at_a
        at_b = change(b)
        c = half_decay * a + half * (2.0 * at_b - here)
        state = decay * state + first * here + 2.0 * middle * (at_a + at_b) + last * change(c)
    return state


def _coefficients(step: float, rates: Float[np.ndarray, "*mode"]) -> tuple[Float[np.ndarray, "*mode"], ...]:
    """Return the weights of N at half a step, and of its values at the start, in the middle and at the end."""
    angles = np.pi * (np.arange(_NUM_ON_CIRCLE) + 0.5) / _NUM_ON_CIRCLE
    # The circle is symmetric about the real axis, so its upper half and real parts are enough.
    z = step * rates[..., None] + np.exp(1j * angles)

    def mean(values: Complex[np.ndarray, "*mode circle"]) -> Float[np.ndarray, "*mode"]:
        return step * values.mean(axis=-1).real

    half = mean((np.exp(z / 2.0) - 1.0) / z)
    first = mean((-4.0 - z + np.exp(z) * (4.0 - 3.0 * z + z**2)) / z**3)
    middle = mean((2.0 + z + np.exp(z) * (z - 2.0)) / z**3)
    last = mean((-4.0 - 3.0 * z - z**2 + np.exp(z) * (4.0 - z)) / z**3)
    return half, first, middle, last
