import numpy as np
import pytest
import torch

from gola.representation.cholesky import (
    cholesky,
    cholesky_of_many,
    cholesky_or_none,
    cholesky_solve,
    inverses_of_factors,
)


def random_matrix(size=30):
    half = torch.randn(size, size, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return half @ half.T + torch.eye(size)


def test_factors_are_those_of_pytorch():
    torch.testing.assert_close(cholesky(random_matrix()), torch.linalg.cholesky(random_matrix()))


def test_gradients_pass_through():
    matrix = random_matrix().requires_grad_()
    cholesky(1.0 * matrix).sum().backward()
    assert matrix.grad.abs().sum() > 0.0


def test_a_matrix_that_is_not_positive_definite_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="penalties are too small"):
        cholesky(-random_matrix())


def test_solutions_are_those_of_pytorch_and_differentiable():
    factor, right = cholesky(random_matrix()), torch.ones(30, 2, dtype=torch.float64)
    torch.testing.assert_close(cholesky_solve(right, factor), torch.cholesky_solve(right, factor))
    cholesky_solve(right.requires_grad_(), factor).sum().backward()
    assert right.grad.abs().sum() > 0.0


@pytest.mark.parametrize("size", [5, 80])
@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
def test_factors_of_many_and_their_inverses_are_those_of_pytorch(size, batch):
    half = torch.randn(*batch, size, size, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    matrices = half @ half.mT + torch.eye(size)
    expected = torch.linalg.cholesky(matrices)
    factors = cholesky_of_many(matrices.clone())
    torch.testing.assert_close(factors, expected)
    torch.testing.assert_close(inverses_of_factors(factors), torch.linalg.inv(expected))


def test_what_is_not_positive_definite_has_no_factor():
    assert cholesky_or_none(-random_matrix()) is None
