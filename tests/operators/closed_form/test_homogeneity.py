import pytest
import torch

from gola.operators.closed_form.homogeneity import Homogeneity
from gola.operators.cloud import Cloud
from tests.operators.closed_form.examples import relative_error, scattered, small_operator


def steady_states(count, *, seed=0, power=1.0):
    """Samples u = (f / a)^power w with a source f, a medium a and a geometry w, all of which vary."""
    generator = torch.Generator().manual_seed(seed)
    functions = []
    for source, medium, geometry in torch.randn(count, 3, generator=generator, dtype=torch.float64).tolist():

        def inputs(points, source=source, medium=medium, geometry=geometry):
            x, y = points.T
            rows = (source * (2.0 + torch.sin(3.0 * x)), (medium + 0.3 * y).exp(), torch.cos(x + geometry))
            return torch.stack(rows, dim=1)

        def solution(points, inputs=inputs):
            f, a, w = inputs(points).T
            return (f.sign() * (f.abs() / a) ** power * (2.0 + w))[:, None]

        functions.append((inputs, solution))
    return scattered(functions, sizes=[60 + number % 3 for number in range(count)], seed=seed)


def split(cloud, targets):
    return torch.split(cloud.values, cloud.sizes), torch.split(targets, cloud.sizes)


def test_sources_and_media_are_recognised_by_the_size_of_solutions():
    assert Homogeneity.suspected(*split(*steady_states(20))).degrees.tolist() == [1, -1, 0]


def test_amplitudes_are_supported_where_solutions_follow_them():
    found = Homogeneity.suspected(*split(*steady_states(20)))
    assert found.is_supported(*split(*steady_states(20)))


@pytest.mark.parametrize("power", [0.3, 2.0])
def test_amplitudes_are_refused_where_solutions_follow_another_power_of_them(power):
    found = Homogeneity.suspected(*split(*steady_states(20)))
    assert not found.is_supported(*split(*steady_states(20, power=power)))


def test_amplitudes_are_refused_where_they_hardly_vary():
    inputs, targets = split(*steady_states(20))
    generator = torch.Generator().manual_seed(1)
    alike = [
        one / one[:, :1].square().mean().sqrt() * (1.0 + 0.01 * torch.randn(1, generator=generator)) for one in inputs
    ]
    found = Homogeneity(3)
    found.degrees = torch.tensor([1, 0, 0])
    assert not found.is_supported(alike, targets)


def test_components_of_a_vector_are_sources_together():
    generator = torch.Generator().manual_seed(0)
    angles = torch.rand(20, generator=generator, dtype=torch.float64) * 6.0
    loads = torch.randn(20, generator=generator, dtype=torch.float64).exp()
    places = torch.rand(30, 1, generator=generator, dtype=torch.float64)
    inputs = [
        torch.cat([load * angle.cos() * places**0, 1e6 * load * angle.sin() * places**0, places], dim=1)
        for load, angle in zip(loads, angles, strict=True)
    ]
    targets = [load * (1.0 + places) for load in loads]
    assert Homogeneity.suspected(inputs, targets).degrees.tolist() == [1, 1, 0]


def test_where_size_has_nothing_to_do_with_inputs_nothing_is_suspected():
    cloud, targets = steady_states(20)
    inputs, _ = split(cloud, targets)
    suspected = Homogeneity.suspected(inputs, [torch.ones(len(values), 1).double() for values in inputs])
    assert not suspected.is_any


def test_channels_that_vanish_somewhere_are_no_media():
    inputs = [torch.tensor([[0.0], [scale]]).double() for scale in (1.0, 2.0, 3.0, 4.0)]
    suspected = Homogeneity.suspected(inputs, [1.0 / values[1:].repeat(2, 1) for values in inputs])
    assert suspected.degrees.tolist() == [0]


def scales_of(degrees, units):
    homogeneity = Homogeneity(len(degrees))
    homogeneity.degrees, homogeneity.units = torch.tensor(degrees), torch.tensor(units).double()
    return homogeneity


def test_amplitudes_are_taken_out_of_values_and_given_back_to_solutions():
    homogeneity = scales_of([1, 1, -1, 0], [1.0, 5.0, 1.0, 1.0])
    values = torch.rand(7, 4).double() + 0.1
    once, factor = homogeneity.taken_out(values)
    again, other = homogeneity.taken_out(values * torch.tensor([6.0, 6.0, 2.0, 1.0]))
    torch.testing.assert_close(again, once)
    torch.testing.assert_close(other, 3.0 * factor)
    torch.testing.assert_close(once[:, 3], values[:, 3])
    torch.testing.assert_close(homogeneity.taken_out(once)[1], torch.tensor(1.0).double())


def test_samples_of_a_cloud_have_their_own_amplitudes():
    cloud, _ = steady_states(4)
    homogeneity = scales_of([1, -1, 0], [1.0, 1.0, 1.0])
    scaled, factors = homogeneity.of_cloud(cloud)
    for own, values, factor in zip(
        *(torch.split(one.values, one.sizes) for one in (scaled, cloud)), factors, strict=True
    ):
        alone, its_factor = homogeneity.taken_out(values)
        torch.testing.assert_close(own, alone)
        torch.testing.assert_close(factor, its_factor)


def test_a_source_that_is_zero_stays_zero():
    values, factor = scales_of([1], [2.0]).taken_out(torch.zeros(5, 1))
    assert not values.any()
    assert factor == 1.0


def test_a_medium_that_is_not_positive_is_refused():
    with pytest.raises(ValueError, match="input channel 2, which was positive in all training samples"):
        scales_of([0, -1], [1.0, 1.0]).taken_out(torch.tensor([[0.0, 1.0], [0.0, 0.0]]))


def test_without_amplitudes_values_stay_as_they_are():
    values = torch.randn(5, 2)
    same, factor = Homogeneity(2).taken_out(values)
    assert torch.equal(same, values)
    assert factor == 1.0


def test_nearby_ones_differ_in_one_channel():
    positive = torch.tensor([False, True, False])
    found = [one.degrees.tolist() for one in scales_of([1, -1, 0], [1.0, 1.0, 1.0]).nearby(positive)]
    assert found == [[0, -1, 0], [1, 0, 0], [1, 1, 0], [1, -1, 1]]
    assert scales_of([1], [1.0]).nearby(torch.tensor([False])) == []


def test_what_was_suspected_in_part_is_completed_by_leaving_samples_out(monkeypatch):
    monkeypatch.setattr(Homogeneity, "suspected", lambda *_: scales_of([1, 0, 0], [1.0, 1.0, 1.0]))
    operator = small_operator("kernel", num_inputs=3)
    operator.fit_cloud(*steady_states(20))
    assert operator.homogeneity.degrees.tolist() == [1, -1, 0]


def test_kernel_learns_more_where_the_operator_scales_with_its_inputs():
    cloud, targets = steady_states(20, seed=1)

    def fitted(homogeneity):
        operator = small_operator("kernel", num_inputs=3, homogeneity=homogeneity)
        operator.fit_cloud(*steady_states(20))
        return operator, relative_error(operator(cloud), targets, cloud.sizes)

    (with_it, error), (without, other) = fitted(True), fitted(False)
    assert error < 0.3 * other
    assert with_it.cv_error < 0.3 * without.cv_error
    assert not without.homogeneity.is_any


def test_predictions_of_kernel_scale_with_the_inputs():
    operator = small_operator("kernel", num_inputs=3)
    operator.fit_cloud(*steady_states(20))
    cloud, _ = steady_states(2, seed=1)
    stronger = Cloud.collate([Cloud.of(cloud.points, cloud.values * torch.tensor([6.0, 2.0, 1.0]).double())])
    one_sample = Cloud.of(cloud.points, cloud.values)
    torch.testing.assert_close(operator(stronger), 3.0 * operator(one_sample))


def test_kernel_keeps_amplitudes_where_solutions_grow_otherwise():
    operator = small_operator("kernel", num_inputs=3)
    operator.fit_cloud(*steady_states(20, power=0.1))
    assert not operator.homogeneity.is_any
