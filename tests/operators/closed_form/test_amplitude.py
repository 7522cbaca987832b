"""Power laws of the size of solutions."""

import pytest
import torch

from gola.operators.closed_form.amplitude import fit_power_law, laws_without, power_law


def example():
    generator = torch.Generator().manual_seed(0)
    scalars = torch.randn(9, 3, generator=generator, dtype=torch.float64)
    scalars = scalars - scalars.mean(dim=0)
    noise = torch.randn(9, 2, generator=generator, dtype=torch.float64)
    return scalars, (scalars @ torch.tensor([[1.0, 2.0], [-1.0, 0.0], [0.0, 0.5]]).double() + 0.1 * noise).exp()


def test_exponents_of_a_power_law_are_found():
    scalars, _ = example()
    wanted = torch.tensor([[1.0], [-2.0], [0.5]]).double()
    torch.testing.assert_close(fit_power_law(scalars, (scalars @ wanted + 3.0).exp()), wanted, atol=1e-4, rtol=0.0)


def test_a_law_without_a_sample_is_that_of_the_others():
    scalars, norms = example()
    for row, law in enumerate(laws_without(scalars, norms)):
        others = torch.arange(len(scalars)) != row
        centre = scalars[others].mean(dim=0)
        exponents = fit_power_law(scalars[others] - centre, norms[others])
        torch.testing.assert_close(law, power_law(scalars - centre, exponents, scalars[others] - centre))


def test_a_law_is_not_trusted_far_beyond_its_samples():
    """Of a parameter over decades that is seen as it is, the next larger value would get any size."""
    known = torch.linspace(-1.0, 1.0, 9, dtype=torch.float64)[:, None]
    exponents = torch.tensor([[3.0]], dtype=torch.float64)
    factors = power_law(torch.tensor([[0.5], [1.2], [8.0], [-8.0]], dtype=torch.float64), exponents, known)
    torch.testing.assert_close(factors[:, 0].log(), torch.tensor([1.5, 3.6, 4.5, -4.5], dtype=torch.float64))


def test_what_is_held_out_is_not_trusted_further():
    scalars = torch.cat([torch.linspace(-1.0, 1.0, 9, dtype=torch.float64), torch.tensor([9.0]).double()])[:, None]
    laws = laws_without(scalars, (3.0 * scalars).exp())
    last = laws[-1, :, 0].log()
    assert float(last[-1] - last[-2]) == pytest.approx(0.25 * 6.0, rel=1e-3)
