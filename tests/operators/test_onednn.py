"""Products by oneDNN beside torch's own, which are the plain reference."""

import itertools

import pytest
import torch

from gola.operators import onednn
from gola.operators.onednn import Linear, linear, matmul
from gola.recording import own_operations

# Just large enough to be worth a call, and a matrix with few rows.
SHAPES = [(257, 130, 128), (5, 1100, 800), (900, 1100, 5), (4, 6, 3)]
LAYOUTS = ["rows", "columns", "rows with gaps", "columns with gaps"]


@pytest.fixture(autouse=True)
def _random_numbers():
    torch.manual_seed(0)


def matrix(rows, columns, layout="rows"):
    wide = torch.randn(rows, columns + 3) if "rows" in layout else torch.randn(columns, rows + 3)
    taken = wide[:, : columns if "rows" in layout else rows]
    taken = taken if "gaps" in layout else taken.contiguous()
    return taken if "rows" in layout else taken.mT


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("left_layout", "right_layout"), list(itertools.product(LAYOUTS, LAYOUTS)))
def test_a_product_is_that_of_torch_however_its_matrices_lie_in_memory(shape, left_layout, right_layout):
    rows, inner, columns = shape
    left, right = matrix(rows, inner, left_layout), matrix(inner, columns, right_layout)
    exact = left.double() @ right.double()
    torch.testing.assert_close(matmul(left, right).double(), exact, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradients_of_first_and_second_order_are_those_of_torch(shape):
    rows, inner, columns = shape

    def gradients(multiply):
        torch.manual_seed(1)
        left, right = torch.randn(rows, inner).requires_grad_(), torch.randn(inner, columns).requires_grad_()
        first = torch.autograd.grad(multiply(left, right).sin().sum(), (left, right), create_graph=True)
        second = torch.autograd.grad(sum(gradient.square().sum() for gradient in first), (left, right))
        return (*first, *second)

    for found, expected in zip(gradients(matmul), gradients(torch.matmul), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3 * float(expected.detach().abs().max()))


def test_leading_axes_of_one_or_both_matrices_are_multiplied_one_by_one():
    heads, samples = torch.randn(3, 170, 160), torch.randn(2, 3, 160, 180)
    torch.testing.assert_close(matmul(heads, samples), heads @ samples, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(matmul(samples.mT, heads[0].mT), samples.mT @ heads[0].mT, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("rows", [7, 900])
def test_a_linear_layer_is_that_of_torch_with_all_its_gradients(rows):
    ours, theirs = Linear(80, 70), torch.nn.Linear(80, 70)
    theirs.load_state_dict(ours.state_dict())
    inputs = torch.randn(rows, 80)
    results = []
    for layer in (ours, theirs):
        own = inputs.clone().requires_grad_()
        found = layer(own)
        found.square().sum().backward()
        results.append((found, own.grad, layer.weight.grad, layer.bias.grad))
    for found, expected in zip(*results, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4 * float(expected.detach().abs().max()))


def test_recorded_operations_double_precision_mixed_precision_and_small_products_are_those_of_torch():
    large = torch.randn(200, 200, dtype=torch.float64)
    assert torch.equal(matmul(large, large), large @ large)
    small = torch.randn(8, 8)
    assert torch.equal(linear(small, small), torch.nn.functional.linear(small, small))
    with own_operations():
        assert torch.equal(matmul(large.float(), large.float()), large.float() @ large.float())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert matmul(large.float(), large.float()).dtype == torch.bfloat16


def test_processors_without_wide_registers_take_torchs_products(monkeypatch):
    monkeypatch.setattr(onednn, "_has_wide_registers", lambda: False)
    left = torch.randn(300, 300)
    assert torch.equal(matmul(left, left), left @ left)
