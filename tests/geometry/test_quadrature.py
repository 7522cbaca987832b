import numpy as np
import pytest
from scipy.spatial import cKDTree

from gola.geometry import (
    Box,
    Polygon,
    equal_weights,
    lattice_points,
    quasi_random_points,
    uniform_points,
    voronoi_weights,
)
from tests.geometry.test_domains import HOLE, SQUARE, ball

POLYGON = Polygon(exterior=SQUARE, holes=(HOLE,))
DOMAINS = [Box.unit(2), Box.unit(3), POLYGON, ball(2), ball(3)]


def smooth(points):
    return np.exp(points[:, 0]) * np.cos(3.0 * points[:, 1])


def nearest_share(points, domain, num_probes=100_000):
    """The weights by definition: the share of the domain that is nearest to each point, by probing it."""
    probes = quasi_random_points(domain, num_probes, np.random.default_rng(0))
    owners = cKDTree(points).query(probes)[1]
    return np.bincount(owners, minlength=len(points)) * domain.measure / num_probes


@pytest.mark.parametrize("domain", DOMAINS)
def test_weights_are_the_clipped_cells_and_sum_to_the_measure(domain):
    points = uniform_points(domain, 100, np.random.default_rng(3))
    weights = voronoi_weights(points, domain)
    assert weights.sum() == pytest.approx(domain.measure, rel=1e-12)
    np.testing.assert_allclose(weights, nearest_share(points, domain), rtol=0.05, atol=0.002 * domain.measure)


def integral_of_smooth(lower, upper):
    """The exact integral over the square from (lower, lower) to (upper, upper)."""
    return (np.exp(upper) - np.exp(lower)) * (np.sin(3.0 * upper) - np.sin(3.0 * lower)) / 3.0


@pytest.mark.parametrize(
    ("domain", "exact"),
    [
        (Box.unit(2), integral_of_smooth(0.0, 1.0)),
        (POLYGON, integral_of_smooth(0.0, 1.0) - integral_of_smooth(0.4, 0.6)),
    ],
)
def test_voronoi_weights_integrate_five_times_more_accurately_than_equal_ones(domain, exact):
    errors = []
    for seed in range(15):
        points = uniform_points(domain, 1000, np.random.default_rng(seed))
        values = smooth(points)
        by_cells = voronoi_weights(points, domain) @ values - exact
        equally = equal_weights(1000, domain) @ values - exact
        errors.append((abs(by_cells), abs(equally)))
    by_cells, equally = np.median(errors, axis=0)
    assert by_cells * 5 <= equally


def test_lattice_cells_are_full_inside_half_at_edges_and_quarter_at_corners():
    weights = voronoi_weights(lattice_points(Box.unit(2), 11), Box.unit(2)).reshape(11, 11) * 100
    np.testing.assert_allclose(weights[1:-1, 1:-1], 1.0, rtol=1e-5)
    np.testing.assert_allclose(weights[0, 1:-1], 0.5, rtol=1e-5)
    np.testing.assert_allclose(weights[0, 0], 0.25, rtol=1e-5)


def test_coincident_points_share_their_cell():
    points = np.array([[0.25, 0.5], [0.75, 0.5], [0.75, 0.5]])
    np.testing.assert_allclose(voronoi_weights(points, Box.unit(2)), [0.5, 0.25, 0.25], rtol=1e-6)


@pytest.mark.parametrize("num_points", [1, 2, 3])
@pytest.mark.parametrize("dim", [2, 3])
def test_a_handful_of_points_is_enough(num_points, dim):
    points = np.random.default_rng(0).random((num_points, dim))
    assert voronoi_weights(points, Box.unit(dim)).sum() == pytest.approx(1.0)


def test_strongly_graded_points_get_cells_as_uneven_as_they_lie():
    points = np.random.default_rng(5).random((3000, 2)) ** 4
    weights = voronoi_weights(points, Box.unit(2))
    assert weights.sum() == pytest.approx(1.0)
    assert weights.max() / weights.min() > 1e4


def test_a_bad_coordinate_is_named():
    with pytest.raises(ValueError, match="Point 1 has a NaN"):
        voronoi_weights(np.array([[0.1, 0.1], [np.nan, 0.2]]), Box.unit(2))
