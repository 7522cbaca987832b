"""Power laws of the size of solutions."""

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
        torch.testing.assert_close(law, power_law(scalars - centre, exponents))
