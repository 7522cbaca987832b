"""Message passing with four aggregations against PyTorch Geometric's ``PNAConv`` with the same weights."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.geometric import edge_attributes, edges_of, pna_conv
from benchmarks.timing import alternate
from gola.graph import fused, radius_neighbourhood
from gola.operators.gola.message_passing import MessagePassing

NUM_SAMPLES, NUM_POINTS, RADIUS = 4, 1000, 0.1
WIDTHS = (64, 256)


def measure() -> dict[str, float]:
    """Time forward and backward of the layer on 4 clouds of 1000 points, and of its statistics alone."""
    results: dict[str, float] = {}
    for width in WIDTHS:
        times = alternate(_calls(width), repeats=5)
        results |= {f"aggregation_{name}_seconds_{width}": seconds for name, seconds in times.items()}
        results[f"aggregation_speedup_{width}"] = times["pyg_layer"] / times["layer"]
    results["aggregation_speedup"] = min(results[f"aggregation_speedup_{width}"] for width in WIDTHS)
    return results


def _calls(width: int) -> dict[str, Callable[[], object]]:
    """Return what is compared, after checking that the two layers give the same."""
    rng = np.random.default_rng(0)
    points = rng.random((NUM_SAMPLES * NUM_POINTS, 2))
    neighbourhood = radius_neighbourhood(points, RADIUS, offsets=np.arange(NUM_SAMPLES + 1) * NUM_POINTS)
    inputs = rng.standard_normal((len(points), 1))
    attributes = torch.from_numpy(np.concatenate([points, inputs], axis=1)).float()
    features = torch.randn(len(points), width, generator=torch.Generator().manual_seed(0), requires_grad=True)

    torch.manual_seed(0)
    ours = MessagePassing(dim=2, num_inputs=1, width=width)
    theirs = pna_conv(ours, neighbourhood)
    edges = edges_of(neighbourhood)
    along_edges = edge_attributes(attributes[:, :2], attributes[:, 2:], neighbourhood)
    torch.testing.assert_close(
        ours(features, attributes, neighbourhood), theirs(features, edges, along_edges), rtol=1e-4, atol=1e-4
    )
    return {
        "layer": _step(ours, features, lambda: ours(features, attributes, neighbourhood)),
        "pyg_layer": _step(theirs, features, lambda: theirs(features, edges, along_edges)),
        "statistics": lambda: torch.autograd.grad(
            fused.neighbour_statistics(features, neighbourhood), features, [torch.ones_like(features)] * 4
        ),
    }


def _step(layer: nn.Module, features: Tensor, forward: Callable[[], Tensor]) -> Callable[[], None]:
    def step() -> None:
        features.grad = None
        layer.zero_grad()
        forward().square().mean().backward()

    return step


if __name__ == "__main__":
    for key, value in measure().items():
        print(f"{key:44s} {value:.4g}")
