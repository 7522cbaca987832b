import warnings

import pytest
import torch

from gola.operators.cloud import Cloud
from gola.operators.gola.global_attention import GlobalAttention
from tests.operators import literal
from tests.operators.clouds import assert_same_values_and_gradients, learnable, random_features, scattered_cloud

WIDTH = 5


@pytest.mark.parametrize("normalisation", ["instance", "channel"])
def test_it_equals_the_sums_over_points_head_by_head_in_value_and_gradient(normalisation):
    cloud = scattered_cloud(20)
    layer = GlobalAttention(width=WIDTH, num_heads=3, normalisation=normalisation).double()
    features = random_features(cloud, WIDTH)
    found = layer(features, cloud.weights, cloud.sizes)
    expected = literal.global_attention(layer, features, cloud.weights)
    assert_same_values_and_gradients(found, expected, [features, *learnable(layer)])


@pytest.mark.parametrize("normalisation", ["instance", "channel"])
def test_samples_of_different_sizes_attend_one_by_one(normalisation):
    clouds = [scattered_cloud(num_points, seed=num_points) for num_points in (12, 30, 17)]
    layer = GlobalAttention(width=WIDTH, num_heads=2, normalisation=normalisation).double()
    batch = Cloud.collate(clouds)
    features = random_features(batch, WIDTH)
    together = layer(features, batch.weights, batch.sizes)
    parts = zip(features.split(batch.sizes), clouds, strict=True)
    alone = [layer(part, cloud.weights, cloud.sizes) for part, cloud in parts]
    torch.testing.assert_close(together, torch.cat(alone), rtol=1e-11, atol=1e-11)


def test_a_large_constant_in_the_features_does_not_cost_accuracy():
    torch.manual_seed(0)
    layer = GlobalAttention(width=16, num_heads=2, normalisation="instance")
    features, weights = 100.0 + torch.randn(500, 16), torch.full((500,), 1 / 500)
    found = layer(features, weights, [500])
    expected = layer.double()(features.double(), weights.double(), [500])
    torch.testing.assert_close(found.double(), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("normalisation", ["instance", "channel"])
def test_one_point_and_equal_points_have_finite_gradients(normalisation):
    layer = GlobalAttention(width=WIDTH, num_heads=2, normalisation=normalisation)
    features = torch.ones(4, WIDTH, requires_grad=True)
    layer(features, torch.tensor([1.0, 0.3, 0.3, 0.4]), [1, 3]).sum().backward()
    assert features.grad.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in layer.parameters())


def test_with_channel_normalisation_it_equals_the_attention_of_neuraloperator_with_the_same_weights():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        integral = pytest.importorskip("neuralop.layers.attention_kernel_integral")
    layer = GlobalAttention(width=16, num_heads=4, normalisation="channel")
    theirs = integral.AttentionKernelIntegral(in_channels=16, out_channels=16, n_heads=4, head_n_channels=16)
    theirs.to_q.load_state_dict(layer.query.state_dict())
    theirs.to_k.load_state_dict(layer.key.state_dict())
    theirs.to_v.load_state_dict(layer.value.state_dict())
    theirs.to_out.load_state_dict(layer.output.state_dict())
    features = torch.randn(2, 40, 16)
    found = layer(features.flatten(0, 1), torch.full((80,), 1 / 40), [40, 40])
    with warnings.catch_warnings():
        # Their norm is told the number of channels where it expects the number of points, and says so.
        warnings.simplefilter("ignore")
        expected = layer.projection(theirs(features, torch.rand(2, 40, 2)))
    torch.testing.assert_close(found, expected.flatten(0, 1), rtol=1e-5, atol=1e-5)
