"""What the way in which values were drawn says of them."""

import math

import numpy as np
import pytest
import torch

from gola.operators.closed_form.roles import drawn_together, likeliest, roles_of


def values_of(how, count, rng, lower=1.0, upper=100.0):
    if how == "logarithmically":
        return np.exp(rng.uniform(math.log(lower), math.log(upper), count))
    return rng.uniform(0.0 if how == "from zero" else lower, upper, count)


@pytest.mark.parametrize(("how", "lower"), [("logarithmically", 1.0), ("from zero", 0.0), ("evenly", 30.0)])
def test_thirty_values_say_how_they_were_drawn(how, lower):
    rng = np.random.default_rng(0)
    found = [likeliest(values_of(how, 30, rng, lower=lower))[0] for _ in range(50)]
    assert found.count(how) >= 40


def test_the_unit_of_the_values_does_not_matter():
    rng = np.random.default_rng(1)
    for how in ("logarithmically", "from zero", "evenly"):
        values = values_of(how, 8, rng)
        assert likeliest(values)[0] == likeliest(1e-3 * values)[0] == likeliest(1e6 * values)[0]


def test_parameters_that_are_alike_are_judged_together():
    rng = np.random.default_rng(2)
    right = 0
    for _ in range(40):
        media = [values_of("logarithmically", 10, rng) for _ in range(9)]
        loads = [values_of("from zero", 10, rng, upper=500.0) for _ in range(3)]
        right += drawn_together([*media, *loads]) == ["logarithmically"] * 9 + ["from zero"] * 3
    # Apart, each load is recognised in 7 of 10 cases only.
    assert right >= 25


def test_what_has_both_signs_or_starts_at_zero_is_probably_a_load():
    rng = np.random.default_rng(3)
    columns = [rng.uniform(-1.0, 1.0, 30), np.linspace(0.01, 1.0, 30), values_of("logarithmically", 30, rng)]
    groups = [torch.from_numpy(column)[:, None] for column in columns]
    roles = roles_of(groups, [True, True, True])
    assert [role.is_likely_load for role in roles] == [True, True, False]
    assert [role.is_likely_log for role in roles] == [False, False, True]
    assert not any(role.is_likely_load for role in roles_of(groups, [False, False, False]))


def test_positive_functions_are_probably_media():
    field = torch.rand(5, 40, dtype=torch.float64) + 0.5
    (role,) = roles_of([field], [True])
    assert role.is_likely_log
    assert not role.is_likely_load


def test_of_a_number_that_never_changes_nothing_is_known():
    (role,) = roles_of([torch.zeros(5, 1, dtype=torch.float64)], [True])
    assert not role.is_likely_load
    assert not role.may_be_log
