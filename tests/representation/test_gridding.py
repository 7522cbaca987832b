import math

import pytest
import torch

from gola.recording import own_operations
from gola.representation.cosines import (
    combine,
    combine_each,
    evaluate,
    gram,
    lowest_waves,
    moments,
    plain_cosines,
    sums_and_moments,
    sums_and_moments_of_each,
)
from gola.representation.gridding import Grid, is_quickest
from gola.surrogate.tracing import traced


def angles_of(count, seed=0):
    """Angles in the box, with its corners and some points beyond it."""
    found = math.pi * torch.rand(count, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    found[:4] = math.pi * torch.tensor([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0 - 1e-16, 1e-18]])
    found[4:7] = torch.tensor([[-0.3, 4.0], [-3.1, 6.2], [1.0, -1e-9]])
    return found


def numbers(*shape, seed=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def plain(function, *arguments):
    with own_operations():
        return function(*arguments)


@pytest.mark.parametrize("size", [1, 5, 36, 120])
@pytest.mark.parametrize("num_channels", [1, 3])
def test_sums_and_values_on_a_grid_are_those_of_the_cosines(size, num_channels):
    angles, values, table = angles_of(300), numbers(300, num_channels), numbers(num_channels, size, size)
    along, across = (plain_cosines(angle, size) for angle in angles.T)
    grid = Grid.of(size)
    nodes = grid.nodes(num_channels)
    grid.spread(angles[:100], values[:100], nodes)
    grid.spread(angles[100:], values[100:], nodes)
    expected = torch.einsum("kp,lp,pc->ckl", along, across, values)
    torch.testing.assert_close(grid.sums(nodes, size), expected, rtol=0, atol=1e-11)
    expected = torch.einsum("kp,lp,ckl->pc", along, across, table)
    torch.testing.assert_close(grid.interpolate(angles, grid.values(table)), expected, rtol=0, atol=1e-13 * size**2)


@pytest.mark.parametrize("num_channels", [0, 1, 3])
def test_functions_have_the_same_sums_and_values_with_a_grid_and_without(num_channels):
    angles, waves = angles_of(900), lowest_waves(200, 2)
    values, coefficients = numbers(900, num_channels), numbers(3, 200, num_channels)
    portions = list(zip(angles.split(400), values.split(400), strict=True))
    functions = (
        lambda: sums_and_moments(portions, 200),
        lambda: sums_and_moments_of_each(angles, values, [300, 299, 301], 200),
        lambda: moments(angles, waves, values),
        lambda: combine(angles, waves, coefficients[0]),
        lambda: combine_each(angles, [300, 299, 301], waves, coefficients),
        lambda: gram(angles.split(500), 200),
    )
    for function in functions if num_channels else functions[:1]:
        torch.testing.assert_close(function(), plain(function), rtol=1e-11, atol=1e-10)


def test_whoever_asks_for_derivatives_gets_them():
    angles, waves, coefficients = angles_of(300), lowest_waves(200, 2), numbers(200, 1)
    places = [angles.clone().requires_grad_() for _ in range(2)]
    combine(places[0], waves, coefficients).square().sum().backward()
    (evaluate(places[1], waves) @ coefficients).square().sum().backward()
    torch.testing.assert_close(places[0].grad, places[1].grad, rtol=1e-10, atol=1e-8)
    for one in (angles, coefficients):
        one.requires_grad_()
    assert not is_quickest(1, angles.detach(), coefficients)
    assert not is_quickest(1, angles, coefficients.detach())


def test_whoever_records_operations_sees_them_all():
    angles, waves = angles_of(300), lowest_waves(200, 2)
    graph = traced(lambda values: combine(angles, waves, values), numbers(200, 1, seed=2))
    others = numbers(200, 1, seed=3)
    torch.testing.assert_close(graph(others), combine(angles, waves, others), rtol=0, atol=1e-11)


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e30, -100.0])
def test_points_far_from_the_box_or_nowhere_are_left_to_the_cosines(bad):
    angles, waves, coefficients = angles_of(300), lowest_waves(200, 2), numbers(200, 1)
    angles[17, 1] = bad
    functions = (lambda: combine(angles, waves, coefficients), lambda: moments(angles, waves, numbers(300, 1)))
    for function in functions:
        torch.testing.assert_close(function(), plain(function), rtol=0, atol=0, equal_nan=True)
