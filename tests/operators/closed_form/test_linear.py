import torch

from gola.data.cloud import Cloud
from gola.operators.closed_form import LinearConfig
from gola.operators.closed_form.linear import Linear
from gola.operators.closed_form.linear_map import GreenPrior
from gola.problems import make_problem
from tests.operators.closed_form.examples import relative_error, scattered, small_operator, wave_samples

NUM_SAMPLES = 12


def test_a_linear_map_of_band_limited_inputs_is_recovered_from_scattered_points():
    # Nine cosines and a constant: ten samples determine the map.
    operator = small_operator("linear", num_modes=150, num_wide_modes=60)
    operator.fit(*wave_samples(14, num_points=150))
    cloud, targets = wave_samples(5, num_points=150, seed=1)
    assert relative_error(operator(cloud), targets, cloud.sizes) < 2e-3


def test_too_few_samples_do_not_determine_it_and_leave_one_out_says_so():
    operator = small_operator("linear", num_modes=150, num_wide_modes=60)
    operator.fit(*wave_samples(6, num_points=150))
    assert operator.left_out_error > 0.02


def test_left_out_errors_tell_the_error_on_unseen_samples():
    operator = small_operator("linear", num_modes=80)
    operator.fit(*wave_samples(12, num_points=120, seed=2))
    cloud, targets = wave_samples(40, num_points=120, seed=1)
    error = relative_error(operator(cloud), targets, cloud.sizes)
    assert 0.5 * error < operator.left_out_error < 2.0 * error


def test_predictions_are_affine_in_the_input():
    operator = small_operator("linear")
    operator.fit(*wave_samples(NUM_SAMPLES))
    points = torch.rand(70, 2, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    one, other = torch.sin(3.0 * points[:, :1]), torch.cos(4.0 * points[:, 1:])

    def predict(values):
        return operator(Cloud.of(points, values))

    zero = predict(torch.zeros_like(one))
    combined = predict(2.0 * one - 3.0 * other) - zero
    torch.testing.assert_close(
        combined, 2.0 * (predict(one) - zero) - 3.0 * (predict(other) - zero), rtol=1e-7, atol=1e-7
    )


def local_samples(count, seed=0):
    """Rough inputs and a map that is local: the solution is the input times a function of place."""
    pairs = []
    for number in range(count):
        generator = torch.Generator().manual_seed(1000 * seed + number)
        waves = 12.0 * torch.randn(2, 25, generator=generator, dtype=torch.float64)
        phases = 6.0 * torch.rand(25, generator=generator, dtype=torch.float64)

        def inputs(points, waves=waves, phases=phases):
            return torch.cos(points @ waves + phases).mean(dim=1, keepdim=True)

        pairs.append((inputs, lambda points, inputs=inputs: (1.0 + points[:, :1]) * inputs(points)))
    return scattered(pairs, sizes=[150] * count, seed=seed)


def test_a_local_operator_is_learned_from_fewer_samples_than_its_inputs_have_dimensions():
    operator = small_operator("linear", num_modes=150, num_wide_modes=100)
    operator.fit(*local_samples(10))
    assert isinstance(operator.prior, GreenPrior)
    assert max(operator.prior.components[0].widths) < 0.5
    cloud, targets = local_samples(10, seed=1)
    # The mean of ten samples, or any other combination of them, says little about another one.
    assert relative_error(operator(cloud), targets, cloud.sizes) < 0.3


def test_several_channels_in_any_units_go_in_and_come_out():
    functions, units = [], torch.tensor([1.0, 1e5], dtype=torch.float64)
    for number in range(24):
        coefficients = torch.randn(2, 2, generator=torch.Generator().manual_seed(number), dtype=torch.float64)

        def inputs(points, coefficients=coefficients):
            return (torch.cos(torch.pi * points) @ coefficients) * units

        def solution(points, coefficients=coefficients):
            first, second = (torch.cos(torch.pi * points) @ coefficients).split(1, dim=1)
            return torch.cat([first + second, 1e-4 * (first - points[:, :1] * second), second], dim=1)

        functions.append((inputs, solution))
    operator = small_operator("linear", num_inputs=2, num_outputs=3, num_modes=100)
    operator.fit(*scattered(functions[:16], sizes=[120] * 16))
    cloud, targets = scattered(functions[16:], sizes=[90] * 8, seed=1)
    for found, wanted in zip(operator(cloud).T, targets.T, strict=True):
        assert (found - wanted).norm() < 2e-2 * wanted.norm()


def test_it_works_in_one_and_three_dimensions():
    for dim, tolerance in ((1, 1e-2), (3, 0.1)):
        operator = small_operator("linear", dim=dim, num_modes=150, num_wide_modes=80)
        operator.fit(*wave_samples(34, num_points=200, dim=dim))
        cloud, targets = wave_samples(4, num_points=200, dim=dim, seed=1)
        assert relative_error(operator(cloud), targets, cloud.sizes) < tolerance


def test_moving_and_stretching_the_domain_changes_nothing():
    cloud, targets = wave_samples(NUM_SAMPLES)
    stretched = Cloud.collate(
        [
            Cloud.of(points * torch.tensor([3.0, 0.01]) + 100.0, values)
            for points, values in zip(cloud.points.split(cloud.sizes), cloud.values.split(cloud.sizes), strict=True)
        ]
    )
    operator, other = small_operator("linear"), small_operator("linear")
    operator.fit(cloud, targets)
    other.fit(stretched, targets)
    torch.testing.assert_close(other(stretched), operator(cloud), rtol=1e-4, atol=1e-4)


def test_thirty_samples_of_darcy_flow_at_scattered_points_are_enough():
    samples = make_problem("darcy").generate(seed=3, indices=range(60))
    generator = torch.Generator().manual_seed(0)
    clouds, targets = [], []
    for sample in samples:
        rows = torch.randperm(sample.num_points, generator=generator)[:1000]
        clouds.append(Cloud.of(torch.from_numpy(sample.points)[rows], torch.from_numpy(sample.inputs)[rows]))
        targets.append(torch.from_numpy(sample.targets)[rows])
    operator = Linear(LinearConfig(num_modes=500, num_wide_modes=100))
    operator.fit(Cloud.collate(clouds[:30]), torch.cat(targets[:30]))
    test = Cloud.collate(clouds[30:])
    assert relative_error(operator(test), torch.cat(targets[30:]), test.sizes) < 0.05
