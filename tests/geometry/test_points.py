import numpy as np
import pytest
from scipy.stats import qmc

from gola.geometry import (
    Box,
    Polygon,
    lattice_points,
    quasi_random_points,
    random_lattice_points,
    spatial_order,
    uniform_points,
)
from tests.geometry.test_domains import HOLE, SQUARE, ball

DOMAINS = [Box.unit(2), Box.unit(3), Polygon(exterior=SQUARE, holes=(HOLE,)), ball(2), ball(3)]


@pytest.mark.parametrize("draw", [uniform_points, quasi_random_points])
@pytest.mark.parametrize("domain", DOMAINS)
def test_random_points_lie_in_the_domain_and_repeat_with_their_seed(draw, domain):
    points = draw(domain, 300, np.random.default_rng(7))
    assert points.shape == (300, domain.dim)
    assert domain.contains(points).all()
    np.testing.assert_array_equal(points, draw(domain, 300, np.random.default_rng(7)))


def test_lattice_draws_are_different_lattice_points():
    points = random_lattice_points(Box.unit(2), 1000, 128, np.random.default_rng(0))
    assert len(np.unique(points, axis=0)) == 1000
    np.testing.assert_allclose(points * 127, np.round(points * 127), atol=1e-9)


def test_a_lattice_leaves_holes_open():
    domain = Polygon(exterior=SQUARE, holes=(HOLE,))
    points = lattice_points(domain, 51)
    inside_hole = ((points > 0.401) & (points < 0.599)).all(axis=1)
    assert not inside_hole.any()
    assert len(points) == 51**2 - 9**2


def test_quasi_random_points_spread_more_evenly_than_uniform_ones():
    rng = np.random.default_rng(1)
    uneven = qmc.discrepancy(uniform_points(Box.unit(2), 500, rng))
    assert qmc.discrepancy(quasi_random_points(Box.unit(2), 500, rng)) < uneven / 5


def test_asking_for_more_points_than_the_lattice_has_is_refused():
    with pytest.raises(ValueError, match="Cannot draw 17 different points from 16"):
        random_lattice_points(Box.unit(2), 17, 4, np.random.default_rng(0))


@pytest.mark.parametrize("draw", [uniform_points, quasi_random_points])
def test_asking_for_no_points_is_refused(draw):
    with pytest.raises(ValueError, match="at least one point"):
        draw(Box.unit(2), 0, np.random.default_rng(0))


@pytest.mark.parametrize("dim", [2, 3])
def test_points_that_follow_each_other_in_spatial_order_lie_close_together(dim):
    points = np.random.default_rng(0).random((2000, dim))
    order = spatial_order(points)
    assert sorted(order.tolist()) == list(range(2000))
    steps = np.linalg.norm(np.diff(points[order], axis=0), axis=1)
    assert np.median(steps) < np.median(np.linalg.norm(np.diff(points, axis=0), axis=1)) / 4


def test_spatial_order_of_points_on_a_line_and_of_one_point():
    assert spatial_order(np.array([[0.5, 1.0], [0.1, 1.0], [0.9, 1.0]])).tolist() == [1, 0, 2]
    assert spatial_order(np.array([[0.5, 1.0]])).tolist() == [0]
