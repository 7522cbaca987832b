import math
from dataclasses import replace

import pytest
import torch

from gola.operators.closed_form.function_space import FunctionSpace
from gola.operators.closed_form.green import Component
from gola.operators.closed_form.linear_map import GreenPrior, SpectralPrior, lattice
from gola.operators.closed_form.smoothness import growth

UNIT_SQUARE = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
NEAR = Component(order=1, rate=10.0, widths=(0.2, 0.3), window="cauchy")
FAR = Component(order=3, rate=10.0, widths=(math.inf, 1.0), window="gaussian", share=0.2)
PRIORS = [
    GreenPrior(components=(NEAR, FAR), penalty=1e-3),
    SpectralPrior(exponent=1.5, rate=10.0, penalty=1e-2),
    SpectralPrior(exponent=-1.0, rate=10.0, penalty=1e-2),
]


def random_matrix(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def space_of(num_modes):
    space = FunctionSpace.around(UNIT_SQUARE, padding=1.25, num_modes=num_modes)
    return space.with_penalties(1e-6 * (1.0 + space.frequencies**2))


@pytest.fixture
def problem():
    """Two spaces, with two input channels and three output channels in them."""
    return space_of(20), random_matrix(9, 2, 20), space_of(30), random_matrix(9, 30, 3, seed=1)


def predict(found, coefficients):
    return found.weights @ coefficients.flatten() + found.offset


@pytest.mark.parametrize("prior", PRIORS)
def test_left_out_predictions_equal_those_of_refits(problem, prior):
    inputs, coefficients, outputs, solutions = problem
    found = prior.fit(inputs, coefficients, outputs, solutions)
    for row in range(9):
        others = torch.arange(9) != row
        refit = prior.fit(inputs, coefficients[others], outputs, solutions[others])
        torch.testing.assert_close(found.left_out[row], predict(refit, coefficients[row]), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("prior", PRIORS)
def test_samples_beyond_the_prior_are_met_where_the_penalty_is_small(problem, prior):
    inputs, coefficients, outputs, solutions = problem
    found = replace(prior, penalty=1e-9).fit(inputs, coefficients, outputs, solutions)
    met = torch.stack([predict(found, one) for one in coefficients])
    assert (met - solutions).norm() < 1e-2 * solutions.norm()


@pytest.mark.parametrize("prior", PRIORS)
def test_shifting_all_inputs_changes_nothing(problem, prior):
    inputs, coefficients, outputs, solutions = problem
    shift = random_matrix(2, 20, seed=5)
    found = prior.fit(inputs, coefficients, outputs, solutions)
    shifted = prior.fit(inputs, coefficients + shift, outputs, solutions)
    torch.testing.assert_close(predict(shifted, coefficients[0] + shift), predict(found, coefficients[0]))
    torch.testing.assert_close(shifted.left_out, found.left_out)


def test_portions_of_nodes_add_up(problem, monkeypatch):
    inputs, coefficients, outputs, solutions = problem
    whole = PRIORS[0].fit(inputs, coefficients, outputs, solutions)
    monkeypatch.setattr("gola.operators.closed_form.green._PORTION", 5000)
    parts = PRIORS[0].fit(inputs, coefficients, outputs, solutions)
    torch.testing.assert_close(parts.weights, whole.weights)
    torch.testing.assert_close(parts.left_out, whole.left_out)


def test_the_lattice_carries_functions_up_to_half_the_highest_wave():
    for dim in (1, 2, 3):
        corners = torch.stack([torch.full((dim,), -1.0), torch.full((dim,), 4.0)]).double()
        space = FunctionSpace.around(corners, padding=1.25, num_modes=50)
        space = space.with_penalties(1e-10 * growth(space, 3.0))
        nodes = lattice(space)
        assert nodes.min() == 0.0
        assert nodes.max() == 1.0
        elsewhere = -1.0 + 5.0 * torch.rand(40, dim, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        places = space.lower + space.sides * nodes
        found = space.coefficients([places], [space.functions(places)])[0]
        low = space.waves.max(dim=1).values <= space.waves.max() / 2
        expected = space.functions(elsewhere)
        torch.testing.assert_close((expected @ found)[:, low], expected[:, low], rtol=0, atol=5e-3)
