import math
from dataclasses import replace

import pytest
import torch

from gola.geometry.symmetry import Symmetry
from gola.operators.closed_form.ridge import fit_ridge
from gola.operators.closed_form.scores import Probes
from gola.operators.linear.green import Component, InputFunctions, kernel_at
from gola.operators.linear.linear_map import Affine, GreenPrior, SpectralPrior, lattice
from gola.representation.function_space import FunctionSpace
from gola.representation.smoothness import growth
from gola.representation.symmetry import Symmetries, whole_shells

UNIT_SQUARE = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
NEAR = Component(order=1, rate=10.0, widths=(0.2, 0.3), window="cauchy")
FAR = Component(order=3, rate=10.0, widths=(math.inf, 1.0), window="gaussian", share=0.2)
PRIORS = [
    GreenPrior(components=(NEAR, FAR), penalty=1e-3),
    SpectralPrior(exponent=1.5, rate=10.0, penalty=1e-2),
    SpectralPrior(exponent=-1.0, rate=10.0, penalty=1e-2),
]
LOWEST = whole_shells(15, dim=2)
PARTIAL = replace(PRIORS[0], num_output_modes=LOWEST)

STILL = Symmetries.none(2)
SWAP = Symmetry(axes=(1, 0), flips=(False, False))
TURN = Symmetry(axes=(0, 1), flips=(True, True), input_sign=-1)
ANTI = Symmetry(axes=(0, 1), flips=(True, False), output_sign=-1)
GROUPS = [
    Symmetries((STILL.elements[0], SWAP, TURN, SWAP.after(TURN))),
    Symmetries((STILL.elements[0], ANTI)),
]
SYMMETRIC_PRIORS = [
    GreenPrior(components=(replace(NEAR, widths=(0.3, 0.3)), replace(FAR, widths=(1.0, 1.0))), penalty=1e-3),
    PRIORS[1],
]
SYMMETRIC_PRIORS.append(replace(SYMMETRIC_PRIORS[0], num_output_modes=LOWEST))


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
    return found.affine.dense @ coefficients.flatten() + found.affine.offset


@pytest.mark.parametrize("prior", [*PRIORS, PARTIAL])
def test_held_out_predictions_equal_those_of_refits(problem, prior):
    inputs, coefficients, outputs, solutions = problem
    found = prior.fit(inputs, coefficients, outputs, solutions, STILL)
    for row in range(9):
        others = torch.arange(9) != row
        refit = prior.fit(inputs, coefficients[others], outputs, solutions[others], STILL)
        torch.testing.assert_close(found.held_out[row], predict(refit, coefficients[row]), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("prior", PRIORS)
def test_samples_beyond_the_prior_are_met_where_the_penalty_is_small(problem, prior):
    inputs, coefficients, outputs, solutions = problem
    found = replace(prior, penalty=1e-9).fit(inputs, coefficients, outputs, solutions, STILL)
    met = torch.stack([predict(found, one) for one in coefficients])
    assert (met - solutions).norm() < 1e-2 * solutions.norm()


def test_waves_of_the_solutions_that_are_not_fitted_are_predicted_by_their_means(problem):
    inputs, coefficients, outputs, solutions = problem
    found = PARTIAL.fit(inputs, coefficients, outputs, solutions, STILL)
    low = PARTIAL.fit(inputs, coefficients, space_of(LOWEST), solutions[:, :LOWEST], STILL)
    predicted = found(coefficients)
    torch.testing.assert_close(predicted[:, :LOWEST], low(coefficients))
    torch.testing.assert_close(predicted[:, LOWEST:], solutions[:, LOWEST:].mean(dim=0).expand(9, -1, -1))


@pytest.mark.parametrize("prior", PRIORS)
def test_shifting_all_inputs_changes_nothing(problem, prior):
    inputs, coefficients, outputs, solutions = problem
    shift = random_matrix(2, 20, seed=5)
    found = prior.fit(inputs, coefficients, outputs, solutions, STILL)
    shifted = prior.fit(inputs, coefficients + shift, outputs, solutions, STILL)
    torch.testing.assert_close(predict(shifted, coefficients[0] + shift), predict(found, coefficients[0]))
    torch.testing.assert_close(shifted.held_out, found.held_out)


def test_portions_of_nodes_are_fitted_as_all_together(problem, monkeypatch):
    inputs, coefficients, outputs, solutions = problem
    whole = PRIORS[0].fit(inputs, coefficients, outputs, solutions, STILL)
    monkeypatch.setattr("gola.operators.linear.linear_map._PORTION", 5 * len(solutions) ** 2)
    parts = PRIORS[0].fit(inputs, coefficients, outputs, solutions, STILL)
    torch.testing.assert_close(parts.affine.dense, whole.affine.dense)
    torch.testing.assert_close(parts.held_out, whole.held_out)


def symmetric_problem():
    """Like the fixture, in spaces that swapping the axes maps to themselves."""
    inputs, outputs = space_of(whole_shells(20, dim=2)), space_of(whole_shells(30, dim=2))
    coefficients, solutions = random_matrix(9, 2, inputs.num_modes), random_matrix(9, outputs.num_modes, 3, seed=1)
    return inputs, coefficients, outputs, solutions


@pytest.mark.parametrize("prior", SYMMETRIC_PRIORS)
@pytest.mark.parametrize("group", GROUPS)
def test_samples_with_all_their_copies_are_fitted_as_if_each_were_a_sample(prior, group):
    inputs, coefficients, outputs, solutions = symmetric_problem()
    found = prior.fit(inputs, coefficients, outputs, solutions, group)
    copies, targets = group.inputs(inputs, coefficients), group.solutions(outputs, solutions)
    plain = prior.fit(inputs, copies, outputs, targets, STILL)
    torch.testing.assert_close(found.affine.dense, plain.affine.dense, rtol=1e-7, atol=1e-7)
    torch.testing.assert_close(found.affine.offset, plain.affine.offset, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("prior", SYMMETRIC_PRIORS)
@pytest.mark.parametrize("group", GROUPS)
def test_samples_are_held_out_together_with_their_copies(prior, group):
    inputs, coefficients, outputs, solutions = symmetric_problem()
    found = prior.fit(inputs, coefficients, outputs, solutions, group)
    for row in range(9):
        others = torch.arange(9) != row
        refit = prior.fit(inputs, coefficients[others], outputs, solutions[others], group)
        torch.testing.assert_close(found.held_out[row], predict(refit, coefficients[row]), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("prior", SYMMETRIC_PRIORS)
@pytest.mark.parametrize("group", GROUPS)
def test_a_map_fitted_with_symmetries_has_them(prior, group):
    inputs, coefficients, outputs, solutions = symmetric_problem()
    found = prior.fit(inputs, coefficients, outputs, solutions, group)
    others = random_matrix(4, 2, inputs.num_modes, seed=7)
    copies = found(group.inputs(inputs, others))
    torch.testing.assert_close(copies, group.solutions(outputs, found(others)), rtol=1e-7, atol=1e-7)


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


def test_a_product_is_kept_as_one_where_that_is_smaller_and_gives_the_same():
    left, rows, offset = random_matrix(30, 3, 4), random_matrix(4, 40, seed=1), random_matrix(30, 3, seed=2)
    kept, dense = Affine.of_product(left, rows, offset), Affine(weights=left @ rows, offset=offset)
    assert kept.rows is not None
    features = random_matrix(5, 40, seed=3)
    torch.testing.assert_close(kept(features), dense(features))
    torch.testing.assert_close(kept.dense, dense.dense)
    assert Affine.of_product(random_matrix(2, 1, 4), rows, offset[:2, :1]).rows is None


def test_of_very_many_samples_some_are_fitted_and_the_others_predicted(problem, monkeypatch):
    monkeypatch.setattr("gola.operators.linear.linear_map._MOST_FITTED", 5)
    inputs, coefficients, outputs, solutions = problem
    fitted, unseen = [0, 2, 4, 6, 8], [1, 3, 5, 7]
    found = PRIORS[0].fit(inputs, coefficients, outputs, solutions, STILL)
    alone = PRIORS[0].fit(inputs, coefficients[fitted], outputs, solutions[fitted], STILL)
    torch.testing.assert_close(found.held_out[fitted], alone.held_out)
    torch.testing.assert_close(found.held_out[unseen], alone(coefficients[unseen]))
    torch.testing.assert_close(found.affine.dense, alone.affine.dense)


@pytest.mark.parametrize("symmetries", [STILL, GROUPS[0]])
def test_waves_that_no_input_has_need_not_be_seen(problem, symmetries):
    inputs, coefficients, outputs, solutions = problem
    count = whole_shells(12, dim=2)
    coefficients = coefficients.clone()
    coefficients[..., count:] = 0.0
    seen = replace(SYMMETRIC_PRIORS[0], num_modes=count)
    found = seen.fit(inputs, coefficients, outputs, solutions, symmetries)
    alone = seen.fit(space_of(count), coefficients[..., :count], outputs, solutions, symmetries)
    torch.testing.assert_close(found.held_out, alone.held_out)
    torch.testing.assert_close(found(coefficients), alone(coefficients[..., :count]))


def test_held_out_predictions_at_places_are_those_of_refits():
    prior, (inputs, coefficients, *_) = PRIORS[0], (space_of(20), random_matrix(9, 2, 20))
    places = torch.rand(4, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    values = random_matrix(4, 9, 1, seed=2)
    scales = torch.ones(1, dtype=torch.float64)
    found = prior.held_out_at(inputs, coefficients, Probes(fractions=places, values=values, scales=scales))
    kernel = kernel_at(InputFunctions.of(inputs, coefficients), prior.components, places)
    for row in range(9):
        others = torch.arange(9) != row
        refit = fit_ridge(kernel[:, others][:, :, others], values[:, others], prior.penalty)
        expected = kernel[:, row][:, None, others] @ refit.dual + refit.free
        torch.testing.assert_close(found[:, row], expected[:, 0], rtol=1e-7, atol=1e-7)
