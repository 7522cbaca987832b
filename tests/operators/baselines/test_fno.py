import sys
import warnings
from dataclasses import replace

import pytest
import torch
from torch.nn.functional import gelu, pad

from gola.operators.baselines import fno
from gola.operators.baselines.fno import Fno, FnoConfig
from gola.operators.baselines.gridding import Lattice
from gola.operators.cloud import Cloud

pytest.importorskip("neuralop")

SMALL = FnoConfig(num_modes=3, width=4, num_layers=2, output_width=6, resolution=12)


def wave(points):
    return torch.sin(4.0 * points.sum(1, keepdim=True)) + points[:, :1]


def grid_cloud(resolution):
    points = torch.from_numpy(Lattice.unit(2, resolution).points()).float()
    return Cloud.of(points, wave(points))


def literal_convolution(features, weight, num_modes):
    """Multiply each kept wave by its own matrix, one wave at a time."""
    size = features.shape[-1]
    spectrum = torch.fft.rfft2(features, norm="forward")
    filtered = torch.zeros_like(spectrum)
    for row, first in enumerate(range(-num_modes, num_modes)):
        for second in range(num_modes):
            filtered[:, first, second] = spectrum[:, first, second] @ weight[:, :, row, second]
    return torch.fft.irfft2(filtered, s=(size, size), norm="forward")


def pointwise(layer, features):
    """Apply a layer of the library, which knows one long axis only, at every node."""
    mixed = torch.einsum("oi,ixy->oxy", layer.weight[..., 0], features)
    return mixed if layer.bias is None else mixed + layer.bias[:, None, None]


@pytest.mark.parametrize(("resolution", "zeros"), [(10, 0), (9, 1)], ids=["even grid", "odd grid, made even"])
def test_the_network_is_the_original_fourier_neural_operator(resolution, zeros):
    torch.manual_seed(0)
    operator = Fno(replace(SMALL, padding=0.0))
    cloud, network = grid_cloud(resolution), operator.network
    features = torch.cat([cloud.values, cloud.points], dim=1).mT.reshape(3, resolution, resolution)
    features = pad(pointwise(network.lift.fcs[0], features), (0, zeros, 0, zeros))
    for layer in range(2):
        convolution, skip = network.convolutions[layer], network.skips[layer].conv
        spectral = literal_convolution(features, convolution.weight.tensor, SMALL.num_modes) + convolution.bias
        features = spectral + pointwise(skip, features)
        features = gelu(features) if layer == 0 else features
    features = features[:, :resolution, :resolution]
    features = pointwise(network.project.fcs[1], gelu(pointwise(network.project.fcs[0], features)))
    torch.testing.assert_close(operator(cloud), features.reshape(-1, 1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(6,), (12, 7), (8, 6, 9), (4, 12)], ids=str)
def test_convolutions_are_those_of_the_library_on_every_grid(shape):
    torch.manual_seed(0)
    network = Fno(replace(SMALL, dim=len(shape))).network
    features = torch.randn(2, SMALL.width, *shape)
    expected = network.convolutions[0](features)
    torch.testing.assert_close(network._convolved(features, network.convolutions[0]), expected, rtol=1e-4, atol=1e-6)


def test_the_default_has_the_published_number_of_parameters_and_sizes():
    operator = Fno(FnoConfig())
    assert operator.num_parameters == 1_188_353
    assert operator.network.convolutions[0].weight.tensor.shape == (32, 32, 24, 12)


def test_the_spectral_weights_begin_small_and_positive_as_in_the_original():
    weight = torch.view_as_real(Fno(FnoConfig()).network.convolutions[2].weight.tensor)
    assert weight.min() >= 0
    assert 0.999 / 32**2 < weight.max() <= 1 / 32**2


@pytest.mark.parametrize(("padding", "padded"), [(0.0, 16), (0.125, 18), (0.2, 20), (1.0, 32)])
def test_padding_adds_its_share_of_the_grid_and_keeps_it_even(padding, padded):
    seen = []
    operator = Fno(replace(SMALL, padding=padding))
    for skip in operator.network.skips:
        skip.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0].shape[2:]))
    operator(grid_cloud(16))
    assert seen == [(padded, padded)] * 2


@torch.no_grad()
def test_padding_keeps_opposite_walls_apart():
    cloud = grid_cloud(32)
    near_one_wall = (cloud.points[:, 1] > 0.97).float()[:, None]
    changes = []
    for padding in (0.0, 1.0):
        torch.manual_seed(0)
        operator = Fno(replace(SMALL, num_modes=12, num_layers=1, padding=padding))
        change = operator(replace(cloud, values=cloud.values + near_one_wall)) - operator(cloud)
        at_the_other = change[cloud.points[:, 1] < 0.03]
        changes.append(float(at_the_other.norm() / change.norm()))
    assert changes[1] < changes[0] / 2


def test_a_grid_in_any_order_is_the_grid():
    operator = Fno(SMALL)
    cloud = grid_cloud(16)
    order = torch.randperm(256)
    shuffled = Cloud.of(cloud.points[order], cloud.values[order])
    torch.testing.assert_close(operator(shuffled), operator(cloud)[order])
    inputs = torch.cat([cloud.values, cloud.points], dim=1).mT.reshape(1, 3, 16, 16)
    torch.testing.assert_close(operator(cloud), operator.network(inputs).reshape(-1, 1))


def test_scattered_points_predict_nearly_what_the_grid_predicts():
    torch.manual_seed(0)
    operator = Fno(replace(SMALL, resolution=32))
    scattered = torch.rand(1500, 2, generator=torch.Generator().manual_seed(0))
    places = torch.rand(50, 2, generator=torch.Generator().manual_seed(1))
    on_grid = operator(grid_cloud(32), at=places)
    found = operator(Cloud.of(scattered, wave(scattered)), at=places)
    assert (found - on_grid).norm() < 2e-3 * on_grid.norm()


def test_grids_of_several_sizes_and_scattered_points_share_a_batch():
    operator = Fno(SMALL)
    scattered = torch.rand(30, 2)
    clouds = [grid_cloud(9), Cloud.of(scattered, wave(scattered)), grid_cloud(14), grid_cloud(9)]
    alone = torch.cat([operator(cloud) for cloud in clouds])
    torch.testing.assert_close(operator(Cloud.collate(clouds)), alone, rtol=1e-5, atol=1e-5)


def test_a_grid_of_the_cloud_covers_its_points_wherever_they_are():
    operator = Fno(replace(SMALL, grid_box="cloud"))
    seen = []
    operator.network.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0]))
    points = 5.0 + torch.rand(60, 2)
    operator(Cloud.of(points, wave(points)))
    places = seen[0][0, 1:].flatten(1)
    torch.testing.assert_close(places.amin(1), points.amin(0))
    torch.testing.assert_close(places.amax(1), points.amax(0))


@pytest.mark.parametrize("dim", [1, 3])
def test_lines_and_volumes_have_fourier_neural_operators_too(dim):
    operator = Fno(replace(SMALL, dim=dim, resolution=6))
    points = torch.rand(40, dim)
    assert operator(Cloud.of(points, wave(points))).shape == (40, 1)
    lattice = torch.from_numpy(Lattice.unit(dim, 5).points()).float()
    assert operator(Cloud.of(lattice, wave(lattice))).shape == (5**dim, 1)


def test_a_grid_coarser_than_the_waves_still_works():
    operator = Fno(replace(SMALL, num_modes=12))
    assert operator(grid_cloud(5)).isfinite().all()


def test_only_tensors_are_saved():
    state = Fno(SMALL).state_dict()
    assert state
    assert all(isinstance(value, torch.Tensor) for value in state.values())


def test_importing_the_library_leaves_pythons_warning_filters_alone(monkeypatch):
    library = fno.require("neuralop.models", extra="baselines", what="FNO")

    def meddle(*_, **__):
        warnings.simplefilter("always")
        return library

    monkeypatch.setattr(fno, "require", meddle)
    before = list(warnings.filters)
    Fno(SMALL)
    assert warnings.filters == before


def test_a_missing_library_is_named_with_its_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "neuralop.models", None)
    with pytest.raises(ValueError, match=r"^FNO needs neuraloperator, .*`pip install 'gola\[baselines\]'`"):
        Fno(SMALL)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"padding": -0.1}, "padding is a share of the grid, from 0 to 1; got -0.1"),
        ({"resolution": 1}, "resolution must be at least 2; got 1"),
        ({"num_modes": 0}, "num_modes must be greater than 0; got 0"),
    ],
)
def test_a_bad_setting_is_refused_with_its_name(setting, message):
    with pytest.raises(ValueError, match=message):
        FnoConfig.from_dict(SMALL.to_dict() | setting)
