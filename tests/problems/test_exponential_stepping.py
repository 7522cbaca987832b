import numpy as np
import pytest

from gola.problems.exponential_stepping import step_through

RATES = np.array([-0.3, 0.0, 1e-9, -2.0])


def logistic(state: np.ndarray) -> np.ndarray:
    return -(state**2)


def exact_logistic(start: np.ndarray, time: float) -> np.ndarray:
    """Solve u' = λu − u²."""
    growth = np.where(np.abs(RATES) < 1e-6, time, np.expm1(RATES * time) / np.where(RATES == 0.0, 1.0, RATES))
    return np.exp(RATES * time) * start / (1.0 + start * growth)


def test_halving_the_step_divides_the_error_by_sixteen() -> None:
    start = np.array([0.7, 0.5, 0.4, 0.9], dtype=complex)
    exact = exact_logistic(start, 2.0)
    errors = [
        np.abs(step_through(start, RATES, logistic, time=2.0, num_steps=num_steps) - exact) for num_steps in (4, 8, 16)
    ]
    orders = np.log2(np.divide(errors[0], errors[2])) / 2.0
    assert (orders > 3.7).all()
    assert np.max(errors[2]) < 1e-5


def test_the_linear_part_is_exact_however_stiff() -> None:
    rates = np.array([-1e8, -1.0, 0.0, 2.0])
    found = step_through(np.ones(4, dtype=complex), rates, np.zeros_like, time=3.0, num_steps=2)
    np.testing.assert_allclose(found, np.exp(3.0 * rates), rtol=1e-12, atol=1e-300)


def test_a_constant_forcing_is_integrated_exactly() -> None:
    rates = np.array([-50.0, -1e-7, 0.0])
    found = step_through(np.zeros(3, dtype=complex), rates, np.ones_like, time=1.0, num_steps=3)
    expected = [-np.expm1(-50.0) / 50.0, 1.0 - 0.5e-7, 1.0]
    assert found.real == pytest.approx(expected, rel=1e-12)
