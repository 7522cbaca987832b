import pytest
import torch
from torch import nn

from gola.operators.baselines import gkn
from gola.operators.baselines.gkn import Gkn, GknConfig, GraphKernel, KernelSum, portions
from gola.operators.cloud import Cloud
from tests.operators.clouds import (
    assert_same_values_and_gradients,
    attributes_of,
    learnable,
    random_features,
    scattered_cloud,
)


@pytest.fixture(params=["kept", "recomputed", "one receiver at a time"])
def way(request, monkeypatch):
    """The ways through the kernel that a tiny problem would not take by itself."""
    if request.param != "kept":
        monkeypatch.setattr(gkn, "_KEPT_BYTES", 0)
    if request.param == "one receiver at a time":
        monkeypatch.setattr(gkn, "_PORTION", 1)
        monkeypatch.setattr(gkn, "_FEWEST_RECEIVERS", 1)


def library_layer(geometric, kernel, width):
    """PyTorch Geometric's layer with the weights of our kernel."""
    network = nn.Sequential(
        nn.Linear(kernel.hidden.in_features, kernel.hidden.out_features),
        nn.ReLU(),
        nn.Linear(kernel.basis.in_features, kernel.basis.out_features),
        nn.ReLU(),
        nn.Linear(kernel.matrix.in_features, kernel.matrix.out_features),
    )
    layer = geometric.NNConv(width, width, network, aggr="mean", root_weight=False, bias=False)
    # After the construction, which draws new weights.
    network[0], network[2], network[4] = kernel.hidden, kernel.basis, kernel.matrix
    return layer


def library_sums(layer, features, cloud):
    neighbourhood, attributes = cloud.neighbourhood, attributes_of(cloud)
    edges = torch.cat([attributes[neighbourhood.receivers], attributes[neighbourhood.senders]], dim=1)
    return layer(features, torch.stack([neighbourhood.senders, neighbourhood.receivers]), edges)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-5)], ids=str)
def test_the_kernel_equals_pytorch_geometrics_layer_in_value_and_gradient(dtype, tolerance, geometric):
    torch.manual_seed(0)
    cloud = scattered_cloud(40, num_inputs=2, dtype=dtype)
    kernel = GraphKernel(dim=2, num_inputs=2, width=6, kernel_width=16).to(dtype)
    features = random_features(cloud, 6).detach().to(dtype).requires_grad_()
    expected = library_sums(library_layer(geometric, kernel, 6), features, cloud)
    found = kernel.between(attributes_of(cloud), cloud.neighbourhood)(features)
    assert_same_values_and_gradients(found, expected, [features, *kernel.parameters()], tolerance)


@pytest.mark.usefixtures("way")
def test_the_operator_equals_iterations_of_the_librarys_layer(geometric):
    torch.manual_seed(0)
    cloud = Cloud.collate([scattered_cloud(12), scattered_cloud(20, seed=1)])
    operator = Gkn(GknConfig(width=4, kernel_width=8, num_layers=3)).double()
    layer = library_layer(geometric, operator.kernel, 4)
    features = operator.lift(attributes_of(cloud))
    for _ in range(3):
        features = (operator.root(features) + library_sums(layer, features, cloud)).relu()
    assert_same_values_and_gradients(operator(cloud), operator.project(features), learnable(operator))


def test_the_gradients_of_the_kernel_sum_are_those_of_finite_differences():
    generator = torch.Generator().manual_seed(0)
    shapes = [(3, 4, 5), (3, 4, 2), (10, 6)]
    tensors = [torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_() for shape in shapes]
    assert torch.autograd.gradcheck(KernelSum.apply, tensors)


@pytest.mark.parametrize("size", [1, 40, 200, 10**6])
def test_portions_hold_every_edge_once_and_no_more_numbers_than_allowed(size, monkeypatch):
    monkeypatch.setattr(gkn, "_PORTION", size)
    monkeypatch.setattr(gkn, "_FEWEST_RECEIVERS", 1)
    neighbourhood = scattered_cloud(50).neighbourhood
    found = []
    for part in portions(neighbourhood, width=1, kernel_width=1):
        assert part.senders.numel() <= size or len(part.receivers) == 1
        taken = part.senders < neighbourhood.num_senders
        edges = torch.stack([part.receivers[:, None].expand_as(part.senders), part.senders], dim=-1)[taken]
        found += edges.tolist()
    wanted = torch.stack([neighbourhood.receivers, neighbourhood.senders], dim=1).tolist()
    assert sorted(found) == wanted


def kept_numbers(operator, cloud):
    """Sizes of the tensors that the forward pass keeps for the backward pass."""
    kept = {}

    def pack(tensor):
        kept[tensor.data_ptr()] = tensor.numel()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        operator(cloud)
    return kept.values()


def test_no_tensor_of_edges_times_width_squared_is_ever_kept():
    cloud = scattered_cloud(100, dtype=torch.float32)
    operator = Gkn(GknConfig(width=32, kernel_width=8, num_layers=3))
    assert max(kept_numbers(operator, cloud)) < cloud.neighbourhood.num_edges * 32**2 / 10


def test_a_recomputed_basis_keeps_nothing_that_grows_with_the_edges(monkeypatch):
    operator = Gkn(GknConfig(width=8, kernel_width=8, num_layers=3))
    few, many = (scattered_cloud(60, radius=radius, dtype=torch.float32) for radius in (0.2, 0.6))
    assert many.neighbourhood.num_edges > 4 * few.neighbourhood.num_edges
    assert sum(kept_numbers(operator, many)) > 2 * sum(kept_numbers(operator, few))
    monkeypatch.setattr(gkn, "_KEPT_BYTES", 0)
    assert sum(kept_numbers(operator, many)) == sum(kept_numbers(operator, few))


def test_a_point_without_neighbours_only_hears_itself():
    points = torch.tensor([[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]])
    cloud = Cloud.of(points, points[:, :1]).with_neighbours(0.1)
    operator = Gkn(GknConfig(width=4, kernel_width=8, num_layers=1))
    expected = operator.project(operator.root(operator.lift(attributes_of(cloud))).relu())
    assert torch.equal(operator(cloud), expected)
    operator(cloud).sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in operator.parameters())


def test_the_original_preset_has_the_sizes_of_the_published_code():
    config = Gkn.presets["original"]
    counts = Gkn(config).parameter_counts()
    assert counts["kernel.hidden.weight"] == 6 * 512
    assert counts["kernel.basis.weight"] == 512 * 1024
    assert counts["kernel.matrix.weight"] == 1024 * 64 * 64
    assert config.num_layers == 6


def test_a_bad_setting_is_refused_with_its_name():
    with pytest.raises(ValueError, match="kernel_width must be at least 2; got 1"):
        GknConfig(kernel_width=1)
    with pytest.raises(ValueError, match="num_layers must be greater than 0; got 0"):
        GknConfig(num_layers=0)
