"""How long fits take, all choices included: ``python -m benchmarks fit_times``.

Times are seconds of the processor, so that other work on the machine distorts them little: of one thread for closed
forms, and of all of them for the automatic choice and the README's example, which two cores take at best half as long
for (``*_cpu_seconds``, beside the seconds that passed). Each is measured in a process of its own, whose peak of memory
is that of the fit. ``python -m benchmarks.fit_times --points 1000000`` measures one fit to samples of a file.
"""

import argparse
import multiprocessing
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import torch

import gola
from benchmarks.memory import peak_gib
from gola.data.dataset import Dataset

PROBLEMS = ("darcy", "advection", "eikonal", "nonlinear_diffusion")
# Samples of this seed had no part in any choice of a setting.
DATA_SEED = 211
# The same on a machine of this kind in version 0.2, before anything was done about time.
BEFORE = {
    "linear_seconds_30x1000": 20.0,
    "linear_seconds_30x100000": 419.0,
    "linear_gib_30x100000": 3.6,
    "auto_seconds_eikonal": 510.0,
    "readme_seconds": 120.0,
}
# Operators with numbers of samples, points and channels, of functions that are smooth and known everywhere.
SIZES: tuple[tuple[str, int, int, int], ...] = (
    ("linear", 30, 1000, 1),
    ("linear", 30, 1000, 20),
    ("kernel", 30, 1000, 1),
    ("kernel", 30, 1000, 20),
    ("linear", 100, 1000, 1),
    ("linear", 30, 100_000, 1),
    ("pod_gp", 1000, 1000, 1),
    ("kernel", 1000, 1000, 1),
    ("linear", 1000, 1000, 1),
)
_WAVES = 12


def measure() -> Iterator[dict[str, float]]:
    """Yield seconds and memory of fits, the quickest first, each as soon as it is known, and the values before."""
    yield {f"{name}_before": value for name, value in BEFORE.items()}
    small = [apart(partial(fit_times, "linear", problem))[0] for problem in PROBLEMS]
    yield {f"linear_seconds_30x1000_{name}": seconds for name, seconds in zip(PROBLEMS, small, strict=True)}
    yield {"linear_seconds_30x1000": float(np.mean(small))}
    for operator, *sizes in SIZES:
        yield smooth(operator, *sizes)
    yield dict(zip(("readme_seconds", "readme_cpu_seconds"), readme_seconds(), strict=True))
    automatic = apart(partial(auto_seconds, "eikonal"))
    yield dict(zip(("auto_seconds_eikonal", "auto_cpu_seconds_eikonal"), automatic, strict=True))
    yield from_file(1_000_000)


def smooth(operator: str, num_samples: int, num_points: int, num_channels: int = 1) -> dict[str, float]:
    """Return seconds and memory of a fit to smooth functions."""
    seconds, gib = apart(partial(fit_times, operator, None, num_samples, num_points, num_channels))
    sizes = f"{num_samples}x{num_points}" + (f"x{num_channels}" if (num_samples, num_points) == (30, 1000) else "")
    return {f"{operator}_seconds_{sizes}": seconds, f"{operator}_gib_{sizes}": gib}


def from_file(num_points: int) -> dict[str, float]:
    """Return seconds and memory of a fit of ``linear`` to 30 samples of a file, which are read one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "samples.h5"
        # The process that makes the samples holds them all.
        apart(partial(write_smooth_samples, path, 30, num_points))
        seconds, gib = apart(partial(fit_file, path))
    return {f"linear_seconds_30x{num_points}": seconds, f"linear_gib_30x{num_points}": gib}


def write_smooth_samples(path: Path, num_samples: int, num_points: int) -> tuple[float, float]:
    """Write smooth samples to a file; return the seconds of the processor and the peak of memory."""
    start = time.process_time()
    smooth_samples(num_samples, num_points).save(path)
    return time.process_time() - start, peak_gib()


def fit_file(path: Path) -> tuple[float, float]:
    """Fit ``linear`` to the samples of a file on one thread; return the same, reading included."""
    torch.set_num_threads(1)
    gola.fit(smooth_samples(4, 50), "linear", progress=False)  # imports what it needs
    start = time.process_time()
    gola.fit(Dataset.load(path), "linear", progress=False)
    return time.process_time() - start, peak_gib()


def apart(call: Callable[[], tuple[float, float]]) -> tuple[float, float]:
    """Call in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(call).result()


def fit_times(
    operator: str, problem: str | None, num_samples: int = 30, num_points: int = 1000, num_channels: int = 1
) -> tuple[float, float]:
    """Fit on one thread; return seconds of the processor and the peak of memory, that of the data included."""
    torch.set_num_threads(1)
    gola.fit(smooth_samples(4, 50), operator, progress=False)  # imports what it needs
    if problem is None:
        data = smooth_samples(num_samples, num_points, num_channels)
    else:
        data = samples_of(problem, num_samples, num_points)
    start = time.process_time()
    gola.fit(data, operator, progress=False)
    return time.process_time() - start, peak_gib()


def auto_seconds(problem: str) -> tuple[float, float]:
    """Let ``auto`` choose; return the seconds that passed and those of the processor."""
    data = samples_of(problem)
    passed, spent = time.perf_counter(), time.process_time()
    gola.fit(data, progress=False)
    return time.perf_counter() - passed, time.process_time() - spent


def readme_seconds() -> tuple[float, float]:
    """Run the example of the README as a program of its own; return the seconds that passed and of the processor."""
    found = re.search(r"```python\n(import gola\n.*?)```", Path("README.md").read_text(), re.DOTALL)
    assert found is not None
    with tempfile.TemporaryDirectory() as folder:
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", found[1]], check=True, cwd=folder, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return time.perf_counter() - start, spent


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


if __name__ == "__main__":
    from benchmarks.__main__ import keep

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, required=True, help="only fit to samples of so many points, from a file")
    keep(from_file(parser.parse_args().points))
