import numpy as np
import pytest

from gola.problems.burgers import NUM_GRID, TAU, Burgers, draw_velocity, solve_burgers
from gola.problems.periodic_problem import sample_series

GRID = np.arange(NUM_GRID) / NUM_GRID


def exact_velocity(time: float, viscosity: float, ratio: float = 1.5) -> np.ndarray:
    """Return u = −2ν φ_x / φ with φ = c + exp(−4π²νt) cos 2πx, by the transform of Cole and Hopf."""
    decay = np.exp(-4.0 * np.pi**2 * viscosity * time)
    wave = decay * np.cos(2.0 * np.pi * GRID)
    return 4.0 * np.pi * viscosity * decay * np.sin(2.0 * np.pi * GRID) / (ratio + wave)


def spectrum(values: np.ndarray) -> np.ndarray:
    return np.fft.rfft(values, norm="forward")[None]


@pytest.mark.parametrize("viscosity", [0.01, 0.05])
def test_the_solution_is_that_of_cole_and_hopf(viscosity: float) -> None:
    start = spectrum(exact_velocity(0.0, viscosity, 1.02))
    found = np.fft.irfft(solve_burgers(start, viscosity, 1.0)[0], norm="forward")
    np.testing.assert_allclose(found, exact_velocity(1.0, viscosity, 1.02), atol=1e-8)


def test_halving_the_time_step_divides_the_error_by_sixteen() -> None:
    start = spectrum(exact_velocity(0.0, 0.02, 1.1))
    exact = exact_velocity(1.0, 0.02, 1.1)
    errors = [
        np.abs(np.fft.irfft(solve_burgers(start, 0.02, 1.0, steps)[0], norm="forward") - exact).max()
        for steps in (25, 50, 100)
    ]
    assert np.log2(errors[0] / errors[2]) / 2.0 > 3.7


def test_a_coarser_grid_of_the_solver_changes_nothing_that_counts() -> None:
    start = np.stack([draw_velocity(np.random.default_rng(index)) for index in range(10)])
    coarse = solve_burgers(start[:, : 512 // 2 + 1], 0.01, 1.0)
    np.testing.assert_allclose(coarse[:, :170], solve_burgers(start, 0.01, 1.0)[:, :170], atol=1e-8)


def test_shifts_and_reflections_map_solutions_to_solutions() -> None:
    start = np.stack([draw_velocity(np.random.default_rng(0))])
    end = solve_burgers(start, 0.01, 1.0)
    turn = np.exp(-2j * np.pi * 0.3 * np.arange(start.shape[1]))
    np.testing.assert_allclose(solve_burgers(turn * start, 0.01, 1.0), turn * end, atol=1e-12)
    np.testing.assert_allclose(solve_burgers(-start.conj(), 0.01, 1.0), -end.conj(), atol=1e-12)
    assert Burgers.symmetries == ("-x",)


def test_velocities_steepen_on_the_way_down_and_energy_falls() -> None:
    sample = Burgers(resolution=512).generate(0, [1])[0]
    before, after = (np.diff(values[:, 0]) * 512 for values in (sample.inputs, sample.targets))
    assert np.square(sample.targets).sum() < np.square(sample.inputs).sum()
    assert -after.min() > 2.0 * after.max()
    assert after.max() <= before.max()


def test_initial_velocities_have_the_covariance_that_is_said() -> None:
    spectra = np.stack([draw_velocity(np.random.default_rng(index)) for index in range(500)])
    values = sample_series(spectra, 64, 1)
    expected = 2.0 * np.sum(1.0 / (1.0 + (2.0 * np.pi * np.arange(1, 41) / TAU) ** 2) ** 2)
    assert values.var() == pytest.approx(expected, rel=0.1)
    assert (spectra[:, 0] == 0.0).all()
