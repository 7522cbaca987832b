import numpy as np
import pytest
from numpy import pi

from gola.problems.nonlinear_diffusion import NonlinearDiffusion, solve_diffusion


def manufactured(num_x: int, num_t: int, size: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return f and u = size·sin(πx) sin(2t) of the equation."""
    x, t = np.linspace(-1.0, 1.0, num_x)[:, None], np.linspace(0.0, 1.0, num_t)
    u = size * np.sin(pi * x) * np.sin(2.0 * t)
    u_t = 2.0 * size * np.sin(pi * x) * np.cos(2.0 * t)
    return u_t + 1e-2 * pi**2 * u - 1e-2 * u**2, u


def solver_error(num_x: int, num_t: int, size: float = 1.0) -> float:
    f, u = manufactured(num_x, num_t, size)
    return float(np.abs(solve_diffusion(f[None])[0] - u).max() / size)


# At a size of 30 the reaction is as strong as the other terms, so a wrong linearisation would show.
@pytest.mark.parametrize("size", [1.0, 30.0])
def test_doubling_the_resolution_quarters_the_error(size: float) -> None:
    errors = [solver_error(resolution, resolution, size) for resolution in (17, 33, 65, 129)]
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.1)
    assert errors[-1] < 2e-4


def test_halving_the_time_step_alone_quarters_the_error_of_a_fine_grid() -> None:
    errors = [solver_error(1025, num_t) for num_t in (9, 17, 33)]
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.1)


def test_samples_solved_together_do_not_see_each_other() -> None:
    f = np.random.default_rng(0).standard_normal((3, 20, 20))
    together = solve_diffusion(f)
    for index in range(3):
        np.testing.assert_array_equal(solve_diffusion(f[index : index + 1])[0], together[index])


def test_concentration_vanishes_at_both_ends_and_at_the_start_only() -> None:
    u = NonlinearDiffusion(resolution=32).generate(0, [0])[0].targets.reshape(32, 32)
    assert (u[0] == 0.0).all()
    assert (u[-1] == 0.0).all()
    assert (u[:, 0] == 0.0).all()
    assert (u[1:-1, 1:] != 0.0).all()


def test_forcing_has_unit_variance_and_its_length_scale_in_the_units_of_x_and_t() -> None:
    samples = NonlinearDiffusion(resolution=21).generate(0, range(1000))
    f = np.array([sample.inputs.reshape(21, 21) for sample in samples])
    assert f.std() == pytest.approx(1.0, abs=0.03)
    # Two cells are 0.2 in x and 0.1 in t.
    assert np.mean(f[:, 2:] * f[:, :-2]) == pytest.approx(np.exp(-0.5), abs=0.03)
    assert np.mean(f[:, :, 2:] * f[:, :, :-2]) == pytest.approx(np.exp(-0.125), abs=0.03)


@pytest.mark.parametrize("length_scale", [0.0, -0.1, float("nan")])
def test_an_impossible_length_scale_is_refused_at_once(length_scale: float) -> None:
    with pytest.raises(ValueError, match="needs length-scales from"):
        NonlinearDiffusion(length_scale=length_scale)


def test_a_mean_of_the_forcing_shifts_the_forcing_alone() -> None:
    zero, shifted = (NonlinearDiffusion(resolution=16, mean_forcing=mean).generate(0, [0])[0] for mean in (0.0, 2.5))
    np.testing.assert_allclose(shifted.inputs - zero.inputs, 2.5)
    assert (shifted.targets.reshape(16, 16)[1:-1, -1] > zero.targets.reshape(16, 16)[1:-1, -1]).all()


def test_initial_values_are_a_cosine_that_vanishes_at_both_ends() -> None:
    u = NonlinearDiffusion(resolution=17, initial_height=3.0).generate(0, [0])[0].targets.reshape(17, 17)
    np.testing.assert_allclose(u[:, 0], 3.0 * np.cos(0.5 * pi * np.linspace(-1.0, 1.0, 17)), atol=1e-12)


@pytest.mark.parametrize("setting", [{"mean_forcing": float("nan")}, {"initial_height": float("inf")}])
def test_settings_that_are_no_finite_numbers_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="needs a finite"):
        NonlinearDiffusion(**setting)
