import pytest
import torch

from gola.operators.gola.attention_message_passing import AttentionMessagePassing
from tests.operators import literal
from tests.operators.clouds import (
    assert_same_values_and_gradients,
    attributes_of,
    learnable,
    random_features,
    scattered_cloud,
)

WIDTH = 5


@pytest.mark.parametrize("scale", [None, 0.3])
@pytest.mark.parametrize(("dim", "num_inputs"), [(2, 1), (3, 2)])
def test_it_equals_attention_computed_edge_by_edge_in_value_and_gradient(dim, num_inputs, scale):
    cloud = scattered_cloud(25, dim=dim, num_inputs=num_inputs, radius=0.3 if dim == 2 else 0.45)
    layer = AttentionMessagePassing(dim=dim, num_inputs=num_inputs, width=WIDTH, num_heads=3, scale=scale).double()
    features = random_features(cloud, WIDTH)
    points, values = cloud.points.clone().requires_grad_(), cloud.values.clone().requires_grad_()
    found = layer(features, torch.cat([points, values], dim=1), cloud.neighbourhood)
    expected = literal.attention_message_passing(layer, features, points, values, cloud.neighbourhood)
    assert_same_values_and_gradients(found, expected, [features, points, values, *learnable(layer)])


def test_the_bias_of_the_key_changes_nothing():
    cloud = scattered_cloud(15)
    layer = AttentionMessagePassing(dim=2, num_inputs=1, width=WIDTH, num_heads=2).double()
    features = random_features(cloud, WIDTH)
    before = literal.attention_message_passing(layer, features, cloud.points, cloud.values, cloud.neighbourhood)
    torch.nn.init.normal_(layer.key.bias)
    after = literal.attention_message_passing(layer, features, cloud.points, cloud.values, cloud.neighbourhood)
    torch.testing.assert_close(before, after, rtol=1e-12, atol=1e-12)


def test_it_equals_them_too_where_everybody_hears_somebody():
    cloud = scattered_cloud(25).with_neighbours(9.0)
    assert cloud.neighbourhood.all_hear
    layer = AttentionMessagePassing(dim=2, num_inputs=1, width=WIDTH, num_heads=3).double()
    features = random_features(cloud, WIDTH)
    found = layer(features, attributes_of(cloud), cloud.neighbourhood)
    expected = literal.attention_message_passing(layer, features, cloud.points, cloud.values, cloud.neighbourhood)
    assert_same_values_and_gradients(found, expected, [features, *learnable(layer)])


def test_a_point_without_neighbours_keeps_only_root_and_skip():
    cloud = scattered_cloud(10)
    layer = AttentionMessagePassing(dim=2, num_inputs=1, width=WIDTH, num_heads=2).double()
    features = random_features(cloud, WIDTH)
    found = layer(features, attributes_of(cloud), cloud.neighbourhood)[-1]
    torch.testing.assert_close(found, layer.root(features[-1]) + layer.skip(features[-1]), rtol=1e-12, atol=1e-12)


def test_it_equals_the_layer_of_pytorch_geometric_with_the_same_weights(geometric):
    cloud = scattered_cloud(60, radius=0.25, dtype=torch.float32)
    layer = AttentionMessagePassing(dim=2, num_inputs=1, width=16, num_heads=4)
    theirs = geometric.TransformerConv(16, 16, heads=4, concat=False, edge_dim=6)
    theirs.lin_query.load_state_dict(layer.query.state_dict())
    theirs.lin_key.load_state_dict(layer.key.state_dict())
    theirs.lin_value.load_state_dict(layer.value.state_dict())
    theirs.lin_edge.load_state_dict(layer.edge.linear.state_dict())
    theirs.lin_skip.load_state_dict(layer.root.state_dict())
    i, j = cloud.neighbourhood.receivers, cloud.neighbourhood.senders
    edges = torch.cat([cloud.points[i], cloud.points[j], cloud.values[i], cloud.values[j]], dim=1)
    features = random_features(cloud, 16).detach().float()
    found = layer(features, attributes_of(cloud), cloud.neighbourhood)
    expected = theirs(features, torch.stack([j, i]), edges) + layer.skip(features)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
