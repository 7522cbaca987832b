import math

import pytest
import torch

from gola.operators.linear.green import (
    Component,
    InputFunctions,
    axis_matrices,
    kernel_at,
    kernel_by_line,
    kernel_by_node,
    mixed,
)
from gola.representation.function_space import FunctionSpace

UNIT_SQUARE = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)


def space_of(num_modes=15, padding=1.25):
    return FunctionSpace.around(UNIT_SQUARE, padding=padding, num_modes=num_modes)


def coefficients_of(space, num_samples=3, num_channels=2):
    generator = torch.Generator().manual_seed(0)
    return torch.randn(num_samples, num_channels, space.num_modes, generator=generator, dtype=torch.float64)


def matern(order, distances):
    return {
        1: torch.exp(-distances),
        3: (1 + distances + distances**2 / 3) * torch.exp(-distances),
    }[order]


def smoothed(functions, component, node):
    """Apply the covariance at one node to every function, plainly along one axis after the other."""
    tables = component.share * functions.table
    for axis in range(functions.space.dim):
        matrix = axis_matrices(functions.space, component, axis, node[axis : axis + 1])[0]
        tables = mixed(tables, matrix, axis)
    return tables.flatten(1)


@pytest.mark.parametrize("order", [1, 3])
@pytest.mark.parametrize("window", ["gaussian", "cauchy"])
def test_the_kernel_is_the_double_integral_over_the_prior_covariance(order, window):
    space = space_of()
    coefficients = coefficients_of(space)
    component = Component(order=order, rate=5.0, widths=(0.3, math.inf), window=window)
    node = torch.tensor([[0.2, 0.7]], dtype=torch.float64)
    found = kernel_at(InputFunctions.of(space, coefficients), [component], node)[0]

    middle = (torch.arange(40, dtype=torch.float64) + 0.5) / 40
    grid = torch.cartesian_prod(middle, middle)
    values = torch.einsum("scm,pm->scp", coefficients, space.functions(grid)) / len(grid)
    offset = (grid[:, 0] - 0.2) / 0.3
    factor = torch.exp(-0.5 * offset**2) if window == "gaussian" else 1 / (1 + offset**2)
    distances = 5.0 * (grid[:, None] - grid).abs()
    covariance = factor[:, None] * factor * matern(order, distances[..., 0]) * matern(order, distances[..., 1])
    expected = torch.einsum("scp,pq,tcq->st", values, covariance, values)
    torch.testing.assert_close(found / found[0, 0], expected / expected[0, 0], rtol=0, atol=5e-3)


def test_without_a_window_all_nodes_are_alike():
    space = space_of()
    component = Component(order=3, rate=10.0, widths=(math.inf, math.inf), window="gaussian")
    nodes = torch.tensor([[0.1, 0.2], [0.9, 0.5]], dtype=torch.float64)
    kernels = kernel_at(InputFunctions.of(space, coefficients_of(space)), [component], nodes)
    torch.testing.assert_close(kernels[0], kernels[1])


def test_a_narrow_window_sees_only_what_is_near():
    space = space_of(num_modes=200)
    points = torch.rand(2000, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    bump = torch.exp(-((points - torch.tensor([0.2, 0.2])) ** 2).sum(dim=1, keepdim=True) / 0.02)
    space = space.with_penalties(torch.full((200,), 1e-3, dtype=torch.float64))
    functions = InputFunctions.of(space, space.coefficients([points], [bump]).mT)
    component = Component(order=1, rate=10.0, widths=(0.05, 0.05), window="gaussian")
    nodes = torch.tensor([[0.2, 0.2], [0.8, 0.8]], dtype=torch.float64)
    near, far = kernel_at(functions, [component], nodes).flatten()
    assert far < 1e-4 * near


def test_shares_add_up():
    space = space_of()
    functions = InputFunctions.of(space, coefficients_of(space))
    one = Component(order=1, rate=10.0, widths=(0.2, 0.2), window="gaussian")
    other = Component(order=3, rate=10.0, widths=(0.5, 1.0), window="cauchy", share=0.3)
    node = torch.tensor([[0.4, 0.4]], dtype=torch.float64)
    both = kernel_at(functions, [one, other], node)
    torch.testing.assert_close(both, kernel_at(functions, [one], node) + kernel_at(functions, [other], node))


def test_matrices_have_unit_trace_wherever_the_window_is():
    component = Component(order=1, rate=10.0, widths=(0.03125, 0.03125), window="gaussian")
    positions = torch.linspace(0.0, 1.0, 50, dtype=torch.float64)
    traces = axis_matrices(space_of(), component, 0, positions).diagonal(dim1=1, dim2=2).sum(dim=1)
    torch.testing.assert_close(traces, torch.ones(50, dtype=torch.float64))


@pytest.mark.parametrize("dim", [2, 3])
def test_kernels_line_by_line_equal_those_node_by_node(dim):
    corners = torch.stack([torch.zeros(dim), torch.ones(dim)]).double()
    space = FunctionSpace.around(corners, padding=1.25, num_modes=15)
    functions = InputFunctions.of(space, coefficients_of(space, num_samples=7))
    components = [
        Component(order=1, rate=10.0, widths=(0.2, 0.3, 0.4)[:dim], window="gaussian"),
        Component(order=3, rate=10.0, widths=(0.5, math.inf, 1.0)[:dim], window="cauchy", share=0.3),
    ]
    axis = torch.tensor([0.0, 0.3, 1.0], dtype=torch.float64)
    nodes = torch.cartesian_prod(*[axis] * dim)[1:]
    expected = kernel_by_node(functions, components, nodes)
    torch.testing.assert_close(kernel_by_line(functions, components, nodes), expected)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_kernels_node_by_node_equal_inner_products_with_smoothed_functions(dim):
    corners = torch.stack([torch.zeros(dim), torch.ones(dim)]).double()
    space = FunctionSpace.around(corners, padding=1.25, num_modes=15)
    functions = InputFunctions.of(space, coefficients_of(space, num_samples=4))
    component = Component(order=1, rate=10.0, widths=(0.2, 0.3, 0.4)[:dim], window="cauchy", share=0.3)
    nodes = torch.rand(3, dim, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    expected = torch.stack([smoothed(functions, component, node) @ functions.rows.T for node in nodes])
    torch.testing.assert_close(kernel_by_node(functions, [component], nodes), expected)


def test_a_covariance_applied_to_sums_of_functions_is_the_sum_of_what_it_gives_for_each():
    space = space_of()
    functions = InputFunctions.of(space, coefficients_of(space))
    component = Component(order=1, rate=10.0, widths=(0.2, 0.4), window="gaussian", share=0.3)
    nodes = torch.tensor([[0.1, 0.2], [0.9, 0.5]], dtype=torch.float64)
    dual = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    expected = torch.stack(
        [one.T @ smoothed(functions, component, node) for one, node in zip(dual, nodes, strict=True)]
    )
    torch.testing.assert_close(functions.covered([component], nodes, dual), expected)
