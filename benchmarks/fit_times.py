"""How long fits take, all choices included: ``python -m benchmarks fit_times``.

Closed forms are measured in seconds of the processor on one thread, so that other work on the machine distorts them
little; the automatic choice and the README's example in seconds on all cores, started anew as a user would.
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

import gola
from benchmarks.memory import peak_gib
from gola.data.dataset import Dataset

PROBLEMS = ("darcy", "advection", "eikonal", "nonlinear_diffusion")
# Samples of this seed had no part in any choice of a setting.
DATA_SEED = 101
# The same on a machine of this kind in version 0.2, before anything was done about time.
BEFORE = {
    "linear_seconds_30x1000": 20.0,
    "linear_seconds_30x100000": 419.0,
    "linear_gib_30x100000": 3.6,
    "auto_seconds_eikonal": 510.0,
    "readme_seconds": 120.0,
}
_WAVES = 12


def measure() -> dict[str, float]:
    """Return seconds and memory of fits, each beside the value before."""
    # First, while this process has not started other threads.
    measured = {"readme_seconds": readme_seconds(), "auto_seconds_eikonal": auto_seconds("eikonal")}
    torch.set_num_threads(1)
    small = [linear_seconds(samples_of(problem)) for problem in PROBLEMS]
    measured["linear_seconds_30x1000"] = float(np.mean(small))
    measured["linear_seconds_30x100000"] = linear_seconds(smooth_samples(30, 100_000))
    measured["linear_gib_30x100000"] = peak_gib()
    return measured | {f"{name}_before": value for name, value in BEFORE.items()}


def linear_seconds(data: Dataset) -> float:
    """Fit ``linear`` and return the seconds of the processor."""
    start = time.process_time()
    gola.fit(data, "linear", progress=False)
    return time.process_time() - start


def auto_seconds(problem: str) -> float:
    """Let ``auto`` choose, and return the seconds that passed."""
    data = samples_of(problem)
    start = time.perf_counter()
    gola.fit(data, progress=False)
    return time.perf_counter() - start


def readme_seconds() -> float:
    """Run the example of the README as a program of its own, and return the seconds that passed."""
    found = re.search(r"```python\n(import gola\n.*?)```", Path("README.md").read_text(), re.DOTALL)
    assert found is not None
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", found[1]], check=True, cwd=folder, capture_output=True)
        return time.perf_counter() - start


def samples_of(problem: str, num_samples: int = 30, num_points: int = 1000) -> Dataset:
    """Return samples of a benchmark problem at scattered points."""
    kind = gola.make_problem(problem, resolution=64)
    samples = kind.generate(DATA_SEED, range(num_samples))
    data = Dataset.from_samples(samples, inputs=kind.inputs, targets=kind.targets)
    return data.subsample(num_points, seed=0)


def smooth_samples(num_samples: int, num_points: int, num_channels: int = 1) -> Dataset:
    """Return sources and solutions of a diffusion that have closed forms, so that any number of points is at hand."""
    rng = np.random.default_rng(DATA_SEED)
    waves = np.arange(1, _WAVES + 1)
    squares = (waves[:, None] ** 2 + waves**2)[..., None]
    points, inputs, targets = [], [], []
    for _ in range(num_samples):
        places = rng.random((num_points, 2))
        along = [np.sin(np.pi * places[:, axis, None] * waves) for axis in range(2)]
        coefficients = rng.standard_normal((_WAVES, _WAVES, num_channels)) / squares**0.75
        points.append(places)
        inputs.append(np.einsum("pi,ijc,pj->pc", along[0], coefficients, along[1], optimize=True))
        targets.append(np.einsum("pi,ijc,pj->pc", along[0], coefficients / squares, along[1], optimize=True))
    return Dataset.from_arrays(points, inputs, targets)
