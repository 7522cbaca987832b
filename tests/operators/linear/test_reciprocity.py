"""What an operator that is its own adjoint tells about solutions that nobody has seen."""

from dataclasses import replace

import pytest
import torch

from gola.operators.closed_form.input_features import InputFeatures
from gola.operators.linear.linear_map import Affine, LinearMap
from gola.operators.linear.reciprocity import Reciprocity, integrals
from gola.representation.function_space import FunctionSpace
from tests.operators.closed_form.examples import relative_error, scattered, small_operator, without


def space(dim, padding, num_modes):
    corners = torch.stack([torch.zeros(dim), torch.ones(dim)]).double()
    return FunctionSpace.around(corners, padding=padding, num_modes=num_modes)


@pytest.mark.parametrize("dim", [1, 2])
def test_integrals_are_those_of_a_fine_lattice(dim):
    first, second = space(dim, 1.25, 12), space(dim, 3.0, 9)
    axis = (torch.arange(400, dtype=torch.float64) + 0.5) / 400
    points = torch.cartesian_prod(*[axis] * dim).reshape(-1, dim)
    expected = first.functions(points).T @ second.functions(points) / len(points)
    torch.testing.assert_close(integrals(first, second), expected, rtol=0.0, atol=2e-5)


def smooth_field(number):
    """A random sum of waves in one dimension."""
    generator = torch.Generator().manual_seed(number)
    amplitudes = torch.randn(12, generator=generator, dtype=torch.float64)
    waves = torch.pi * torch.arange(1, 13, dtype=torch.float64)
    return lambda points: torch.sin(points * waves) @ amplitudes[:, None]


def answered(kernel, count, seed=0):
    """Solutions that are the integral of a kernel times the input."""
    places = (torch.arange(200, dtype=torch.float64) + 0.5) / 200
    pairs = []
    for number in range(count):
        field = smooth_field(1000 * seed + number)
        solution = lambda points, field=field: kernel(points, places) @ field(places[:, None]) / len(places)  # noqa: E731
        pairs.append((field, solution))
    return scattered(pairs, sizes=[60] * count, dim=1, seed=seed)


def string(points, places):
    """The shape of a string that is plucked at some place."""
    return torch.minimum(points, places) * (1.0 - torch.maximum(points, places))


def wind(points, places):
    """What comes from the left, which hears nothing from the right."""
    return torch.sigmoid(40.0 * (points - places)) * torch.exp(-3.0 * (points - places).clamp(min=0.0))


def fitted(kernel, **settings):
    own = {"num_modes": 40, "num_wide_modes": 30, "dim": 1, "steps": without("symmetries", "diffusion")}
    operator = small_operator("linear", **{**own, **settings})
    operator.fit_cloud(*answered(kernel, 6))
    return operator


def test_reciprocity_pays_where_source_and_observer_may_change_places():
    plain, informed = fitted(string, steps=without("symmetries", "reciprocity", "diffusion")), fitted(string)
    assert plain.choice["reciprocity"] is None
    assert informed.choice["reciprocity"] is not None
    cloud, targets = answered(string, 20, seed=1)
    errors = [relative_error(operator(cloud), targets, cloud.sizes) for operator in (plain, informed)]
    assert errors[1] < 0.8 * errors[0]
    assert informed.cv_error < 0.8 * plain.cv_error


def test_what_is_not_its_own_adjoint_is_left_as_it_is():
    assert fitted(wind).choice["reciprocity"] is None


def test_other_samples_are_fitted_with_it_too():
    operator = fitted(string)
    before = operator.weights
    operator.refit(*answered(string, 6))
    torch.testing.assert_close(operator.weights, before)


@pytest.fixture
def pairs():
    generator = torch.Generator().manual_seed(0)
    outputs = space(1, 1.25, 6)
    inputs = InputFeatures()
    inputs.space, inputs.scales = outputs, torch.tensor([2.0], dtype=torch.float64)
    root = torch.randn(6, 6, generator=generator, dtype=torch.float64)
    # A symmetric matrix between functions becomes a map of coefficients by the inverse of their products.
    map_ = root @ root.T @ integrals(outputs, outputs)
    features = torch.randn(5, 1, 6, generator=generator, dtype=torch.float64)
    solutions = torch.einsum("mk,sk->sm", map_, 2.0 * features[:, 0])[..., None]
    return Reciprocity.found(inputs, features, outputs, solutions), solutions


def some_map(solutions):
    generator = torch.Generator().manual_seed(1)
    noise = [torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in [(6, 1, 6), (6, 1), (5, 6, 1)]]
    affine = Affine(weights=noise[0], offset=noise[1])
    return LinearMap(held_out=solutions + 0.1 * noise[2], solved=lambda: affine)


def test_a_symmetric_map_has_no_asymmetry(pairs):
    assert pairs[0].asymmetry < 1e-12


def test_integrals_of_informed_solutions_are_those_known(pairs, monkeypatch):
    found, solutions = pairs
    monkeypatch.setattr(Reciprocity, "_disagreement", lambda _: 1e-12)
    informed = found.conditioned(some_map(solutions), [1.0])[0]
    predicted = informed(found.features[:, None]).flatten(1)
    centred = found.tested - found.tested.mean(dim=0)
    expected = centred @ (found.solutions - found.solutions.mean(dim=0)).T
    torch.testing.assert_close(centred @ (predicted - found.solutions.mean(dim=0)).T, expected, rtol=1e-5, atol=1e-5)


def test_a_sample_held_out_has_no_say_in_its_prediction(pairs, monkeypatch):
    found, solutions = pairs
    monkeypatch.setattr(Reciprocity, "_disagreement", lambda _: 0.1)
    plain = some_map(solutions)
    changed = replace(found, solutions=found.solutions.clone(), known=found.known.clone())
    changed.solutions[2] += 1.0
    changed.known[2] -= 1.0
    before, after = (one.conditioned(plain, [1.0])[0].held_out for one in (found, changed))
    torch.testing.assert_close(before[2], after[2])
    assert not torch.allclose(before[0], after[0])


def test_channels_that_do_not_match_tell_nothing():
    outputs = space(1, 1.25, 6)
    inputs = InputFeatures()
    inputs.space, inputs.scales = outputs, torch.ones(2, dtype=torch.float64)
    assert Reciprocity.found(inputs, torch.rand(5, 2, 6).double(), outputs, torch.rand(5, 6, 1).double()) is None


def test_pairs_that_agree_perfectly_and_maps_without_error_are_no_trouble(pairs):
    found, solutions = pairs
    perfect = replace(some_map(solutions), held_out=solutions)
    informed = found.conditioned(perfect, [1.0])[0]
    torch.testing.assert_close(informed.affine.dense, perfect.affine.dense)
    torch.testing.assert_close(informed.held_out, solutions)


def test_maps_of_several_noises_are_those_of_each(pairs):
    found, solutions = pairs
    plain = some_map(solutions)
    together = found.conditioned(plain, [1.0, 30.0])
    for informed, noise in zip(together, (1.0, 30.0), strict=True):
        alone = found.conditioned(plain, [noise])[0]
        torch.testing.assert_close(informed.held_out, alone.held_out)
        torch.testing.assert_close(informed.affine.weights, alone.affine.weights)
