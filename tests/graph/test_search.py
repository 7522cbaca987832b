import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gola.graph import (
    nearest_neighbourhood,
    nearest_neighbourhood_between,
    radius_for,
    radius_neighbourhood,
    radius_neighbourhood_between,
    search,
)
from tests.graph.brute_force import adjacency_of, assert_lists_equal, nearest, within


@st.composite
def point_sets(draw, max_points=60):
    """Random points, or points of a coarse lattice, whose many ties and coincidences are the hard case."""
    dim = draw(st.sampled_from([2, 3]))
    num_points = draw(st.integers(1, max_points))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()):
        return rng.integers(0, 5, (num_points, dim)) * 0.1
    return rng.random((num_points, dim))


radii = st.one_of(st.floats(0.01, 2.0), st.sampled_from([0.1, 0.2, 0.3, 0.1 * np.sqrt(2.0)]))


@given(points=point_sets(), radius=radii)
@settings(deadline=None, max_examples=100)
def test_radius_lists_equal_brute_force(points, radius):
    expected = within(points, points, radius)
    np.fill_diagonal(expected, False)
    found = radius_neighbourhood(points, radius)
    assert_lists_equal(found, expected)
    assert found.symmetric


@given(points=point_sets(), radius=radii, period=st.floats(0.5, 1.5))
@settings(deadline=None, max_examples=60)
def test_periodic_radius_lists_equal_brute_force(points, radius, period):
    # Points are moved into the first period before distances are taken, as the search does.
    periods = (period, None) if points.shape[1] == 2 else (None, period, period)
    moved = points.copy()
    for axis, one in enumerate(periods):
        if one is not None:
            moved[:, axis] %= one
    expected = within(moved, moved, radius, periods)
    np.fill_diagonal(expected, False)
    assert_lists_equal(radius_neighbourhood(points, radius, periods=periods), expected)


@given(points=point_sets(max_points=40), num_neighbours=st.integers(1, 12))
@settings(deadline=None, max_examples=100)
def test_nearest_lists_equal_brute_force_and_are_mutual(points, num_neighbours):
    if len(points) <= num_neighbours:
        return
    expected = nearest(points, points, num_neighbours, skip_self=True)
    assert_lists_equal(nearest_neighbourhood(points, num_neighbours), expected | expected.T)


@given(sources=point_sets(max_points=40), seed=st.integers(0, 2**31), radius=radii, num_neighbours=st.integers(1, 9))
@settings(deadline=None, max_examples=60)
def test_lists_between_two_sets_equal_brute_force(sources, seed, radius, num_neighbours):
    rng = np.random.default_rng(seed)
    queries = np.concatenate([rng.random((7, sources.shape[1])), sources[:3]])
    near = within(queries, sources, radius)
    assert_lists_equal(radius_neighbourhood_between(sources, queries, radius), near)
    apart = near & (queries[:, None] != sources[None]).any(axis=2)
    assert_lists_equal(radius_neighbourhood_between(sources, queries, radius, coincident=False), apart)
    if num_neighbours <= len(sources):
        expected = nearest(queries, sources, num_neighbours, skip_self=False)
        assert_lists_equal(nearest_neighbourhood_between(sources, queries, num_neighbours), expected)


@given(sizes=st.lists(st.integers(1, 30), min_size=1, max_size=5), seed=st.integers(0, 2**31))
@settings(deadline=None, max_examples=40)
def test_samples_of_a_ragged_batch_do_not_see_each_other(sizes, seed):
    points = np.random.default_rng(seed).random((sum(sizes), 2))
    offsets = np.cumsum([0, *sizes])
    blocks = [adjacency_of(radius_neighbourhood(points[a:b], 0.4)) for a, b in itertools.pairwise(offsets)]
    batch = adjacency_of(radius_neighbourhood(points, 0.4, offsets=offsets))
    expected = np.zeros_like(batch)
    for block, start in zip(blocks, offsets, strict=False):
        expected[start : start + len(block), start : start + len(block)] = block
    np.testing.assert_array_equal(batch, expected)


def test_a_lattice_radius_reaches_neighbours_at_exactly_that_distance():
    lattice = np.stack(np.meshgrid(np.arange(10) * 0.1, np.arange(10) * 0.1, indexing="ij"), axis=-1).reshape(-1, 2)
    expected = within(lattice, lattice, 0.1)
    np.fill_diagonal(expected, False)
    found = radius_neighbourhood(lattice, 0.1)
    assert_lists_equal(found, expected)
    assert found.degrees.max() == 4


def test_many_neighbours_are_never_capped():
    points = np.random.default_rng(0).random((500, 2)) * 1e-3
    assert (radius_neighbourhood(points, 1.0).degrees == 499).all()


def test_coincident_points_are_neighbours_but_nobody_is_its_own():
    found = radius_neighbourhood(np.zeros((3, 2)), 0.1)
    assert found.senders.tolist() == [1, 2, 0, 2, 0, 1]


def test_one_point_has_no_neighbours():
    found = radius_neighbourhood(np.zeros((1, 3)), 1.0)
    assert found.num_edges == 0
    assert found.offsets.tolist() == [0, 0]


def test_reversed_lists_exchange_senders_and_receivers():
    rng = np.random.default_rng(1)
    found = radius_neighbourhood_between(rng.random((20, 2)), rng.random((9, 2)), 0.4)
    assert_lists_equal(found.reversed(), adjacency_of(found).T > 0)


def test_the_radius_helper_gives_the_wanted_mean_number_of_neighbours():
    for dim, num_points in ((2, 1500), (3, 1500), (2, 20_000)):
        points = np.random.default_rng(dim).random((num_points, dim))
        found = radius_neighbourhood(points, radius_for(points, 20))
        assert found.num_edges / num_points == pytest.approx(20, rel=0.05)


def test_lists_move_between_devices_without_losing_their_shape():
    found = radius_neighbourhood(np.random.default_rng(2).random((50, 2)), 0.2).to("meta")
    assert found.senders.device == torch.device("meta")
    assert found.num_receivers == 50


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_bad_coordinate_is_named_by_sample_and_point(bad):
    points = np.random.default_rng(3).random((10, 2))
    points[7, 1] = bad
    with pytest.raises(ValueError, match="Sample 1: point 3 has a NaN or infinite coordinate"):
        radius_neighbourhood(points, 0.1, offsets=np.array([0, 4, 10]))


@pytest.mark.parametrize("radius", [0.0, -1.0, np.nan, np.inf])
def test_a_radius_that_is_not_positive_is_refused(radius):
    with pytest.raises(ValueError, match="radius must be positive and finite"):
        radius_neighbourhood(np.zeros((2, 2)), radius)


def test_an_empty_sample_is_named():
    with pytest.raises(ValueError, match="Sample 1 has no points"):
        radius_neighbourhood(np.zeros((3, 2)), 0.1, offsets=np.array([0, 2, 2, 3]))


@pytest.mark.parametrize("offsets", [[0, 2], [1, 3], [0], [0, 5]])
def test_offsets_that_do_not_cover_the_points_are_refused(offsets):
    with pytest.raises(ValueError, match="must run from 0 to its number of points, 3"):
        radius_neighbourhood(np.zeros((3, 2)), 0.1, offsets=np.array(offsets))


def test_sources_and_queries_of_different_dimension_or_number_of_samples_are_refused():
    with pytest.raises(ValueError, match="Sources have 2 coordinates and queries 3"):
        radius_neighbourhood_between(np.zeros((3, 2)), np.zeros((3, 3)), 0.1)
    with pytest.raises(ValueError, match="1 samples of sources and 2 of queries"):
        radius_neighbourhood_between(np.zeros((3, 2)), np.zeros((3, 2)), 0.1, query_offsets=np.array([0, 1, 3]))


def test_more_neighbours_than_points_are_refused():
    with pytest.raises(ValueError, match="there are 4 other points"):
        nearest_neighbourhood(np.random.default_rng(4).random((5, 2)), 5)


def test_bad_periods_are_refused():
    with pytest.raises(ValueError, match="one positive number, or None, for each of the 2 axes"):
        radius_neighbourhood(np.zeros((3, 2)), 0.1, periods=(1.0,))


def test_a_radius_whose_edges_do_not_fit_into_memory_is_refused_with_a_better_one(monkeypatch):
    monkeypatch.setattr(search, "available_bytes", lambda: 10_000_000)
    points = np.random.default_rng(5).random((2000, 2))
    with pytest.raises(ValueError, match=r"Sample 0: radius 0\.5 gives about .* edges.*about 16 neighbours"):
        radius_neighbourhood(points, 0.5)
    assert radius_neighbourhood(points, 0.05).num_edges > 0
