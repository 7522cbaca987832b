"""A training step of GOLA: against library layers, over the number of points, and against the machine."""

import itertools
import json
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import psutil
import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.geometric import LibraryGola, edge_attributes, edges_of
from benchmarks.memory import peak_gib
from benchmarks.timing import alternate, seconds
from gola.geometry import spatial_order
from gola.graph import radius_for
from gola.operators import Gola
from gola.operators.cloud import Cloud
from gola.operators.onednn import matmul

NUM_SAMPLES, NUM_POINTS, RADIUS = 4, 1000, 0.1
NUM_NEIGHBOURS = 16
SIZES = (1_000, 4_000, 16_000, 64_000)


def measure() -> dict[str, float]:
    """Measure everything that matters about a training step."""
    return _million_points() | _scaling() | _against_the_machine() | _against_library_layers()


def _against_library_layers() -> dict[str, float]:
    ours, theirs = _our_step(), _library_step()
    gap = float((ours.predict() - theirs.predict()).detach().abs().max() / ours.predict().detach().abs().max())
    if gap > 1e-4:
        raise RuntimeError(f"The two networks differ by {gap:.2g} of the largest value; they must compute the same.")
    times = alternate({"gola": ours.step, "library": theirs.step}, repeats=3)
    memory = {side: _added_gib(side) for side in ("gola", "library")}
    return {
        "paper_step_seconds": times["gola"],
        "paper_step_library_seconds": times["library"],
        "paper_step_speedup": times["library"] / times["gola"],
        "paper_step_output_gap": gap,
        "paper_step_memory_ratio": memory["gola"] / memory["library"],
        "paper_step_gib": memory["gola"],
        "paper_step_library_gib": memory["library"],
    }


class _Step:
    """A network, its optimiser and the clouds it trains on."""

    def __init__(self, predict: Callable[[], Tensor], network: torch.nn.Module) -> None:
        self.predict = predict
        self._optimiser = torch.optim.AdamW(network.parameters(), lr=1e-6)

    def step(self) -> None:
        """Forward, backward, optimiser."""
        self._optimiser.zero_grad()
        self.predict().square().mean().backward()
        self._optimiser.step()


def _clouds() -> Cloud:
    generator = torch.Generator().manual_seed(0)
    clouds = [
        Cloud.of(torch.rand(NUM_POINTS, 2, generator=generator), torch.randn(NUM_POINTS, 1, generator=generator))
        for _ in range(NUM_SAMPLES)
    ]
    return Cloud.collate(clouds).with_neighbours(RADIUS)


def _paper_operator() -> Gola:
    torch.manual_seed(0)
    return Gola(Gola.presets["paper"])


def _our_step() -> _Step:
    operator, cloud = _paper_operator(), _clouds()
    return _Step(lambda: operator(cloud), operator)


def _library_step() -> _Step:
    cloud = _clouds()
    assert cloud.neighbourhood is not None
    network = LibraryGola(_paper_operator(), cloud.neighbourhood)
    edges = edges_of(cloud.neighbourhood)
    attributes = edge_attributes(cloud.points, cloud.values, cloud.neighbourhood)
    return _Step(lambda: network(cloud, edges, attributes), network)


def _added_gib(side: str) -> float:
    """Return how much memory a step adds at its peak, measured in a process of its own."""
    found = subprocess.run([sys.executable, "-m", "benchmarks.step", side], capture_output=True, text=True, check=True)
    return float(json.loads(found.stdout))


def _print_peak_gib(side: str) -> None:
    step = {"gola": _our_step, "library": _library_step}[side]()
    before = psutil.Process().memory_info().rss / 2**30
    step.step()
    step.step()
    print(json.dumps(peak_gib() - before))


def _scaling() -> dict[str, float]:
    """Time steps of `default` from 1,000 to 64,000 points with equally many neighbours."""
    torch.manual_seed(0)
    operator = Gola(Gola.presets["default"])
    per_point = {}
    for size in SIZES:
        cloud = _large_cloud(size)
        step = _Step(lambda cloud=cloud: operator(cloud), operator)  # type: ignore[misc]
        step.step()
        per_point[size] = float(np.median([seconds(step.step) for _ in range(5)])) / size
    # The worst growth per point from any size to any larger one; 1 is exactly linear.
    growth = [per_point[large] / per_point[small] for small, large in itertools.combinations(SIZES, 2)]
    return {
        "scaling_per_point": max(growth),
        **{f"scaling_microseconds_per_point_{size}": 1e6 * time_ for size, time_ in per_point.items()},
    }


def _large_cloud(size: int) -> Cloud:
    points = np.random.default_rng(0).random((size, 2))
    points = points[spatial_order(points)]
    radius = radius_for(points, NUM_NEIGHBOURS)
    return Cloud.of(torch.from_numpy(points).float(), torch.randn(size, 1)).with_neighbours(radius)


def _million_points() -> dict[str, float]:
    """Predict at 1,000,000 points with `default`."""
    operator = Gola(Gola.presets["default"])
    cloud = _large_cloud(1_000_000)
    start = time.perf_counter()
    with torch.no_grad():
        operator(cloud)
    return {
        "million_points_seconds": time.perf_counter() - start,
        "million_points_peak_gib": peak_gib(),
    }


def _against_the_machine() -> dict[str, float]:
    """Compare the arithmetic rate of the dense parts of a `paper` step with that of a large matrix product."""
    ours = _our_step()
    with FlopCounterMode(display=False, custom_mapping={torch.ops.mkldnn._linear_pointwise: _linear_flop}) as counter:
        ours.step()
    left = torch.randn(2048, 2048)
    times = alternate({"step": ours.step, "matmul": lambda: matmul(left, left)}, repeats=5)
    rate = 2 * 2048**3 / times["matmul"]
    return {
        "paper_step_gflop": counter.get_total_flops() / 1e9,
        "machine_gflop_per_second": rate / 1e9,
        "roofline_fraction": counter.get_total_flops() / times["step"] / rate,
    }


def _linear_flop(rows: torch.Size, weight: torch.Size, *_: object, **__: object) -> int:
    """Count what products by oneDNN take: torch knows its own only."""
    return 2 * rows[0] * rows[1] * weight[0]


if __name__ == "__main__":
    _print_peak_gib(sys.argv[1])
