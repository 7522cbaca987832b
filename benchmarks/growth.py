"""How time and memory grow with the data: ``python -m benchmarks.growth``, printed and written by ``make bench`` too.

One run fits `kernel` or `linear` to smooth random functions with one size changed: points, samples, channels,
dimension, or queries. Each runs in a process of its own, whose peak of memory is that of the run, and is written to
``results/growth.csv`` as soon as it ends; a second call does only the missing ones. Seconds are those of the processor
on one thread. The slope between sizes is the order of growth: 1 is linear.
"""

import argparse
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np

from benchmarks.memory import peak_gib
from benchmarks.runs import Runs

KEYS = ("operator", "varied", "size")
RUNS = Runs(path=Path("results/growth.csv"), columns=(*KEYS, "fit_seconds", "predict_seconds", "gib"), keys=KEYS)
PAGE, FIGURE = Path("docs/growth.md"), Path("docs/images/growth.png")
# Of all sizes but the one that is varied; a fit to these is done once, as that for the queries.
USUAL = {"points": 1000, "samples": 30, "channels": 1, "dimension": 2, "queries": 1000}
SIZES = {
    "points": (256, 1000, 4000, 16_000, 64_000, 256_000, 1_000_000),
    "samples": (10, 30, 100, 300, 1000),
    "channels": (1, 3, 10, 20),
    "dimension": (1, 2, 3),
    "queries": (1000, 10_000, 100_000, 1_000_000),
}
OPERATORS = ("kernel", "linear")
FITTED = [(operator, varied) for operator in OPERATORS for varied in ("points", "samples", "channels")]
# A run beyond these sizes takes minutes, and is done last.
LONG = {"points": 256_000, "samples": 300}


def measure(*, short: bool = False) -> dict[str, float]:
    """Do the missing runs, write page and figure, and return the slopes of fitting and of predicting.

    Args:
        short: Whether to leave out runs that take minutes.
    """
    for operator, varied, size in wanted():
        is_long = size > LONG.get(varied, size)
        if not (RUNS.is_done(operator, varied, size) or (short and is_long)):
            sizes = SIZES["queries"] if varied == "queries" else (size,)
            for each, measured in zip(sizes, apart(operator, varied, size), strict=True):
                RUNS.append(operator, varied, each, *measured)
    report()
    slopes = {f"growth_{operator}_{varied}": slope(operator, varied, "fit_seconds") for operator, varied in FITTED}
    return slopes | {
        f"growth_{operator}_queries": slope(operator, "queries", "predict_seconds") for operator in OPERATORS
    }


def apart(operator: str, varied: str, size: int) -> list[tuple[str, str, str]]:
    """Run in a process of its own, whose peak of memory is that of the run; nothing where it runs out of memory."""
    asked = SIZES["queries"] if varied == "queries" else (USUAL["queries"],)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            return pool.submit(run, operator, {**USUAL, varied: size}, asked).result()
        except BrokenProcessPool:
            return [("", "", "")] * len(asked)


def wanted() -> Iterator[tuple[str, str, int]]:
    """Return the runs, the quickest first; all numbers of queries are one run."""
    runs = [
        (operator, varied, size)
        for varied, sizes in SIZES.items()
        for size in sizes
        for operator in OPERATORS
        if (size == USUAL[varied]) == (varied == "queries")
    ]
    yield from sorted(runs, key=lambda one: (one[2] > LONG.get(one[1], one[2]), one[2] / USUAL[one[1]]))


def run(operator: str, sizes: dict[str, int], asked: Sequence[int]) -> list[tuple[str, str, str]]:
    """Fit once and predict at so many places; return the seconds of both, and the most memory so far in GiB."""
    import torch

    import gola

    torch.set_num_threads(1)
    gola.fit(functions({**sizes, "points": 50, "samples": 4}), operator, progress=False)  # imports what it needs
    data = functions(sizes)
    start = time.process_time()
    surrogate = gola.fit(data, operator, progress=False)
    fitted = time.process_time() - start
    return [(f"{fitted:.3f}", f"{predicting(surrogate, data, count):.4f}", f"{peak_gib():.2f}") for count in asked]


def predicting(surrogate: "gola.Surrogate", data: "gola.Dataset", count: int) -> float:
    """Return the seconds of a prediction at so many places."""
    places = np.random.default_rng(1).random((count, data.dim))
    start = time.process_time()
    surrogate.predict_sample(data[0], at=places)
    return time.process_time() - start


def functions(sizes: dict[str, int]) -> "gola.Dataset":
    """Return sums of a few waves at scattered points, and what a smoothing of them gives."""
    import gola

    rng, dim = np.random.default_rng(0), sizes["dimension"]
    waves = np.stack(np.meshgrid(*[np.arange(4)] * dim, indexing="ij"), axis=-1).reshape(-1, dim)[1:]
    damping = 1.0 / (waves**2).sum(axis=1)
    points, inputs, targets = [], [], []
    for _ in range(sizes["samples"]):
        places = rng.random((sizes["points"], dim))
        values = np.cos(np.pi * places @ waves.T)
        strengths = rng.standard_normal((len(waves), sizes["channels"])) * damping[:, None]
        points.append(places)
        inputs.append(values @ strengths)
        targets.append(values @ (damping[:, None] * strengths))
    return gola.Dataset.from_arrays(points, inputs, targets)


def finished() -> list[dict[str, str]]:
    """Return the runs that came to an end; that of the usual sizes belongs to every size that is varied."""
    rows = [row for row in RUNS.finished() if row["fit_seconds"]]
    usual = [row for row in rows if row["varied"] == "queries" and int(row["size"]) == USUAL["queries"]]
    others = [
        {**row, "varied": varied, "size": str(USUAL[varied])}
        for row in usual
        for varied in SIZES
        if varied != "queries"
    ]
    return rows + others


def slope(operator: str, varied: str, column: str) -> float:
    """Return the order of growth over the larger half of the sizes, by least squares in logarithms."""
    rows = [row for row in finished() if (row["operator"], row["varied"]) == (operator, varied)]
    rows = sorted(rows, key=lambda row: int(row["size"]))
    rows = rows[min(len(rows) // 2, len(rows) - 2) :] if len(rows) > 2 else rows
    if len(rows) < 2:
        return float("nan")
    sizes, values = (np.log([max(1e-4, float(row[name])) for row in rows]) for name in ("size", column))
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
    parser.add_argument("--short", action="store_true", help="leave out the runs that take minutes")
    arguments = parser.parse_args()
    if arguments.report:
        report()
    else:
        measure(short=arguments.short)
