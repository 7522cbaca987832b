import numpy as np
import pytest

from gola.problems.eikonal import SIDE, SOURCE, Eikonal, travel_time

GRADIENT = (0.002, 0.006)


def distance(grid: np.ndarray) -> np.ndarray:
    return np.hypot(SIDE * grid[:, None] - SOURCE[0], SIDE * grid - SOURCE[1])


def speed_with_a_gradient(grid: np.ndarray) -> np.ndarray:
    """Return a linear speed that is 1 at the source."""
    return 1.0 + GRADIENT[0] * (SIDE * grid[:, None] - SOURCE[0]) + GRADIENT[1] * (SIDE * grid - SOURCE[1])


def time_with_a_gradient(grid: np.ndarray) -> np.ndarray:
    """Return the travel time at a linear speed v = 1 + g·(x − s): arcosh(1 + |g|²|x − s|² / 2v) / |g|."""
    size = np.hypot(*GRADIENT)
    return np.arccosh(1.0 + (size * distance(grid)) ** 2 / (2.0 * speed_with_a_gradient(grid))) / size


def unit_grid(cells: int) -> np.ndarray:
    return np.linspace(0.0, 1.0, cells + 1)


def test_travel_time_at_constant_speed_is_the_distance() -> None:
    times = travel_time(np.full((129, 129), 2.0), SIDE, SOURCE, unit_grid(127))
    np.testing.assert_allclose(times, distance(unit_grid(127)) / 2.0, rtol=1e-11)


def test_doubling_the_resolution_quarters_the_error_at_a_linear_speed() -> None:
    errors = []
    for cells in (128, 256, 512):
        grid = unit_grid(cells)
        exact = time_with_a_gradient(grid)
        times = travel_time(speed_with_a_gradient(grid), SIDE, SOURCE, grid)
        errors.append(np.linalg.norm(times - exact) / np.linalg.norm(exact))
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 1.95, atol=0.1)
    assert errors[0] < 2e-5


def test_travel_time_is_accurate_next_to_the_source_on_a_grid_without_it() -> None:
    grid = unit_grid(127)
    times = travel_time(speed_with_a_gradient(unit_grid(128)), SIDE, SOURCE, grid)
    np.testing.assert_allclose(times, time_with_a_gradient(grid), rtol=1e-3)


def test_a_source_off_the_solver_grid_is_refused() -> None:
    with pytest.raises(ValueError, match="source has to be a point of the solver's grid"):
        travel_time(np.ones((101, 101)), SIDE, SOURCE, unit_grid(100))


def test_travel_time_is_zero_at_the_source_and_nowhere_else() -> None:
    sample = Eikonal(resolution=129).generate(0, [0])[0]
    at_source = np.all(sample.points == np.divide(SOURCE, SIDE), axis=1)
    assert at_source.sum() == 1
    assert sample.targets[at_source] == 0.0
    assert (sample.targets[~at_source] > 0.0).all()


@pytest.mark.parametrize("length_scale", [0.05, 0.1, 0.2])
def test_travel_time_lies_between_those_at_the_lowest_and_the_highest_speed(length_scale: float) -> None:
    problem = Eikonal(resolution=100, length_scale=length_scale)
    straight = distance(problem.coordinates).ravel()
    for sample in problem.generate(0, range(10)):
        times = sample.targets[:, 0]
        # A kink of the speed next to the source costs up to a percent there.
        assert (times <= straight * 1.01).all()
        assert (times >= straight / (sample.inputs.max() * 1.05)).all()


def test_gradient_of_the_travel_time_is_the_slowness_almost_everywhere() -> None:
    resolution = 129
    sample = Eikonal(resolution=resolution).generate(0, [1])[0]
    speed, times = (values.reshape(resolution, resolution) for values in (sample.inputs, sample.targets))
    slowness = np.hypot(*np.gradient(times, SIDE / (resolution - 1), edge_order=2))
    # Fronts that meet make kinks, across which a difference quotient says nothing.
    assert np.median(np.abs(slowness * speed - 1.0)) < 2e-3
    assert np.mean(np.abs(slowness * speed - 1.0) < 0.05) > 0.9


def test_speed_is_one_plus_the_positive_part_of_a_standard_normal_field() -> None:
    speeds = np.array([sample.inputs for sample in Eikonal(resolution=16).generate(0, range(150))])
    assert speeds.min() == 1.0
    assert np.mean(speeds == 1.0) == pytest.approx(0.5, abs=0.04)
    assert speeds.mean() == pytest.approx(1.0 + 1.0 / np.sqrt(2.0 * np.pi), abs=0.04)


@pytest.mark.parametrize("length_scale", [0.0, -0.1, float("nan")])
def test_an_impossible_length_scale_is_refused_at_once(length_scale: float) -> None:
    with pytest.raises(ValueError, match="needs length-scales from"):
        Eikonal(length_scale=length_scale)
