import numpy as np
import pytest

from gola.problems.periodic_problem import sample_series
from gola.problems.vorticity import NUM_GRID, Vorticity, draw_vorticity, solve_vorticity, stably_solved


def draws(num_draws: int) -> np.ndarray:
    return np.stack([draw_vorticity(np.random.default_rng(index)) for index in range(num_draws)])


def on_grid(spectra: np.ndarray) -> np.ndarray:
    return np.fft.irfft2(spectra, (NUM_GRID, NUM_GRID), norm="forward")


def central(values: np.ndarray, axis: int) -> np.ndarray:
    """Return fourth-order differences on the periodic grid."""
    ahead, behind = (np.roll(values, -shift, axis) for shift in (1, -1))
    two_ahead, two_behind = (np.roll(values, -shift, axis) for shift in (2, -2))
    return (8.0 * (ahead - behind) - (two_ahead - two_behind)) * NUM_GRID / 12.0


def test_vortices_of_a_grid_decay_where_they_are() -> None:
    # Taylor and Green: ω is a function of ψ, so that transport vanishes and only viscosity acts.
    x, y = np.meshgrid(*[np.arange(NUM_GRID) / NUM_GRID] * 2, indexing="ij")
    start = np.cos(2.0 * np.pi * x) * np.cos(2.0 * np.pi * y)
    end = solve_vorticity(np.fft.rfft2(start, norm="forward")[None], 0.01, 2.0)
    np.testing.assert_allclose(on_grid(end)[0], np.exp(-8.0 * np.pi**2 * 0.01 * 2.0) * start, atol=1e-12)


def test_the_equation_holds_by_differences_in_space_and_time() -> None:
    viscosity, moment = 1e-3, 1e-3
    start = draws(1)
    before, middle, after = (on_grid(solve_vorticity(start, viscosity, time, 20))[0] for time in (0.2, 0.201, 0.202))
    frequencies = np.fft.fftfreq(NUM_GRID, 1.0 / NUM_GRID)
    squares = 4.0 * np.pi**2 * (frequencies[:, None] ** 2 + frequencies**2)
    squares[0, 0] = np.inf
    stream = np.fft.ifft2(np.fft.fft2(middle) / squares).real
    velocity = central(stream, 1), -central(stream, 0)
    laplacian = central(central(middle, 0), 0) + central(central(middle, 1), 1)
    transport = velocity[0] * central(middle, 0) + velocity[1] * central(middle, 1)
    change = (after - before) / (2.0 * moment)
    np.testing.assert_allclose(change, viscosity * laplacian - transport, atol=5e-4 * np.abs(change).max())


def test_halving_the_time_step_divides_the_error_by_sixteen() -> None:
    start = draws(2)[:, :, :]
    exact = solve_vorticity(start, 1e-3, 2.0, 320)
    errors = [np.abs(solve_vorticity(start, 1e-3, 2.0, steps) - exact).max() for steps in (20, 40, 80)]
    assert np.log2(errors[0] / errors[2]) / 2.0 > 3.7


def test_energy_and_enstrophy_are_kept_without_viscosity() -> None:
    start = draws(1)
    end = solve_vorticity(start, 0.0, 1.0)
    frequencies = np.fft.fftfreq(NUM_GRID, 1.0 / NUM_GRID)
    squares = frequencies[:, None] ** 2 + np.arange(start.shape[2]) ** 2
    squares[0, 0] = np.inf

    def integrals(spectra: np.ndarray) -> list[float]:
        # Waves with a last component of 0 stand for themselves, all others for their conjugates as well.
        powers = np.square(np.abs(spectra[0])) * np.where(np.arange(start.shape[2]) > 0, 2.0, 1.0)
        return [float(powers.sum()), float((powers / squares).sum())]

    np.testing.assert_allclose(integrals(end), integrals(start), rtol=1e-5)


def test_shifts_map_solutions_to_solutions() -> None:
    start = draws(1)
    first = np.fft.fftfreq(NUM_GRID, 1.0 / NUM_GRID)[:, None]
    turn = np.exp(-2j * np.pi * (0.3 * first + 0.45 * np.arange(start.shape[2])))
    expected = turn * solve_vorticity(start, 1e-3, 1.0)
    np.testing.assert_allclose(solve_vorticity(turn * start, 1e-3, 1.0), expected, atol=1e-12)


def test_a_reflection_changes_the_sign_and_is_no_symmetry_of_the_field_itself() -> None:
    start = draws(1)
    mirrored = np.fft.rfft2(on_grid(start)[:, np.arange(NUM_GRID) * -1 % NUM_GRID], norm="forward")
    end = on_grid(solve_vorticity(start, 1e-3, 1.0))[:, np.arange(NUM_GRID) * -1 % NUM_GRID]
    np.testing.assert_allclose(on_grid(solve_vorticity(-mirrored, 1e-3, 1.0)), -end, atol=1e-12)
    assert not np.allclose(on_grid(solve_vorticity(mirrored, 1e-3, 1.0)), end, atol=0.1)
    assert Vorticity.symmetries == ("-yx",)


def test_initial_vorticity_has_unit_variance_and_no_mean() -> None:
    values = sample_series(draws(200), 24, 2)
    assert values.var() == pytest.approx(1.0, rel=0.1)
    np.testing.assert_allclose(values.mean(axis=(1, 2)), 0.0, atol=1e-12)


def test_strong_vortices_are_solved_with_shorter_steps() -> None:
    start = 2.5 * draws(3)
    with np.errstate(over="ignore", invalid="ignore"):
        assert not np.isfinite(solve_vorticity(start, 1e-3, 2.0)).all()
    exact = solve_vorticity(start, 1e-3, 2.0, 800)
    found = stably_solved(start, 1e-3, 2.0)
    assert np.abs(on_grid(found) - on_grid(exact)).max() < 0.01 * np.abs(on_grid(exact)).max()


def test_weak_vortices_are_solved_as_ever() -> None:
    start = draws(2)
    assert np.array_equal(stably_solved(start, 1e-3, 1.0), solve_vorticity(start, 1e-3, 1.0))
