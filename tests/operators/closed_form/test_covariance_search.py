"""The search for a covariance."""

import numpy as np
import pytest
import torch
from scipy.optimize import check_grad

from gola.operators.closed_form.covariance import Groups, Pairs
from gola.operators.closed_form.covariance_likelihood import Layout, Objective, Responses
from gola.operators.closed_form.covariance_search import CovarianceSearch
from gola.operators.closed_form.roles import Role, roles_of

# May be a load, as everything may, and nothing says that it is.
UNKNOWN = Role(may_be_log=False, may_be_load=True, is_likely_log=False, is_likely_load=False)


def groups_of(count, *, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.rand(count, 1, generator=generator, dtype=torch.float64) * 2.0 - 1.0 for _ in range(4)]


def search(raw, values, roles=None):
    groups = Groups(smooth=raw, linear=raw)
    pairs = Pairs.of(groups, groups)
    responses = Responses(
        channels=[values], weights=1.0 / values.norm(dim=1), factors=torch.ones(len(values), 1, dtype=torch.float64)
    )
    return CovarianceSearch(
        pairs=lambda _: pairs, responses=lambda _: responses, roles=roles or roles_of(raw, [True] * len(raw))
    )


@pytest.mark.parametrize("linear", [(), (1, 3)])
@pytest.mark.parametrize("is_affine", [True, False])
def test_the_gradient_of_the_likelihood_is_right(linear, is_affine):
    raw = groups_of(12)
    found = search(raw, torch.cat([raw[0] * raw[1], raw[2].exp() + raw[3]], dim=1))
    layout = Layout(logs=(False,) * 4, is_linear=(False,) * 4).with_linear(linear, is_affine=is_affine)
    objective = Objective(pairs=found.pairs(layout.logs), responses=found.responses(layout), layout=layout)
    vector = objective.start() + 0.1 * np.arange(6)
    error = check_grad(lambda x: objective.value(x)[0], lambda x: objective.value(x)[1], vector)
    assert error < 1e-4 * np.linalg.norm(objective.value(vector)[1])


def test_groups_that_the_operator_is_linear_in_are_found_together():
    raw = groups_of(40)
    medium, loads = (raw[0] - 0.5 * raw[3]).exp(), (raw[1], raw[2])
    values = torch.cat([loads[0] / medium, loads[1] * medium.sin(), loads[0] * raw[3] + loads[1]], dim=1)
    best = search(raw, values).best()
    assert best.layout.is_linear == (False, True, True, False)


def test_held_out_errors_are_those_of_refits():
    raw = groups_of(10)
    values = torch.cat([raw[0] * raw[1], raw[2].sin()], dim=1)
    found = search(raw, values)
    layout = Layout(logs=(False,) * 4, is_linear=(False,) * 4)
    best = found.found(layout)
    matrix = best.covariance(found.pairs(layout.logs))
    matrix = matrix + best.covariance.penalty * matrix.diagonal().mean() * torch.eye(10)
    for row in range(10):
        others = [other for other in range(10) if other != row]
        ones = torch.ones(9, 1, dtype=torch.float64)
        inverse = torch.linalg.inv(matrix[others][:, others])
        offset = (ones.T @ inverse @ values[others]) / (ones.T @ inverse @ ones)
        predicted = matrix[row, others] @ inverse @ (values[others] - offset) + offset[0]
        assert float((predicted - values[row]).norm() / values[row].norm()) == pytest.approx(best.errors[row], rel=1e-5)


def test_what_has_both_signs_is_expected_to_be_a_load():
    raw = groups_of(14)
    raw = [raw[0] + 2.0, raw[1], raw[2], raw[3] + 2.0]
    values = torch.cat([raw[1] / raw[0], raw[2] * raw[3].sin(), raw[1] * raw[3] + raw[2]], dim=1)
    assert search(raw, values).best().layout.is_linear == (False, True, True, False)


@pytest.mark.parametrize("is_affine", [True, False])
def test_units_of_solutions_add_the_same_to_the_cost_of_all_layouts(is_affine):
    raw = groups_of(12)
    values = torch.cat([raw[0] * raw[1], raw[2].exp() * raw[1]], dim=1)
    layout = Layout(logs=(False,) * 4, is_linear=(False,) * 4).with_linear([1], is_affine=is_affine)
    costs = []
    for unit in (1.0, 1000.0):
        found = search(raw, unit * values)
        objective = Objective(pairs=found.pairs(layout.logs), responses=found.responses(layout), layout=layout)
        costs.append(objective.cost(objective.start()))
    assert costs[1] - costs[0] == pytest.approx(12 * np.log(1000.0))


def test_among_ten_samples_loads_are_not_seen_in_what_fits_by_chance():
    chosen = []
    for seed in range(4):
        raw = groups_of(10, seed=seed)
        medium = [(2.0 * group).exp() for group in raw]
        values = torch.cat([medium[0] + medium[1], medium[2] / medium[3], medium[1] * medium[3]], dim=1)
        chosen.append(search(raw, values).best().layout.is_linear)
    assert not any(sum(is_linear) in (1, 2, 3) for is_linear in chosen)
