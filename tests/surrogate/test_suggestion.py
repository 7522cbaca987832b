"""Simulations to run next: those that tell most about others, for what they cost."""

import numpy as np
import pytest

from gola.surrogate.fit import fit
from gola.surrogate.suggestion import checked_costs, chosen_batch
from tests.surrogate.test_parameters import plates
from tests.surrogate.uncertainty.test_bands import KERNEL, waves


def batch(covariance, num=1, errors=None, costs=None, target=0.0):
    count = len(covariance)
    return chosen_batch(
        covariance,
        np.full(count, 0.1) if errors is None else errors,
        np.arange(count, dtype=float)[:, None],
        num=num,
        costs=checked_costs(costs, count),
        target=target,
        source="a test",
    )


def grouped(sizes, correlation=0.9):
    """Candidates that are alike within groups, and have nothing to do with each other between them."""
    numbers = np.repeat(np.arange(len(sizes)), sizes)
    return np.where(numbers[:, None] == numbers, correlation, 0.0) + (1.0 - correlation) * np.eye(len(numbers))


def test_the_batch_covers_the_largest_groups_first_and_none_twice():
    found = batch(grouped([2, 5, 3]), num=3)
    numbers = [one.candidate for one in found.chosen]
    assert 2 <= numbers[0] < 7 <= numbers[1] < 10
    assert numbers[2] < 2
    errors = [found.error, *(one.error for one in found.chosen)]
    assert errors == sorted(errors, reverse=True)
    assert "helps 5 of 10 candidates" in found.chosen[0].reason


def test_errors_fall_as_conditioning_on_the_chosen_says():
    factors = np.random.default_rng(0).normal(size=(6, 6))
    covariance = factors @ factors.T
    found = batch(covariance, num=2)
    rows = [one.candidate for one in found.chosen]
    cross = covariance[:, rows]
    left = covariance - cross @ np.linalg.solve(covariance[np.ix_(rows, rows)], cross.T)
    wanted = 0.1 * np.sqrt(np.clip(left.diagonal(), 0.0, None) / covariance.diagonal())
    assert found.chosen[1].error == pytest.approx(wanted.mean())


def test_what_costs_too_much_is_not_chosen():
    costs = np.ones(10)
    costs[2:7] = 100.0
    assert batch(grouped([2, 5, 3]), costs=costs).chosen[0].candidate >= 7
    with pytest.raises(ValueError, match="a positive number for each of the 10 candidates"):
        batch(grouped([2, 5, 3]), costs=[1.0, -1.0])


def test_it_says_where_to_stop():
    assert batch(grouped([2, 5, 3]), num=3).num_worthwhile == 3
    assert batch(grouped([2, 5, 3]), num=3, target=0.07).num_worthwhile == 1
    assert batch(np.eye(400), num=2).num_worthwhile == 0


def test_a_surrogate_prefers_inputs_that_are_unlike_its_training_samples():
    data = waves(24)
    unlike = int(np.argmax([np.abs(sample.inputs - 2.0).max() for sample in data]))
    surrogate = fit(data.select([row for row in range(20) if row != unlike]), KERNEL, progress=False)
    candidates = [data[unlike], *(data[row] for row in range(8) if row != unlike)]
    found = surrogate.suggest(candidates, num=2)
    assert found.source == "the covariance of kernel"
    assert 0 in [one.candidate for one in found.chosen]


def test_operators_without_a_covariance_go_by_distances():
    data = waves(20)
    surrogate = fit(data[:12], "nearest", progress=False)
    found = surrogate.suggest([data[0], data[1], data[15], data[16]], num=2)
    assert found.source == "distances between inputs"
    assert {one.candidate for one in found.chosen} == {2, 3}


def test_parameters_are_drawn_within_their_ranges():
    surrogate = fit(plates(16), "pod_gp", progress=False)
    name = surrogate.parameters[0].name
    found = surrogate.suggest(num=3, ranges={name: (2.0, 2.5)})
    assert all(2.0 <= one.parameters[0] <= 2.5 for one in found.chosen)
    with pytest.raises(ValueError, match="is no parameter of the surrogate"):
        surrogate.suggest(ranges={"speling": (0.0, 1.0)})
    with pytest.raises(ValueError, match="to one that is not smaller"):
        surrogate.suggest(ranges={name: (3.0, 1.0)})


def test_input_functions_cannot_be_drawn_and_numbers_must_make_sense():
    data = waves(12)
    surrogate = fit(data, KERNEL, progress=False)
    with pytest.raises(ValueError, match="Candidates are needed"):
        surrogate.suggest()
    with pytest.raises(ValueError, match="from 1 to the number of candidates, 3; got 4"):
        surrogate.suggest(data[:3], num=4)
    with pytest.raises(ValueError, match="target must be a relative error, 0 or more; got -1"):
        surrogate.suggest(data[:3], num=1, target=-1.0)
