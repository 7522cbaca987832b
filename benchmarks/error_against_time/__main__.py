"""Error over seconds of fitting, ours and others on the same samples: ``python -m benchmarks.error_against_time``.

One run is one method on one problem, with a budget for what is trained; it is written to
``results/error_against_time.csv`` as soon as it ends, and a second call does only the missing ones. Seconds are those
of the processor on one thread. ``--report`` draws the figure and prints the table of ratios.
"""

import argparse
import itertools
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch

from benchmarks.error_against_time import ours, peers
from benchmarks.error_against_time.cases import PROBLEMS, split
from benchmarks.error_against_time.report import TITLE, draw, table, verdict
from benchmarks.runs import Runs
from gola.plotting.style import write

Fit = Callable[..., peers.Outcome | None]
KEYS = ("problem", "method", "budget")
RUNS = Runs(path=Path("results/error_against_time.csv"), columns=(*KEYS, "error", "seconds"), keys=KEYS)
PAGE = Path("docs/error-against-time.md")
FIGURE = Path("docs/images/error_against_time.png")
# Seconds of training: of libraries for hundreds to thousands of steps; ours are there for comparison.
LIBRARY_SECONDS, NETWORK_SECONDS = 15.0, 5.0
SNAPSHOTS, LIBRARIES = ("ezyrb_rbf", "ezyrb_gpr", "smt_kriging"), ("neuralop_fno", "pyg_gkn", "neuralop_gino")


def methods(library_seconds: float, network_seconds: float) -> dict[tuple[str, str], Fit]:
    """Return how each method fits and predicts, by name and budget, in the order of the runs."""
    text, shorter = f"{library_seconds:g}", f"{network_seconds:g}"
    found: dict[tuple[str, str], Fit] = {}
    found |= {(name, text): partial(peers.network, name=name, budget=library_seconds) for name in LIBRARIES}
    found |= {(name, ""): partial(peers.snapshots, name=name) for name in SNAPSHOTS}
    found |= {(name, ""): partial(ours.fitted, operator=name, budget=None) for name in ours.CLOSED_FORMS}
    found |= {(name, shorter): partial(ours.fitted, operator=name, budget=network_seconds) for name in ours.NETWORKS}
    return found


def main() -> None:
    """Do the missing runs, or report what is finished."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=list(PROBLEMS))
    parser.add_argument(
        "--library-seconds", type=float, default=LIBRARY_SECONDS, help="training of a library's network"
    )
    parser.add_argument("--network-seconds", type=float, default=NETWORK_SECONDS, help="training of a network of ours")
    parser.add_argument("--report", action="store_true", help="only draw and print what is finished")
    options = parser.parse_args()
    if not options.report:
        torch.set_num_threads(1)
        chosen = methods(options.library_seconds, options.network_seconds)
        for (name, budget), problem in itertools.product(chosen, options.problems):
            if not RUNS.is_done(problem, name, budget):
                try:
                    RUNS.append(problem, name, budget, *measured(problem, chosen[name, budget]))
                except ValueError as error:  # a library that is not installed; the run stays missing
                    print(f"{name}: {error}", flush=True)
    rows = RUNS.finished()
    PAGE.write_text(f"{TITLE}{table(rows)}\n\n{verdict(rows)}\n")
    print(table(rows), verdict(rows), sep="\n\n")
    print(write(draw(rows, list(PROBLEMS)), FIGURE))


def measured(problem: str, fit: Fit) -> tuple[str, str]:
    """Return the mean error on the test samples and the seconds of the fit; nothing where a method does not apply."""
    samples = split(problem)
    outcome = fit(samples)
    if outcome is None:
        return "", ""
    predictions, seconds = outcome
    return f"{np.mean(samples.errors(predictions)):.4g}", f"{seconds:.2f}"


if __name__ == "__main__":
    main()
