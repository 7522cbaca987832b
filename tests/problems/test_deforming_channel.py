import numpy as np
import pytest
from jaxtyping import Float

from gola.problems.deforming_channel import LENGTH, ChannelSolver, DeformingChannel, Wall

from .perforated import observed_order

WALL = Wall(height=0.4, position=1.7, width=0.4)
PECLET = 20.0


def exact_temperature(points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, " point"]:
    """T = sin(πx/2L) cos y: nothing at the inflow, no slope at the outflow and at the lower wall."""
    x, y = points.T
    return np.sin(0.5 * np.pi * x / LENGTH) * np.cos(y)


def exact_source(points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, " point"]:
    """f = u·∇T − ΔT / Pe, with the flow that belongs to the stream function 3η² − 2η³."""
    x, y = points.T
    rate = 0.5 * np.pi / LENGTH
    height, slope = WALL.at(x), WALL.slope(x)
    shares = y / height
    along = 6.0 * shares * (1.0 - shares) / height
    across = along * shares * slope
    slope_x, slope_y = rate * np.cos(rate * x) * np.cos(y), -np.sin(rate * x) * np.sin(y)
    return along * slope_x + across * slope_y + (rate**2 + 1.0) * exact_temperature(points) / PECLET


def test_halving_the_elements_divides_the_error_by_eight_in_a_deformed_channel() -> None:
    errors = []
    for resolution in (4, 8, 16):
        solver = ChannelSolver(resolution)
        found = solver(WALL, PECLET, held=exact_temperature, source=exact_source)
        expected = exact_temperature(WALL.moved(solver.geometry["points"]))
        errors.append(float(np.sqrt(solver.geometry["weights"] @ (found - expected) ** 2)))
    assert observed_order(errors) > 2.9
    assert errors[-1] < 1e-5


def test_the_flow_keeps_its_rate_and_follows_the_wall() -> None:
    # Where the flow is free of divergence and follows the wall, a uniform temperature stays uniform.
    solver = ChannelSolver(6)
    uniform = solver(WALL, 300.0, held=lambda points: np.ones(len(points)))
    np.testing.assert_allclose(uniform, 1.0, atol=1e-12)


def test_nodes_move_with_the_wall_at_constant_shares_of_the_height() -> None:
    problem = DeformingChannel(resolution=8)
    straight = problem.simulate(np.array([0.0, 2.0, 0.5, 100.0]))
    narrow = problem.simulate(np.array([0.5, 2.0, 0.5, 100.0]))
    np.testing.assert_array_equal(narrow.points[:, 0], straight.points[:, 0])
    middle = straight.points[:, 0] == pytest.approx(2.0)
    np.testing.assert_allclose(narrow.points[middle, 1], 0.5 * straight.points[middle, 1])
    np.testing.assert_array_equal(narrow.cells, straight.cells)
    assert narrow.weights.sum() < straight.weights.sum() == pytest.approx(LENGTH)


def test_slope_is_the_derivative_of_the_wall() -> None:
    x = np.linspace(0.0, LENGTH, 50)
    differences = (WALL.at(x + 1e-6) - WALL.at(x - 1e-6)) / 2e-6
    np.testing.assert_allclose(WALL.slope(x), differences, atol=1e-8)


def test_temperature_stays_between_that_of_the_inflow_and_that_of_the_wall() -> None:
    for sample in DeformingChannel(resolution=16).generate(0, range(8)):
        assert sample.targets.min() > -1e-3
        assert sample.targets.max() < 1.0 + 1e-3


def test_fast_flow_leaves_less_time_to_warm_up() -> None:
    problem = DeformingChannel(resolution=10)
    slow, fast = (problem.simulate(np.array([0.2, 1.8, 0.4, peclet])) for peclet in (10.0, 1000.0))
    assert slow.weights is not None
    assert slow.weights @ slow.targets[:, 0] > 1.5 * (slow.weights @ fast.targets[:, 0])


def test_a_resolution_too_low_is_refused() -> None:
    with pytest.raises(ValueError, match="deforming_channel needs a resolution of 4 or more; got 3"):
        DeformingChannel(resolution=3)
