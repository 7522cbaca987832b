import numpy as np
import pytest

from gola.operators.linear.finite_elements import FiniteElements
from gola.operators.linear.observations import Observations

ELEMENTS = FiniteElements.on(np.ones(2), 6)


@pytest.fixture
def observed():
    """Three samples of unequal size."""
    rng = np.random.default_rng(0)
    sizes = (5, 2, 9)
    return Observations.at(ELEMENTS, [rng.random((size, 2)) for size in sizes], [rng.random(size) for size in sizes])


def test_each_sample_is_seen_at_its_own_points():
    points = [np.array([[0.25, 0.5]]), np.array([[0.75, 0.1], [1.0, 1.0]])]
    observed = Observations.at(ELEMENTS, points, [np.zeros(1), np.zeros(2)])
    states = np.stack([ELEMENTS.nodes[:, 0], 2.0 * ELEMENTS.nodes[:, 1]], axis=1)
    np.testing.assert_allclose(observed.of(states), [0.25, 0.2, 2.0])


def test_the_transpose_is_that_of_seeing(observed):
    rng = np.random.default_rng(1)
    states, residuals = rng.random((len(ELEMENTS.nodes), 3)), rng.random(16)
    assert observed.of(states) @ residuals == pytest.approx(np.sum(states * observed.transposed(residuals)))


def test_squares_are_summed_sample_by_sample(observed):
    squares = observed.squares(observed.values)
    parts = np.split(observed.values, [5, 7])
    np.testing.assert_allclose(squares, [np.sum(part**2) for part in parts])
