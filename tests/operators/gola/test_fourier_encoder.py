import numpy as np
import pytest
import torch

from gola.geometry import Box, voronoi_weights
from gola.operators.cloud import Cloud
from gola.operators.gola.fourier_encoder import FourierEncoder
from tests.operators import literal
from tests.operators.clouds import assert_same_values_and_gradients, learnable, scattered_cloud


@pytest.mark.parametrize(("dim", "num_inputs"), [(2, 1), (3, 2)])
def test_it_equals_the_complex_sums_of_the_paper_in_value_and_gradient(dim, num_inputs):
    cloud = scattered_cloud(12, dim=dim, num_inputs=num_inputs, radius=0.6)
    encoder = FourierEncoder(dim=dim, num_inputs=num_inputs, width=3, num_modes=4, frequency_scale=2.0).double()
    values = cloud.values.clone().requires_grad_()
    points = cloud.points.clone().requires_grad_()
    found = encoder(points, values, cloud.weights, cloud.sizes)
    expected = literal.fourier_encoder(encoder, points, values, cloud.weights)
    assert_same_values_and_gradients(found, expected, [points, values, *learnable(encoder)])


def test_samples_of_different_sizes_are_encoded_one_by_one():
    clouds = [scattered_cloud(num_points, seed=num_points) for num_points in (12, 30, 17)]
    encoder = FourierEncoder(dim=2, num_inputs=1, width=3, num_modes=4, frequency_scale=2.0).double()
    batch = Cloud.collate(clouds)
    together = encoder(batch.points, batch.values, batch.weights, batch.sizes)
    alone = [encoder(cloud.points, cloud.values, cloud.weights, cloud.sizes) for cloud in clouds]
    torch.testing.assert_close(together, torch.cat(alone), rtol=1e-12, atol=1e-12)


def test_a_function_made_of_its_own_waves_is_recovered():
    # Integer frequencies are orthogonal on a full grid, and with W = 2 the filter undoes Re and the projection.
    axis = torch.arange(16, dtype=torch.float64) / 16
    points = torch.cartesian_prod(axis, axis)
    encoder = FourierEncoder(dim=2, num_inputs=1, width=1, num_modes=2, frequency_scale=1.0).double()
    with torch.no_grad():
        encoder.frequencies.copy_(torch.tensor([[1.0, 2.0], [3.0, 0.0]]))
        encoder.coefficients.copy_(torch.tensor([2.0, 0.0]).expand_as(encoder.coefficients))
    angles = 2 * torch.pi * points @ encoder.frequencies.detach().mT
    values = angles[:, :1].cos() + 0.5 * angles[:, 1:].sin()
    weights = torch.full((256,), 1 / 256, dtype=torch.float64)
    torch.testing.assert_close(encoder(points, values, weights, [256]), values, rtol=1e-12, atol=1e-12)


def graded_points(num_points, rng):
    """Points whose density falls twentyfold from the left side of the unit square to the right side."""
    candidates = rng.random((20 * num_points, 2))
    kept = rng.random(len(candidates)) < 0.05 ** candidates[:, 0]
    return candidates[kept][:num_points]


def test_on_a_graded_cloud_voronoi_weights_converge_to_the_integral_and_equal_weights_do_not():
    torch.manual_seed(0)
    encoder = FourierEncoder(dim=2, num_inputs=1, width=8, num_modes=12, frequency_scale=1.0).double()
    places = torch.rand(50, 2, dtype=torch.float64)

    def encode(points, weights):
        # The places listen without weight, so the same places can be compared for any points.
        values = torch.exp(points[:, :1]) * torch.cos(4.0 * points[:, 1:])
        silent = torch.zeros(len(places), dtype=torch.float64)
        with torch.no_grad():
            encoded = encoder(
                torch.cat([points, places]),
                torch.cat([values, torch.zeros(len(places), 1, dtype=torch.float64)]),
                torch.cat([weights / weights.sum(), silent]),
                [len(points) + len(places)],
            )
        return encoded[len(points) :]

    def error(num_points, weigh):
        errors = []
        for seed in range(3):
            points = graded_points(num_points, np.random.default_rng(seed))
            found = encode(torch.from_numpy(points), torch.from_numpy(weigh(points)))
            errors.append(float((found - exact).norm() / exact.norm()))
        return np.median(errors)

    axis = (torch.arange(400, dtype=torch.float64) + 0.5) / 400
    fine = torch.cartesian_prod(axis, axis)
    exact = encode(fine, torch.ones(len(fine), dtype=torch.float64))
    sizes = (250, 1000, 4000)
    voronoi = [error(size, lambda points: voronoi_weights(points, Box.unit(2))) for size in sizes]
    equal = [error(size, lambda points: np.ones(len(points))) for size in sizes]
    # Four times the points: the error falls by more than 2, faster than the Monte-Carlo rate would let it.
    assert voronoi[1] < voronoi[0] / 2
    assert voronoi[2] < voronoi[1] / 2
    assert voronoi[2] < 0.02
    assert min(equal) > 0.2
