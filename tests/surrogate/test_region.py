import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gola.surrogate.region import Region


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_a_place_is_outside_if_no_known_point_is_as_near_as_twice_the_gaps_between_them(dim):
    rng = np.random.default_rng(dim)
    known = rng.random((600, dim))
    known = known[np.linalg.norm(known - 0.5, axis=1) > 0.2]
    places = 1.4 * rng.random((5000, dim)) - 0.2
    gaps = np.sort(cdist(known, known), axis=1)[:, 1]
    expected = cdist(places, known).min(axis=1) > 2.0 * np.quantile(gaps, 0.99)
    assert 0.0 < expected.mean() < 1.0
    assert np.array_equal(Region(known).excludes(places), expected)


def test_few_points_exclude_nothing():
    assert not Region(np.zeros((3, 2))).excludes(np.ones((4, 2))).any()


def test_points_on_a_line_are_a_region():
    known = np.stack([np.linspace(0.0, 1.0, 50), np.zeros(50)], axis=1)
    assert Region(known).excludes(np.array([[0.5, 0.0], [0.505, 0.01], [0.5, 0.2]])).tolist() == [False, False, True]
