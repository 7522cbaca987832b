"""The graph kernel network against the same network made of PyTorch Geometric's NNConv."""

import multiprocessing
import warnings
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from benchmarks.memory import peak_gib
from benchmarks.timing import alternate, seconds
from gola.operators.baselines.gkn import Gkn, GknConfig
from gola.operators.cloud import Cloud

CONFIG = GknConfig(width=32, kernel_width=256, num_layers=4, radius=0.1)
# NNConv's kernel matrices of this one would fill more than 24 GiB, the memory of a large graphics card.
LARGE = GknConfig(width=128, kernel_width=256, num_layers=1, radius=0.093)
NUM_LARGE_POINTS = 4000


def measure() -> dict[str, float]:
    """Compare forward and backward passes on 1000 points, then run a size that NNConv cannot.

    The operator iterates one layer several times. NNConv computes its kernel again each time, so the ratio grows with
    the number of iterations; ``gkn_layer_speedup`` is that of a single one.
    """
    num_threads = torch.get_num_threads()
    # On one thread the ratio does not depend on what else the machine is doing.
    torch.set_num_threads(1)
    layer, whole = _compare(num_layers=1), _compare(num_layers=CONFIG.num_layers)
    torch.set_num_threads(num_threads)
    results = {f"gkn_{key}": value for key, value in whole.items()} | {"gkn_layer_speedup": layer["speedup"]}
    # In a process of its own, whose peak of memory is that of this run.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return results | pool.apply(_measure_large)


def _compare(*, num_layers: int) -> dict[str, float]:
    torch.manual_seed(0)
    ours, theirs = _both(num_layers)
    equality = max(_difference(*pair) for pair in zip(ours(), theirs(), strict=True))
    times = alternate({"gola": ours, "geometric": theirs}, repeats=5)
    return {"equality": equality, "speedup": times["geometric"] / times["gola"], "seconds": times["gola"]}


def _both(num_layers: int) -> tuple[Callable[[], list[Tensor]], Callable[[], list[Tensor]]]:
    """Return two functions that give predictions and all gradients, ours and the library's, from the same weights."""
    operator = Gkn(GknConfig(**CONFIG.to_dict() | {"num_layers": num_layers}))
    cloud = _cloud(1000, CONFIG.radius)
    layer = _library_layer(operator)
    attributes = torch.cat([cloud.points, cloud.values], dim=1)
    assert cloud.neighbourhood is not None
    ends = torch.stack([cloud.neighbourhood.senders, cloud.neighbourhood.receivers])
    edges = torch.cat([attributes[ends[1]], attributes[ends[0]]], dim=1)

    def library() -> Tensor:
        features = operator.lift(attributes)
        for _ in range(num_layers):
            features = relu(operator.root(features) + layer(features, ends, edges))
        return operator.project(features)

    return lambda: _with_gradients(operator, lambda: operator(cloud)), lambda: _with_gradients(operator, library)


def _library_layer(operator: Gkn) -> nn.Module:
    with warnings.catch_warnings():
        # Importing it uses torch.jit.script, which torch deprecates.
        warnings.simplefilter("ignore")
        from torch_geometric.nn import NNConv
    kernel, width = operator.kernel, CONFIG.width
    network = nn.Sequential(kernel.hidden, nn.ReLU(), kernel.basis, nn.ReLU(), kernel.matrix)
    return NNConv(width, width, network, aggr="mean", root_weight=False, bias=False)


def _with_gradients(operator: Gkn, predict: Callable[[], Tensor]) -> list[Tensor]:
    predictions = predict()
    return [predictions, *torch.autograd.grad(predictions.square().sum(), list(operator.parameters()))]


def _difference(found: Tensor, expected: Tensor) -> float:
    return ((found - expected).norm() / expected.norm()).item()


def _measure_large() -> dict[str, float]:
    torch.manual_seed(0)
    operator, cloud = Gkn(LARGE), _cloud(NUM_LARGE_POINTS, LARGE.radius)
    assert cloud.neighbourhood is not None
    taken = seconds(lambda: _with_gradients(operator, lambda: operator(cloud)))
    return {
        "gkn_large_nnconv_kernel_gib": cloud.neighbourhood.num_edges * LARGE.width**2 * 4 / 2**30,
        "gkn_large_peak_gib": peak_gib(),
        "gkn_large_seconds": taken,
    }


def _cloud(num_points: int, radius: float) -> Cloud:
    points = torch.rand(num_points, 2)
    return Cloud.of(points, values=torch.sin(3.0 * points.sum(1, keepdim=True))).with_neighbours(radius)
