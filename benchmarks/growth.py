"""How time and memory grow with the data: ``python -m benchmarks.growth``, printed and written by ``make bench`` too.

One run fits `kernel` or `linear` to smooth random functions with one size changed: points, samples, channels,
dimension, or queries. Each runs in a process of its own, whose peak of memory is that of the run, and is written to
``results/growth.csv`` as soon as it ends; a second call does only the missing ones. Seconds are those of the processor
on one thread. The slope between sizes is the order of growth: 1 is linear.
"""

import argparse
import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np

from benchmarks.memory import peak_gib
from benchmarks.runs import Runs

KEYS = ("operator", "varied", "size")
RUNS = Runs(path=Path("results/growth.csv"), columns=(*KEYS, "fit_seconds", "predict_seconds", "gib"), keys=KEYS)
PAGE, FIGURE = Path("docs/growth.md"), Path("docs/images/growth.png")
# Of all sizes but the one that is varied.
USUAL = {"points": 1000, "samples": 30, "channels": 1, "dimension": 2, "queries": 1000}
SIZES = {
    "points": (256, 1000, 4000, 16_000, 64_000, 256_000, 1_000_000),
    "samples": (10, 30, 100, 300, 1000),
    "channels": (1, 3, 10, 20),
    "dimension": (1, 2, 3),
    "queries": (1000, 10_000, 100_000, 1_000_000),
}
# The best that any method could do: all values are read once, all answers written once.
BEST = {"points": 1.0, "samples": 1.0, "channels": 1.0, "queries": 1.0}
OPERATORS = ("kernel", "linear")
# Sizes above these take more than a few minutes, or the memory of most machines.
MOST = {("linear", "points"): 256_000, ("kernel", "points"): 1_000_000}


def measure() -> dict[str, float]:
    """Do the missing runs, write page and figure, and return the slopes of fitting."""
    for operator, varied, size in wanted():
        if not RUNS.is_done(operator, varied, size):
            RUNS.append(operator, varied, size, *apart(operator, {**USUAL, varied: size}))
    report()
    return {
        f"growth_{operator}_{varied}": slope(operator, varied, "fit_seconds")
        for operator in OPERATORS
        for varied in BEST
        if varied != "queries"
    }


def apart(operator: str, sizes: dict[str, int]) -> tuple[str, str, str]:
    """Run in a process of its own, whose peak of memory is that of the run; nothing where it runs out of memory."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            return pool.submit(run, operator, sizes).result()
        except BrokenProcessPool:
            return "", "", ""


def wanted() -> Iterator[tuple[str, str, int]]:
    """Return the runs, the quickest first."""
    runs = [
        (operator, varied, size)
        for varied, sizes in SIZES.items()
        for size in sizes
        for operator in OPERATORS
        if size <= MOST.get((operator, varied), size)
    ]
    yield from sorted(runs, key=lambda one: one[2] / USUAL[one[1]])


def run(operator: str, sizes: dict[str, int]) -> tuple[str, str, str]:
    """Fit and predict once; return the seconds of both, and the most memory in GiB."""
    import torch

    import gola

    torch.set_num_threads(1)
    data, queries = functions(sizes)
    start = time.process_time()
    surrogate = gola.fit(data, operator, progress=False)
    fitted = time.process_time()
    surrogate.predict_sample(data[0], at=queries)
    taken = fitted - start, time.process_time() - fitted
    return f"{taken[0]:.3f}", f"{taken[1]:.3f}", f"{peak_gib():.2f}"


def functions(sizes: dict[str, int]) -> tuple["gola.Dataset", np.ndarray]:
    """Return sums of a few waves at scattered points, and what a smoothing of them gives; and places to ask at."""
    import gola

    rng, dim = np.random.default_rng(0), sizes["dimension"]
    waves = np.stack(np.meshgrid(*[np.arange(4)] * dim, indexing="ij"), axis=-1).reshape(-1, dim)[1:]
    damping = 1.0 / (waves**2).sum(axis=1)
    points, inputs, targets = [], [], []
    for _ in range(sizes["samples"]):
        places = rng.random((sizes["points"], dim))
        functions = np.cos(np.pi * places @ waves.T)
        strengths = rng.standard_normal((len(waves), sizes["channels"])) * damping[:, None]
        points.append(places)
        inputs.append(functions @ strengths)
        targets.append(functions @ (damping[:, None] * strengths))
    return gola.Dataset.from_arrays(points, inputs, targets), rng.random((sizes["queries"], dim))


def finished() -> list[dict[str, str]]:
    """Return the runs that came to an end."""
    return [row for row in RUNS.finished() if row["fit_seconds"]]


def slope(operator: str, varied: str, column: str) -> float:
    """Return the order of growth over the larger half of the sizes, by least squares in logarithms."""
    rows = [row for row in finished() if (row["operator"], row["varied"]) == (operator, varied)]
    rows = sorted(rows, key=lambda row: int(row["size"]))
    rows = rows[min(len(rows) // 2, len(rows) - 2) :] if len(rows) > 2 else rows
    if len(rows) < 2:
        return float("nan")
    sizes, values = (np.log([max(1e-3, float(row[name])) for row in rows]) for name in ("size", column))
    return float(np.polyfit(sizes, values, 1)[0])


def report() -> None:
    """Write the page and draw the figure."""
    from benchmarks.growth_report import draw, page
    from gola.plotting.style import write

    rows = finished()
    PAGE.write_text(page(rows, slope))
    write(draw(rows), FIGURE)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", action="store_true", help="only write page and figure of what is finished")
    if parser.parse_args().report:
        report()
    else:
        measure()
