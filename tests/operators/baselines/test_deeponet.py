import pytest
import torch

from gola.operators import Queries
from gola.operators.baselines.deeponet import DeepONet, DeepONetConfig
from gola.operators.baselines.gridding import Lattice
from gola.operators.cloud import Cloud
from tests.operators.clouds import scattered_cloud

SMALL = DeepONetConfig(num_sensors=4, width=6, branch_layers=2, trunk_layers=3)


def wave(points):
    return torch.sin(2.0 * points.sum(1, keepdim=True)) + points[:, :1]


def test_the_prediction_is_the_sum_over_branch_times_trunk():
    torch.manual_seed(0)
    operator = DeepONet(DeepONetConfig(num_inputs=2, num_outputs=3, num_sensors=4, width=6)).double()
    torch.nn.init.normal_(operator.bias)
    points = torch.from_numpy(Lattice.unit(2, 4).points())
    values = torch.cat([wave(points), points[:, 1:]], dim=1)
    places = torch.rand(5, 2, dtype=torch.float64)
    # Sensors at the points themselves read the values themselves, up to single precision.
    branch = operator.branch(values.flatten()).reshape(6, 3)
    trunk = operator.trunk(places)
    assert (trunk >= 0).all()
    expected = torch.stack([(trunk * branch[:, channel]).sum(1) for channel in range(3)], dim=1) + operator.bias
    found = operator(Cloud.of(points, values), at=places)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def test_scattered_points_predict_nearly_what_the_grid_predicts():
    torch.manual_seed(0)
    operator = DeepONet(SMALL)
    grid = torch.from_numpy(Lattice.unit(2, 4).points()).float()
    scattered = torch.rand(400, 2, generator=torch.Generator().manual_seed(0))
    places = torch.rand(9, 2)
    on_grid = operator(Cloud.of(grid, wave(grid)), at=places)
    torch.testing.assert_close(operator(Cloud.of(scattered, wave(scattered)), at=places), on_grid, rtol=1e-3, atol=1e-3)


def test_sensors_of_the_cloud_move_with_the_cloud():
    config = DeepONetConfig(num_sensors=4, width=6, sensor_box="cloud")
    operator = DeepONet(config).double()
    cloud = scattered_cloud(40)
    moved = Cloud.of(5.0 * cloud.points - 2.0, cloud.values)
    places = torch.rand(3, 2, dtype=torch.float64)
    torch.testing.assert_close(operator(moved, at=places), operator(cloud, at=places), rtol=1e-5, atol=1e-5)


def test_samples_may_ask_at_differing_numbers_of_places():
    operator = DeepONet(SMALL)
    clouds = [scattered_cloud(20, dtype=torch.float32), scattered_cloud(30, seed=1, dtype=torch.float32)]
    places = torch.rand(5, 2)
    queries = Queries(points=places, offsets=torch.tensor([0, 2, 5]))
    expected = torch.cat([operator(clouds[0], at=places[:2]), operator(clouds[1], at=places[2:])])
    torch.testing.assert_close(operator(Cloud.collate(clouds), at=queries), expected)


@pytest.mark.parametrize(
    ("preset", "layers", "sensors"),
    [("original", [40, 40], 100), ("pseudo_physics", [50, 50], 128**2), ("default", [128, 128, 128], 32**2)],
)
def test_presets_have_the_published_sizes(preset, layers, sensors):
    operator = DeepONet(DeepONet.presets[preset])
    linear = [layer for layer in operator.branch if isinstance(layer, torch.nn.Linear)]
    assert [layer.out_features for layer in linear] == layers
    assert linear[0].in_features == sensors


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"num_sensors": 1}, "num_sensors must be at least 2, along each axis; got 1"),
        ({"trunk_layers": 0}, "trunk_layers must be greater than 0; got 0"),
    ],
)
def test_a_bad_setting_is_refused_with_its_name(setting, message):
    with pytest.raises(ValueError, match=message):
        DeepONetConfig.from_dict(SMALL.to_dict() | setting)


def test_samples_with_the_same_points_are_predicted_as_each_alone():
    torch.manual_seed(0)
    operator = DeepONet(DeepONetConfig(num_outputs=2, num_sensors=4, width=6)).double()
    points = torch.rand(30, 2, dtype=torch.float64)
    clouds = [Cloud.of(points, wave(points) * size) for size in (1.0, -2.0)]
    alone = torch.cat([operator(cloud) for cloud in clouds])
    torch.testing.assert_close(operator(Cloud.collate(clouds)), alone)
