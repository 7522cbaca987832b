import numpy as np
import pytest

from gola.surrogate.uncertainty.levels import (
    interval_of,
    pooled,
    pooled_quantile,
    quantiles,
    require_supported,
    upper_quantile,
)


@pytest.mark.parametrize(("level", "needed"), [(0.5, 1), (0.8, 4), (0.9, 9), (0.95, 19), (0.99, 99)])
def test_a_level_needs_as_many_samples_as_theory_says(level, needed):
    require_supported(level, needed)
    with pytest.raises(ValueError, match=f"needs at least {needed} training samples; there are {needed - 1}"):
        require_supported(level, needed - 1)


@pytest.mark.parametrize("level", [0.0, 1.0, 90, -0.5, True])
def test_a_level_that_is_no_probability_is_refused(level):
    with pytest.raises(ValueError, match=r"a level between 0 and 1, like 0\.9"):
        require_supported(level, 100)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
def test_a_new_score_stays_below_the_quantile_as_often_as_it_says(level):
    rng = np.random.default_rng(0)
    below = [rng.lognormal() <= upper_quantile(rng.lognormal(size=19), level) for _ in range(4000)]
    assert np.mean(below) == pytest.approx(level, abs=0.02)


def test_a_new_score_lies_in_the_interval_at_least_as_often_as_it_says():
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(4000):
        low, high = interval_of(rng.lognormal(size=39), 0.9)
        inside.append(low <= rng.lognormal() <= high)
    assert 0.89 < np.mean(inside) < 0.96


def test_few_scores_are_continued_so_that_a_new_one_lies_in_the_interval_often_enough():
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(2000):
        low, high = interval_of(rng.lognormal(size=10), 0.9)
        inside.append(low <= rng.lognormal() <= high)
    assert 0.87 < np.mean(inside) < 0.93


def test_an_interval_goes_no_farther_than_twice_the_farthest_score():
    low, high = interval_of(np.array([1e-6, 1e-5, 1.0, 2.0, 3.0]), 0.9)
    assert (low, high) == (0.5e-6, 6.0)


def test_scores_of_zero_are_not_continued():
    assert interval_of(np.array([0.0, 1.0, 2.0]), 0.9) == (0.0, 2.0)


def test_points_of_a_new_sample_stay_below_the_pooled_quantile_as_often_as_it_says():
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(400):
        samples = [rng.lognormal() * np.abs(rng.normal(size=rng.integers(20, 60))) for _ in range(20)]
        factor = pooled_quantile(pooled(samples[:-1]), 0.9)
        shares.append((samples[-1] <= factor).mean())
    assert 0.88 < np.mean(shares) < 0.93


def test_shares_are_counted_as_by_comparing_each_score():
    scores = [np.random.default_rng(number).lognormal(size=30) for number in range(6)]
    places = (np.arange(200) + 0.5) / 200
    rows = np.stack([np.quantile(one, places) for one in scores])
    shares = np.linspace(0.0, 1.0, 501)
    held = np.zeros(len(shares))
    for number in range(6):
        others = np.quantile(np.delete(rows, number, axis=0), shares)
        held += [(rows[number] <= limit).mean() / 6 for limit in others]
    np.testing.assert_allclose(pooled(scores), np.interp(shares, held, np.quantile(rows, shares)))


def test_quantiles_of_scores_in_order_are_those_of_numpy():
    scores, shares = np.random.default_rng(0).random(77), np.linspace(0.0, 1.0, 23)
    np.testing.assert_allclose(quantiles(np.sort(scores), shares), np.quantile(scores, shares))
