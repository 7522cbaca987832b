"""Do what is missing of the study, and write its tables and figures: ``python -m benchmarks.trust``.

A cell is one problem, operator, number of training samples and split. It is written to ``results/trust/`` as soon as it
ends, and a second call does only the missing ones; splits come in the outermost loop, so that a study that is cut short
is balanced. ``--report`` only writes ``docs/trust-measured.md`` and its figure. Times are those of one thread.
"""

import argparse
import itertools
import warnings
from pathlib import Path

import torch

from benchmarks.trust.bands import METHODS, SIZES, measure, runs_in
from benchmarks.trust.cases import PROBLEMS
from benchmarks.trust.report import write_report

RESULTS = Path("results/trust")
# Nothing was developed on samples or splits of these seeds.
DATA_SEED, FIRST_SPLIT = 26_001, 1000


def main() -> None:
    """Do the missing cells of the chosen problems, operators, sizes and splits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", default=[*PROBLEMS], choices=[*PROBLEMS])
    parser.add_argument("--operators", nargs="+", default=[*METHODS], choices=METHODS)
    parser.add_argument("--sizes", nargs="+", type=int, default=[*SIZES], choices=SIZES)
    parser.add_argument("--splits", type=int, default=20, help="number of splits")
    parser.add_argument("--report", action="store_true", help="only write the page and the figure of what is finished")
    options = parser.parse_args()
    if not options.report:
        torch.set_num_threads(1)
        warnings.simplefilter("ignore", UserWarning)  # test samples beyond the training samples count too
        runs = runs_in(RESULTS)
        splits = range(FIRST_SPLIT, FIRST_SPLIT + options.splits)
        for split, size, problem in itertools.product(splits, options.sizes, options.problems):
            measure(runs, problem, size, split, tuple(options.operators), DATA_SEED)
    write_report(RESULTS)


if __name__ == "__main__":
    main()
