"""Small clouds that the tests of operators share."""

import torch

from gola.operators.cloud import Cloud


def scattered_cloud(num_points, *, dim=2, num_inputs=1, num_parameters=0, radius=0.3, seed=0, dtype=torch.float64):
    """Random points with unequal weights and smooth input values; the last point is far from all others."""
    generator = torch.Generator().manual_seed(seed)
    points = torch.rand(num_points, dim, generator=generator, dtype=torch.float64)
    points[-1] = 3.0
    directions = torch.randn(dim, num_inputs, generator=generator, dtype=torch.float64)
    weights = 0.5 + torch.rand(num_points, generator=generator, dtype=torch.float64)
    values = torch.sin(3.0 * points @ directions) + 0.1
    parameters = torch.randn(num_parameters, generator=generator, dtype=torch.float64)
    cloud = Cloud.of(points.to(dtype), values.to(dtype), parameters.to(dtype)).with_weights(weights.to(dtype))
    cloud = cloud.with_neighbours(radius)
    assert cloud.neighbourhood.degrees[-1] == 0
    assert cloud.neighbourhood.degrees.max() > 2
    return cloud


def attributes_of(cloud):
    """The coordinates and the input function, side by side."""
    return torch.cat([cloud.points, cloud.values], dim=1)


def random_features(cloud, width, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(cloud.num_points, width, generator=generator, dtype=torch.float64).requires_grad_()


def assert_same_values_and_gradients(found, expected, tensors, tolerance=1e-10):
    """Compare two results, and the gradients of a random projection of each with respect to the tensors."""
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)
    direction = torch.randn(found.shape, generator=torch.Generator().manual_seed(2), dtype=found.dtype)
    # What a result does not depend on has gradient zero.
    ours = torch.autograd.grad((found * direction).sum(), tensors, materialize_grads=True, allow_unused=True)
    theirs = torch.autograd.grad((expected * direction).sum(), tensors, materialize_grads=True, allow_unused=True)
    assert any(gradient.abs().max() > 0 for gradient in theirs)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)


def learnable(layer):
    return [parameter for parameter in layer.parameters() if parameter.requires_grad]
