import pytest
import torch

from gola.representation import many_fits
from gola.representation.cosines import gram_of_sums, lowest_waves, sums_and_moments
from gola.representation.function_space import FunctionSpace, MeanPrior
from gola.representation.many_fits import GramProducts, conjugate_gradients


def scattered(count, dim=2, seed=0):
    return torch.rand(count, dim, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def spread_evenly(per_axis, dim=2, seed=0):
    """Nodes of a lattice, each moved a little, as nodes of meshes are."""
    axis = (torch.arange(per_axis, dtype=torch.float64) + 0.5) / per_axis
    nodes = torch.cartesian_prod(*[axis] * dim)
    return nodes + 0.3 / per_axis * (scattered(len(nodes), dim, seed) - 0.5)


def samples(count=12, num_channels=1, points=lambda seed: spread_evenly(22, seed=seed)):
    places = [points(seed) for seed in range(count)]
    waves = 3.0 + torch.arange(num_channels)
    return places, [torch.sin(waves * one[:, :1] + row) * one[:, 1:].exp() for row, one in enumerate(places)]


def space_for(points, penalty=1.0, num_modes=400):
    space = FunctionSpace.around(torch.cat(points), padding=1.25, num_modes=num_modes)
    return space.with_penalties(penalty * (1.0 + (space.frequencies / 10.0) ** 2) ** 2)


def prior(*numbers):
    mean, variance, noise = (torch.tensor([number], dtype=torch.float64) for number in numbers)
    return MeanPrior(mean=mean, variance=variance, noise=noise)


def one_by_one(space, points, values, means=None):
    return torch.cat([space.coefficients([one], [own], means) for one, own in zip(points, values, strict=True)])


@pytest.fixture
def solved_together(monkeypatch):
    """Whether each attempt to solve for many samples found their solutions."""
    found, solutions = [], many_fits.ManyFits.solutions

    def recorded(fits):
        result = solutions(fits)
        found.append(result is not None)
        return result

    monkeypatch.setattr(many_fits.ManyFits, "solutions", recorded)
    return found


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_a_grid_with_weights_has_the_gram_matrix_of_the_points(dim):
    angles, num_modes = [torch.pi * scattered(50, dim, seed) for seed in range(3)], 30
    sums = torch.stack([sums_and_moments([(one, one[:, :1])], num_modes)[0] for one in angles])
    penalties = torch.linspace(0.1, 2.0, num_modes, dtype=torch.float64)
    vectors = torch.randn(3, 2, num_modes, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    matrices = torch.stack([gram_of_sums(one, num_modes) for one in sums]) + penalties.diag()
    assert len(lowest_waves(num_modes, dim)) == num_modes
    torch.testing.assert_close(GramProducts.of(sums, penalties)(vectors), vectors @ matrices)


@pytest.mark.parametrize("num_channels", [1, 2])
def test_many_samples_have_the_coefficients_of_each_alone(solved_together, num_channels):
    points, values = samples(num_channels=num_channels)
    space = space_for(points)
    found = space.coefficients(points, values)
    assert solved_together == [True]
    torch.testing.assert_close(found, one_by_one(space, points, values), rtol=0, atol=1e-10)


def test_what_is_known_of_the_means_is_the_same(solved_together):
    points, values = samples()
    space = space_for(points)
    for variance in (torch.inf, 1.0, 1e-5, 1e-9, 0.0):
        means = prior(0.4, variance, 1e-2)
        together = space.coefficients(points, values, means)
        torch.testing.assert_close(together, one_by_one(space, points, values, means), rtol=0, atol=1e-10)
    # A mean that is known firmly, but not for certain, takes factors.
    assert solved_together == [True, True, True, False, True]


def test_samples_of_different_sizes_and_constant_values_are_solved_together(solved_together):
    points, values = samples(points=lambda seed: spread_evenly(22 + seed % 2, seed=seed))
    values[3] = torch.full_like(values[3], 7.0)
    space = space_for(points)
    found = space.coefficients(points, values)
    assert solved_together == [True]
    torch.testing.assert_close(found, one_by_one(space, points, values), rtol=0, atol=1e-10)
    assert found[3, 0] == 7.0
    assert not found[3, 1:].any()


def test_samples_in_three_dimensions_are_solved_together(solved_together):
    points, values = samples(points=lambda seed: spread_evenly(9, dim=3, seed=seed))
    space = space_for(points, penalty=10.0)
    found = space.coefficients(points, values)
    assert solved_together == [True]
    torch.testing.assert_close(found, one_by_one(space, points, values), rtol=0, atol=1e-10)


@pytest.mark.parametrize("penalty", [1e-13, 1e-5])
def test_where_it_takes_too_many_steps_or_digits_each_sample_gets_a_factor(solved_together, penalty):
    points, values = samples(points=lambda seed: scattered(450, seed=seed))
    space = space_for(points, penalty=penalty)
    found = space.coefficients(points, values)
    assert solved_together == [False]
    # Weak penalties leave coefficients to rounding, but not what functions are at the points.
    for place, one, other in zip(points, found, one_by_one(space, points, values), strict=True):
        torch.testing.assert_close(space.values(place, one), space.values(place, other), rtol=0, atol=1e-9)


def test_gradients_pass_through_factors(solved_together):
    points, values = samples()
    values[0].requires_grad_()
    space_for(points).coefficients(points, values).sum().backward()
    assert values[0].grad.abs().sum() > 0.0
    assert solved_together == []


def test_threads_change_nothing(solved_together):
    points, values = samples(count=90)
    space = space_for(points)
    alone = space.coefficients(points, values)
    torch.set_num_threads(2)
    together = space.coefficients(points, values)
    torch.set_num_threads(1)
    assert torch.equal(alone, together)
    assert solved_together == [True, True]


def test_a_system_that_takes_more_steps_is_given_up():
    def product(vectors):
        return vectors * torch.arange(1.0, 41.0, dtype=torch.float64)

    right = torch.ones(1, 1, 40, dtype=torch.float64)
    assert conjugate_gradients(product, product, torch.clone, right, most_steps=5) is None
    found = conjugate_gradients(product, product, torch.clone, right, most_steps=100)
    torch.testing.assert_close(product(found), right)
