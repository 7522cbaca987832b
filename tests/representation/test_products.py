import pytest
import torch

from gola.representation.products import product, symmetric_product


def random_matrix(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("batch", [(), (3,)])
def test_products_are_those_of_pytorch(batch):
    left, right = random_matrix(*batch, 5, 7), random_matrix(7, 4, seed=1)
    torch.testing.assert_close(product(left, right), left @ right)


def test_gradients_pass_through():
    left = random_matrix(5, 7).requires_grad_()
    product(left, random_matrix(7, 4, seed=1)).sum().backward()
    assert left.grad.abs().sum() > 0.0


@pytest.mark.parametrize("size", [3, 250])
def test_of_symmetric_products_one_half_is_computed(size):
    half, middle = random_matrix(size, 6), random_matrix(6, 6, seed=1)
    left, found = half @ (middle + middle.T), torch.empty(size, size, dtype=torch.float64)
    symmetric_product(left, half.T, out=found)
    torch.testing.assert_close(found, left @ half.T)
