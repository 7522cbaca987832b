import pytest
import torch

from gola.representation.cosines import (
    axis_cosines,
    combine,
    combine_on_lattice,
    evaluate,
    gram,
    gram_and_moments,
    lowest_waves,
    moments,
    moments_on_lattice,
    plain_cosines,
)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_lowest_waves_come_first_and_none_is_missing(dim):
    waves = lowest_waves(60, dim)
    lengths = waves.square().sum(dim=1)
    assert waves[0].sum() == 0
    assert (lengths.diff() >= 0).all()
    assert len(waves.unique(dim=0)) == 60
    everywhere = torch.cartesian_prod(*[torch.arange(70)] * dim).reshape(-1, dim)
    assert (everywhere.square().sum(dim=1) < lengths[-1]).sum() <= 60


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_sums_of_products_follow_from_the_sums_of_cosines(dim):
    angles = torch.pi * torch.rand(90, dim, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    functions = evaluate(angles, lowest_waves(40, dim))
    torch.testing.assert_close(gram(angles.split(40), 40), functions.T @ functions, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("num_channels", [1, 3, 50])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_sums_of_products_and_of_values_follow_from_the_same_cosines(dim, num_channels):
    generator = torch.Generator().manual_seed(0)
    angles = torch.pi * torch.rand(90, dim, generator=generator, dtype=torch.float64)
    values = torch.randn(90, num_channels, generator=generator, dtype=torch.float64)
    functions = evaluate(angles, lowest_waves(40, dim))
    products, sums = gram_and_moments(zip(angles.split(40), values.split(40), strict=True), 40)
    torch.testing.assert_close(products, functions.T @ functions, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(sums, functions.T @ values, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("count", [1, 16, 17, 73])
def test_cosines_of_multiples_equal_those_computed_one_by_one(count):
    angles = torch.pi * torch.linspace(0.0, 1.0, 101, dtype=torch.float64)
    torch.testing.assert_close(axis_cosines(angles, count), plain_cosines(angles, count), rtol=0, atol=1e-13)


@pytest.mark.parametrize("num_channels", [1, 2, 50])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_sums_over_functions_and_over_points_are_those_of_the_functions_in_value_and_gradient(dim, num_channels):
    generator = torch.Generator().manual_seed(0)
    waves = lowest_waves(40, dim)
    angles = torch.pi * torch.rand(30, dim, generator=generator, dtype=torch.float64)
    coefficients = torch.randn(40, num_channels, generator=generator, dtype=torch.float64)
    values = torch.randn(30, num_channels, generator=generator, dtype=torch.float64)
    pairs = (
        (lambda x: combine(x, waves, coefficients), lambda x: evaluate(x, waves) @ coefficients),
        (lambda x: moments(x, waves, values), lambda x: evaluate(x, waves).T @ values),
    )
    for fast, plain in pairs:
        torch.testing.assert_close(fast(angles), plain(angles), rtol=1e-12, atol=1e-11)
        places = [angles.clone().requires_grad_() for _ in range(2)]
        for function, place in zip((fast, plain), places, strict=True):
            function(place).square().sum().backward()
        torch.testing.assert_close(places[0].grad, places[1].grad, rtol=1e-10, atol=1e-8)


def test_derivatives_can_be_taken_after_values_were_asked_for_without():
    waves, coefficients = lowest_waves(31, 2), torch.ones(31, 1, dtype=torch.float64)
    angles = torch.rand(20, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    with torch.inference_mode():
        combine(angles, waves, coefficients)
        moments(angles, waves, angles)
    places = angles.clone().requires_grad_()
    (combine(places, waves, coefficients.requires_grad_()).sum() + moments(places, waves, places).sum()).backward()
    assert places.grad.isfinite().all()


def test_the_functions_are_orthonormal_for_the_mean_over_the_box():
    middle = (torch.arange(64, dtype=torch.float64) + 0.5) * torch.pi / 64
    functions = evaluate(torch.cartesian_prod(middle, middle), lowest_waves(50, 2))
    torch.testing.assert_close(functions.T @ functions / 64**2, torch.eye(50, dtype=torch.float64), rtol=0, atol=1e-12)


def test_many_waves_on_a_line_are_summed_by_few():
    angles = torch.linspace(0.0, torch.pi, 200, dtype=torch.float64)[:, None]
    for count in (1, 2, 17, 500):
        waves = lowest_waves(count, dim=1)
        coefficients = torch.randn(count, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        expected = evaluate(angles, waves) @ coefficients
        torch.testing.assert_close(combine(angles, waves, coefficients), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_sums_on_a_lattice_are_those_at_its_nodes(dim):
    generator = torch.Generator().manual_seed(0)
    axes = [torch.rand(4 + axis, generator=generator, dtype=torch.float64) for axis in range(dim)]
    nodes, waves = torch.cartesian_prod(*axes).view(-1, dim), lowest_waves(10, dim)
    coefficients = torch.randn(10, 3, generator=generator, dtype=torch.float64)
    values = torch.randn(len(nodes), 3, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(combine_on_lattice(axes, waves, coefficients), evaluate(nodes, waves) @ coefficients)
    torch.testing.assert_close(moments_on_lattice(axes, waves, values), evaluate(nodes, waves).T @ values)
