"""Covariances between samples, and their derivatives."""

import pytest
import torch

from gola.operators.closed_form.covariance import FAMILIES, Groups, Pairs, covariance_gradient, covariance_matrix


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("linear", [(), (0,), (0, 2)])
@pytest.mark.parametrize("is_affine", [True, False])
def test_the_gradient_is_that_of_automatic_differentiation(family, linear, is_affine):
    generator = torch.Generator().manual_seed(0)
    groups = [torch.randn(6, size, generator=generator, dtype=torch.float64) for size in (1, 2, 1)]
    pairs = Pairs.of(Groups(smooth=groups, linear=groups), Groups(smooth=groups, linear=groups))
    is_linear = torch.tensor([group in linear for group in range(3)])
    slope = torch.randn(6, 6, generator=generator, dtype=torch.float64)
    numbers = torch.randn(4, generator=generator, dtype=torch.float64).requires_grad_()
    matrix = covariance_matrix(
        pairs, family, is_linear, numbers[:3].exp(), numbers[3].exp(), is_affine=is_affine or not linear
    )
    (wanted,) = torch.autograd.grad((slope * matrix).sum(), numbers)
    known = numbers.detach().exp()
    by_scales, by_trend = covariance_gradient(
        pairs, family, is_linear, known[:3], known[3], is_affine=is_affine or not linear, slope=slope
    )
    torch.testing.assert_close(torch.cat([by_scales, by_trend[None]]), wanted)
