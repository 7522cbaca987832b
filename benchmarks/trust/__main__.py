"""Do what is missing of the studies, and write their tables and figures: ``python -m benchmarks.trust``.

A cell is one problem, operator, number of training samples and split. It is written to ``results/trust/`` as soon as it
ends, and a second call does only the missing ones; splits come in the outermost loop, so that a study that is cut short
is balanced. ``--report`` only writes ``docs/trust-measured.md`` and its figures. Times are those of one thread.
"""

import argparse
import itertools
import warnings
from pathlib import Path

import torch

from benchmarks.trust import forecasts
from benchmarks.trust.bands import METHODS, SIZES, measure, runs_in
from benchmarks.trust.cases import PROBLEMS
from benchmarks.trust.forecasts import compare_forecast, forecasts_in
from benchmarks.trust.report import write_report
from benchmarks.trust.suggestions import compare_suggestions, suggestions_in

RESULTS = Path("results/trust")
# Nothing was developed on samples or splits of these seeds.
DATA_SEED, FIRST_SPLIT = 26_419, 4000
STUDIES = ("bands", "suggestions", "forecasts")


def main() -> None:
    """Do the missing cells of the chosen studies, problems, operators, sizes and splits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", nargs="+", default=[*STUDIES], choices=STUDIES)
    parser.add_argument("--problems", nargs="+", default=[*PROBLEMS], choices=[*PROBLEMS])
    parser.add_argument("--operators", nargs="+", default=[*METHODS], choices=METHODS, help="whose bands are counted")
    parser.add_argument("--sizes", nargs="+", type=int, default=[*SIZES], choices=SIZES, help="of the study of bands")
    parser.add_argument("--splits", type=int, default=20, help="number of splits")
    parser.add_argument("--report", action="store_true", help="only write the page and the figures of what is finished")
    options = parser.parse_args()
    if not options.report:
        torch.set_num_threads(1)
        warnings.simplefilter("ignore", UserWarning)  # test samples beyond the training samples count too
        splits = range(FIRST_SPLIT, FIRST_SPLIT + options.splits)
        for study in options.studies:
            _STUDIES[study](options, splits)
    write_report(RESULTS)


def _bands(options: argparse.Namespace, splits: range) -> None:
    runs = runs_in(RESULTS)
    for split, size, problem in itertools.product(splits, options.sizes, options.problems):
        measure(runs, problem, size, split, tuple(options.operators), DATA_SEED)


def _suggestions(options: argparse.Namespace, splits: range) -> None:
    runs = suggestions_in(RESULTS)
    for split, problem in itertools.product(splits, options.problems):
        compare_suggestions(runs, problem, split, DATA_SEED)


def _forecasts(options: argparse.Namespace, splits: range) -> None:
    runs = forecasts_in(RESULTS)
    for split, size, problem in itertools.product(splits, forecasts.SIZES, options.problems):
        compare_forecast(runs, problem, size, split, DATA_SEED)


_STUDIES = {"bands": _bands, "suggestions": _suggestions, "forecasts": _forecasts}


if __name__ == "__main__":
    main()
