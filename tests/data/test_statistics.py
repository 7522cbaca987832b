import numpy as np
import pytest

from gola.data.statistics import moments


def two_samples(factor=1.0):
    rng = np.random.default_rng(0)
    return [factor * rng.normal([0.0, 5.0], size=(size, 2)) for size in (40, 70)]


def test_each_sample_counts_equally():
    first, second = two_samples()
    mean, std = moments([first, second])
    assert mean == pytest.approx((first.mean(axis=0) + second.mean(axis=0)) / 2)
    squares = [((sample - mean) ** 2).mean(axis=0) for sample in (first, second)]
    assert std == pytest.approx(np.sqrt(sum(squares) / 2))


@pytest.mark.parametrize("power", [-1000, -531, 531, 1019])
def test_values_near_the_ends_of_the_range_have_the_same_statistics(power):
    mean, std = moments(two_samples())
    for expected, got in zip((mean, std), moments(two_samples(2.0**power)), strict=True):
        np.testing.assert_array_equal(got, np.ldexp(expected, power))


def test_a_large_sample_does_not_hide_a_small_one_and_zeros_are_fine():
    mean, std = moments([np.full((3, 1), 1e-160), np.full((3, 1), 1e160)])
    assert mean == pytest.approx(5e159)
    assert std == pytest.approx(5e159)
    assert [array.tolist() for array in moments([np.zeros((3, 1))])] == [[0.0], [0.0]]


def test_nothing_has_no_statistics():
    with pytest.raises(ValueError, match="at least one sample; got none"):
        moments([])
