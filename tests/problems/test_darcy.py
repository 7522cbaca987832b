import numpy as np
import pytest
from numpy import cos, pi, sin

from gola.problems.darcy import Darcy, DarcySolver


def solver_error(resolution: int, contrast: float) -> float:
    """Return the largest error for u = sin(πx) sin(2πy) and the permeability a = 1 + contrast·x²y."""
    grid = np.linspace(0.0, 1.0, resolution)
    x, y = np.meshgrid(grid, grid, indexing="ij")
    a, a_x, a_y = 1.0 + contrast * x**2 * y, 2.0 * contrast * x * y, contrast * x**2
    u = sin(pi * x) * sin(2.0 * pi * y)
    u_x, u_y = pi * cos(pi * x) * sin(2.0 * pi * y), 2.0 * pi * sin(pi * x) * cos(2.0 * pi * y)
    source = 5.0 * pi**2 * a * u - a_x * u_x - a_y * u_y
    return float(np.abs(DarcySolver(a)(source[None])[0] - u).max())


@pytest.mark.parametrize("contrast", [0.0, 5.0])
def test_doubling_the_resolution_quarters_the_error(contrast: float) -> None:
    errors = [solver_error(resolution, contrast) for resolution in (17, 33, 65)]
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.05)
    assert errors[-1] < 2e-3


def test_flux_is_continuous_through_a_jump_of_the_permeability() -> None:
    # Permeability 4 and 12 left and right of a face. The flux a u_x is the same on both sides, so the slopes differ
    # threefold, and across the face itself, half of each medium, the slope is their mean.
    grid = np.linspace(0.0, 1.0, 65)
    a = np.where(grid[:, None] < 0.5 + 1 / 128, 4.0, 12.0) * np.ones(65)
    source = np.zeros((1, 65, 65))
    source[0, 10] = 1.0
    middle = DarcySolver(a)(source)[0][:, 32]
    interface = 32
    left, across, right = np.diff(middle)[interface - 1 : interface + 2]
    assert right / left == pytest.approx(4.0 / 12.0, rel=0.1)
    assert across == pytest.approx(0.5 * (left + right), rel=0.02)


def test_the_operator_is_linear_in_the_source() -> None:
    sources = np.random.default_rng(0).standard_normal((2, 20, 20))
    solver = DarcySolver(Darcy(resolution=20).coefficient)
    first, second, combination = solver(np.stack([*sources, 2.0 * sources[0] - sources[1]]))
    np.testing.assert_allclose(combination, 2.0 * first - second, atol=1e-14)


def test_pressure_vanishes_on_the_boundary_only() -> None:
    sample = Darcy(resolution=32).generate(0, [0])[0]
    assert (sample.targets[sample.boundary] == 0.0).all()
    assert (sample.targets[~sample.boundary] != 0.0).all()


def test_source_and_pressure_have_the_known_scales() -> None:
    samples = Darcy(resolution=64).generate(0, range(60))
    assert np.std([sample.inputs for sample in samples]) == pytest.approx(0.22, abs=0.02)
    assert np.std([sample.targets for sample in samples]) == pytest.approx(5e-4, abs=1e-4)


def test_coefficient_has_two_values_in_regions_that_a_seed_draws() -> None:
    problem = Darcy(resolution=64, low=1.0, high=3.0)
    assert set(np.unique(problem.coefficient)) == {1.0, 3.0}
    assert 0.2 < np.mean(problem.coefficient == 1.0) < 0.8
    other = Darcy(resolution=64, low=1.0, high=3.0, coefficient_seed=1)
    assert np.mean(problem.coefficient != other.coefficient) > 0.1


def test_every_parameter_reaches_the_solver() -> None:
    base = Darcy(resolution=16).generate(0, [0])[0].targets
    for parameters in ({"low": 2.0}, {"high": 20.0}, {"coefficient_seed": 3}):
        other = Darcy(resolution=16, **parameters).generate(0, [0])[0].targets
        assert not np.allclose(base, other, rtol=1e-2, atol=0.0), parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"low": 0.0}, "0 < low <= high < ∞; got low=0.0"),
        ({"low": 5.0, "high": 4.0}, "0 < low <= high"),
        ({"high": float("nan")}, "0 < low <= high"),
        ({"high": float("inf")}, "0 < low <= high"),
        ({"coefficient_seed": -1}, "coefficient_seed of 0 or more; got -1"),
    ],
)
def test_impossible_parameters_are_refused(parameters: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Darcy(**parameters)
