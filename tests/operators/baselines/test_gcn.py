import pytest
import torch

from gola.operators.baselines.gcn import Gcn, GcnConfig, GraphConvolution
from gola.operators.baselines.gridding import Lattice
from gola.operators.cloud import Cloud
from tests.operators.clouds import assert_same_values_and_gradients, random_features, scattered_cloud


def grid_cloud(resolution):
    points = torch.from_numpy(Lattice.unit(2, resolution).points())
    return Cloud.of(points, points[:, :1].sin()).with_neighbours(1.001 / (resolution - 1))


def edges_of(cloud):
    return torch.stack([cloud.neighbourhood.senders, cloud.neighbourhood.receivers])


def library_layer(geometric, layer):
    width = len(layer.bias)
    other = geometric.GCNConv(width, width).double()
    other.lin.weight, other.bias = layer.linear.weight, layer.bias
    return other


def test_the_radius_of_one_spacing_gives_the_grid_graph():
    degrees = grid_cloud(6).neighbourhood.degrees.reshape(6, 6)
    assert (degrees[1:-1, 1:-1] == 4).all()
    assert (degrees[0, 1:-1] == 3).all()
    assert degrees[0, 0] == 2


@pytest.mark.parametrize("cloud", [scattered_cloud(30), grid_cloud(6)], ids=["radius graph", "grid graph"])
def test_the_layer_equals_pytorch_geometrics_in_value_and_gradient(cloud, geometric):
    layer = GraphConvolution(5).double()
    torch.nn.init.normal_(layer.bias)
    features = random_features(cloud, 5)
    expected = library_layer(geometric, layer)(features, edges_of(cloud))
    found = layer(features, cloud.neighbourhood)
    assert_same_values_and_gradients(found, expected, [features, layer.bias, layer.linear.weight], tolerance=1e-10)


def test_the_operator_equals_a_stack_of_the_librarys_layers(geometric):
    cloud = Cloud.collate([scattered_cloud(12), scattered_cloud(20, seed=1)])
    operator = Gcn(GcnConfig(width=6, num_layers=3, num_rounds=2, output_width=5)).double()
    layers = [library_layer(geometric, layer) for layer in operator.layers]
    features = operator.lift(torch.cat([cloud.points, cloud.values], dim=1))
    for layer in layers * 2:
        features = layer(features, edges_of(cloud)).relu()
    expected = operator.project(features)
    assert_same_values_and_gradients(operator(cloud), expected, list(operator.parameters()), tolerance=1e-10)


def test_rounds_add_no_parameters():
    once, often = (Gcn(GcnConfig(width=6, num_rounds=rounds)).num_parameters for rounds in (1, 4))
    assert once == often


def test_the_original_preset_has_the_sizes_of_the_published_code():
    counts = Gcn(Gcn.presets["original"]).parameter_counts()
    assert counts["layers.3.linear.weight"] == 128 * 128
    assert "layers.4.linear.weight" not in counts
    assert counts["project.0.weight"] == 128 * 1024


def test_a_bad_setting_is_refused_with_its_name():
    with pytest.raises(ValueError, match="num_rounds must be greater than 0; got 0"):
        GcnConfig(num_rounds=0)
