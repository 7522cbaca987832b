from dataclasses import replace

import pytest
import torch

from gola.operators.closed_form.pod_rbf import Interpolation, principal_modes
from tests.operators.closed_form.examples import parameter_samples, relative_error, small_operator, wave_samples


def test_it_interpolates_between_parameters():
    operator = small_operator("pod_rbf", num_inputs=2)
    operator.fit_cloud(*parameter_samples(20))
    cloud, targets = parameter_samples(10, seed=1)
    assert relative_error(operator(cloud), targets, cloud.sizes) < 5e-3
    assert operator.cv_error < 1e-2


def test_more_samples_make_it_more_accurate():
    cloud, targets = parameter_samples(10, seed=1)

    def error(count):
        operator = small_operator("pod_rbf", num_inputs=2, num_modes=80)
        operator.fit_cloud(*parameter_samples(count))
        return relative_error(operator(cloud), targets, cloud.sizes)

    assert error(24) < 0.5 * error(6)


def test_the_units_of_parameters_do_not_matter():
    operator, other = small_operator("pod_rbf", num_inputs=2), small_operator("pod_rbf", num_inputs=2)
    cloud, targets = parameter_samples(8)
    operator.fit_cloud(cloud, targets)
    unit = torch.tensor([1e-6, 1e3], dtype=torch.float64)
    other.fit_cloud(replace(cloud, values=cloud.values * unit), targets)
    torch.testing.assert_close(other(replace(cloud, values=cloud.values * unit)), operator(cloud))


def with_decades(cloud, positive=True):
    """The same samples, whose first parameter is a power of ten of what they depend on."""
    values = cloud.values.clone()
    values[:, 0] = 10.0 ** (3.0 * values[:, 0]) if positive else -1.0
    return replace(cloud, values=values)


def test_a_parameter_that_was_drawn_over_decades_is_seen_as_its_logarithm():
    operator = small_operator("pod_rbf", num_inputs=2)
    cloud, targets = parameter_samples(20)
    operator.fit_cloud(with_decades(cloud), targets)
    assert operator.is_logarithmic[0], "the other one varies by a fifth only, where both are alike"
    new, wanted = parameter_samples(10, seed=1)
    assert relative_error(operator(with_decades(new)), wanted, new.sizes) < 5e-3
    with pytest.raises(ValueError, match="takes the logarithm of parameters that were positive"):
        operator(with_decades(new, positive=False))


def test_many_penalties_at_once_give_what_each_of_them_gives():
    generator = torch.Generator().manual_seed(0)
    parameters, values = (torch.randn(9, count, generator=generator, dtype=torch.float64) for count in (2, 4))
    penalties = (1e-8, 1e-2)
    for degree in (0, 1):
        every = [Interpolation(degree=degree, length=2.0, penalty=penalty) for penalty in penalties]
        found = every[0].held_out(parameters, values, torch.tensor(penalties, dtype=torch.float64))
        for one, held_out in zip(every, found, strict=True):
            torch.testing.assert_close(held_out, one.fit(parameters, values).held_out)


def test_a_parameter_that_never_changes_is_harmless():
    cloud, targets = parameter_samples(8)
    fixed = replace(cloud, values=torch.cat([cloud.values[:, :1], torch.ones_like(cloud.values[:, :1])], dim=1))
    operator = small_operator("pod_rbf", num_inputs=2)
    operator.fit_cloud(fixed, targets)
    assert operator(fixed).isfinite().all()


def test_inputs_that_are_functions_are_refused_with_what_to_use_instead():
    operator = small_operator("pod_rbf")
    with pytest.raises(
        ValueError, match=r"constant within each sample; channel 0 of sample 0 goes from .* use the linear"
    ):
        operator.fit_cloud(*wave_samples(5))


def test_modes_are_orthonormal_and_carry_the_solutions():
    solutions = torch.randn(5, 7, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    modes, coordinates = principal_modes(solutions)
    flat = modes.flatten(1)
    torch.testing.assert_close(flat @ flat.T, torch.eye(5, dtype=torch.float64))
    torch.testing.assert_close(torch.einsum("sp,pmc->smc", coordinates, modes), solutions)
    strengths = coordinates.norm(dim=0)
    assert (strengths.diff() <= 0.0).all()
