"""`auto` beside what engineers use, on the same splits: ``python -m benchmarks.engineering``.

A cell is one problem, number of training samples, seed and method. It is written to ``results/engineering.csv`` as soon
as it ends, and a second call does only the missing ones. ``--again auto_closed_forms`` does finished ones again where
the package has changed since; the last one counts. ``--report`` only writes ``docs/engineering.md`` and its figure.
Times are those of the processor, on one thread.
"""

import argparse
import itertools
import subprocess

import numpy as np
import torch

from benchmarks.engineering.cases import PROBLEMS, SIZES, Split, split
from benchmarks.engineering.methods import METHODS, Method, cpu_seconds
from benchmarks.engineering.report import RUNS, write_report
from gola.registry import PROBLEMS as KNOWN


def main() -> None:
    """Do the missing cells of the chosen problems, sizes, seeds and methods."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", default=[*PROBLEMS], choices=[*PROBLEMS])
    parser.add_argument("--sizes", nargs="+", type=int, default=[*SIZES], choices=SIZES)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    without_networks = [name for name in METHODS if name != "auto"]
    parser.add_argument("--methods", nargs="+", default=without_networks, choices=[*METHODS])
    parser.add_argument("--again", nargs="+", default=[], choices=[*METHODS], help="do these again with changed code")
    parser.add_argument("--report", action="store_true", help="only write the page and the figure of what is finished")
    options = parser.parse_args()
    if options.report:
        write_report()
        return
    torch.set_num_threads(1)
    version = code_version()
    problems = [name for name in options.problems if name in KNOWN]
    for seed, problem, num_train in itertools.product(options.seeds, problems, options.sizes):
        for name in options.methods:
            if not is_done(problem, num_train, seed, name, version if name in options.again else None):
                measure(split(problem, num_train, seed), METHODS[name], problem, num_train, seed, name, version)


def is_done(problem: str, num_train: int, seed: int, method: str, version: str | None) -> bool:
    """Whether a cell is on disk, by this version of the code where one is named."""
    found = [
        row
        for row in RUNS.finished()
        if all(row[k] == str(v) for k, v in zip(RUNS.keys, (problem, num_train, seed, method), strict=True))
    ]
    return any(version in (None, row["version"]) for row in found)


def measure(data: Split, method: Method, *key: object) -> None:
    """Fit, predict and keep the result, if the method applies to the problem and its library is installed."""
    start = cpu_seconds()
    try:
        outcome = method(data)
    except ValueError as error:
        if "is not installed" not in str(error):
            raise
        print(f"{key[3]}: {error}")
        return
    if outcome is None:
        return
    seconds = cpu_seconds() - start
    errors = data.errors(outcome.predictions)
    estimated = "" if outcome.estimated_error is None else f"{outcome.estimated_error:.4g}"
    spread = errors.std(ddof=1) / np.sqrt(len(errors))
    *cell, version = key
    RUNS.append(*cell, f"{errors.mean():.4g}", f"{spread:.2g}", estimated, f"{seconds:.3g}", outcome.chosen, version)


def code_version() -> str:
    """Return the last commit that changed the package."""
    command = ["git", "log", "-1", "--format=%h", "--", "src/gola"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
