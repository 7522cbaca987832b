"""Time and memory of a training step, measured against everything that the paper's formula names.

The paper gives the time of GOLA as O(MNC) + O(NkC²) + O(NkC) with N points, M modes, C channels and k neighbours of a
point on average (section 5, "Time Complexity and Memory Cost").
"""

import json
import math
import multiprocessing
import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gola.files import replacing
from gola.geometry import spatial_order
from gola.graph import radius_for
from gola.operators import Gola, GolaConfig
from gola.operators.cloud import Cloud

SYMBOLS = {"num_points": "N", "num_modes": "M", "width": "C", "num_neighbours": "k"}
"""What the paper calls the sizes."""

EXPONENTS = {"num_points": "1", "num_modes": "0 to 1", "width": "1 to 2", "num_neighbours": "0 to 1"}
"""The slopes that the paper's formula allows, as one or another of its terms dominates."""

_REPEATS = 5


@dataclass(frozen=True, kw_only=True)
class Size:
    """How large a step is.

    Attributes:
        num_points: Points N.
        num_modes: Waves M.
        width: Channels C.
        num_neighbours: Neighbours k of a point on average, about.
    """

    num_points: int = 4000
    num_modes: int = 256
    width: int = 64
    num_neighbours: int = 28


VARIED: dict[str, tuple[int, ...]] = {
    "num_points": (1000, 2000, 4000, 8000, 16000),
    "num_modes": (32, 128, 256, 512, 1024),
    "width": (16, 32, 64, 128, 256),
    "num_neighbours": (7, 14, 28, 56, 112),
}


@dataclass(frozen=True, kw_only=True)
class Step:
    """What one size costs.

    Attributes:
        size: The size; its neighbours as they really were on average, rounded.
        seconds: Median time of forward and backward, after one to warm up.
        mebibytes: Memory that a step adds at its peak; None where the system does not tell.
    """

    size: Size
    seconds: float
    mebibytes: float | None


@dataclass(frozen=True, kw_only=True)
class Complexity:
    """Measured costs, one size varied at a time.

    Attributes:
        steps: By the name of what varies, in growing order.
        num_threads: Threads that they had.
    """

    steps: Mapping[str, Sequence[Step]]
    num_threads: int

    def curve(self, varied: str, cost: str) -> dict[float, float]:
        """Return a cost by the size that varies.

        Args:
            varied: One of :data:`SYMBOLS`.
            cost: ``"seconds"`` or ``"mebibytes"``.
        """
        points = {getattr(step.size, varied): getattr(step, cost) for step in self.steps.get(varied, ())}
        return {size: value for size, value in points.items() if value}

    def slope(self, varied: str, cost: str) -> float | None:
        """Return the slope of a cost on logarithmic scales, by least squares: the exponent of a power law."""
        curve = self.curve(varied, cost)
        return slope_of(curve) if len(curve) > 1 else None

    def save(self, path: Path) -> None:
        """Write the measurements."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> "Complexity":
        """Undo ``save``."""
        values: Any = json.loads(path.read_text(encoding="utf-8"))
        steps = {
            name: tuple(Step(**{**step, "size": Size(**step["size"])}) for step in measured)
            for name, measured in values["steps"].items()
        }
        return cls(steps=steps, num_threads=values["num_threads"])


def slope_of(curve: Mapping[float, float]) -> float:
    """Return the slope of a curve on logarithmic scales, by least squares.

    >>> round(slope_of({1.0: 3.0, 2.0: 12.0, 4.0: 48.0}), 6)
    2.0
    """
    across, up = np.log(list(curve)), np.log(list(curve.values()))
    return float(np.polyfit(across, up, 1)[0])


def measure(
    base: Size | None = None,
    varied: Mapping[str, Sequence[int]] = VARIED,
    *,
    on_progress: Callable[[int, int], object] = lambda _done, _total: None,
) -> Complexity:
    """Measure steps of the operator with the default preset, each in a process of its own, on one thread.

    Args:
        base: What does not vary.
        varied: Values of each size.
        on_progress: Called with how many sizes are done, and of how many.
    """
    usual = base or Size()
    jobs = [(name, replace(usual, **{name: value})) for name, values in varied.items() for value in values]
    done: dict[Size, Step] = {}
    sizes = list(dict.fromkeys(size for _, size in jobs))
    # A process knows its largest memory ever, so every size needs a new one.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as processes:
        for number, (size, step) in enumerate(zip(sizes, processes.map(measure_step, sizes), strict=True), start=1):
            done[size] = step
            on_progress(number, len(sizes))
    return Complexity(
        steps={name: tuple(done[size] for other, size in jobs if other == name) for name in varied}, num_threads=1
    )


def measure_step(size: Size) -> Step:
    """Measure one size in this process."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    operator = Gola(GolaConfig(width=size.width, num_modes=size.num_modes))
    # Compiles the loops, which has its own need for memory.
    _step(operator, _cloud(replace(size, num_points=200)))
    cloud = _cloud(size)
    before = _mebibytes("VmRSS")
    _step(operator, cloud)
    peak = _mebibytes("VmHWM")
    seconds = sorted(_step(operator, cloud) for _ in range(_REPEATS))[_REPEATS // 2]
    assert cloud.neighbourhood is not None
    neighbours = float(cloud.neighbourhood.degrees.double().mean())
    added = None if peak is None or before is None else peak - before
    return Step(size=replace(size, num_neighbours=round(neighbours)), seconds=seconds, mebibytes=added)


def _step(operator: Gola, cloud: Cloud) -> float:
    start = time.perf_counter()
    operator.zero_grad()
    operator(cloud).square().mean().backward()
    return time.perf_counter() - start


def _cloud(size: Size) -> Cloud:
    """Return random points with values, in an order in which neighbours are near each other in memory."""
    rng = np.random.default_rng(0)
    points = rng.random((size.num_points, 2))
    points = points[spatial_order(points)]
    values = torch.from_numpy(rng.standard_normal((size.num_points, 1))).float()
    radius = radius_for(points, min(size.num_neighbours, math.floor((size.num_points - 1) / 2)))
    return Cloud.of(torch.from_numpy(points).float(), values).with_neighbours(radius)


def _mebibytes(what: str) -> float | None:
    """Return the memory of this process, now (VmRSS) or at its peak (VmHWM), as Linux counts it; None elsewhere."""
    status = Path("/proc/self/status")
    found = re.search(rf"{what}:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return None if found is None else int(found[1]) / 1024
