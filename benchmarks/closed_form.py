"""Closed-form operators on the paper's problems at scattered points: ``python -m benchmarks.closed_form``.

One run is one operator, problem, number of training samples and seed; it is written to ``results/closed_form/runs.csv``
as soon as it ends, and a second call does only the missing ones. ``--table`` prints the finished ones. Times are those
of the processor, on one thread, so that other work on the machine distorts them little.
"""

import argparse
import itertools
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from benchmarks.runs import Runs
from gola.data.dataset import Dataset
from gola.metrics import relative_l2_errors
from gola.operators import ClosedForm, Kernel, Linear, Mean, Nearest
from gola.operators.cloud import Cloud
from gola.problems import make_problem

KEYS = ("problem", "num_train", "operator", "seed")
RUNS = Runs(
    path=Path("results/closed_form/runs.csv"),
    columns=(*KEYS, "error", "cv_error", "fit_seconds", "predict_milliseconds"),
    keys=KEYS,
)
OPERATORS: dict[str, type[ClosedForm]] = {operator.name: operator for operator in (Mean, Nearest, Kernel, Linear)}
PROBLEMS = ("darcy", "advection", "eikonal", "nonlinear_diffusion")
SIZES = (10, 30, 100)
NUM_SAMPLES, NUM_TEST, NUM_POINTS = 200, 100, 1000
# What the operators search through was chosen on samples of seed 0, so none of those may be a test sample.
DATA_SEED = 1


def main() -> None:
    """Do the missing runs of the chosen operators, problems, sizes and seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operators", nargs="+", default=list(OPERATORS), choices=list(OPERATORS))
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=PROBLEMS)
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--table", action="store_true", help="only print what is finished, as Markdown")
    options = parser.parse_args()
    if options.table:
        print_table()
        return
    torch.set_num_threads(1)
    wanted = itertools.product(options.seeds, options.problems, options.sizes, options.operators)
    for seed, problem, num_train, operator in wanted:
        if not RUNS.is_done(problem, num_train, operator, seed):
            RUNS.append(*run(problem, num_train, operator, seed))


def run(problem: str, num_train: int, operator: str, seed: int) -> tuple[object, ...]:
    """Fit to the training samples and return the errors on 100 test samples and by leave-one-out, and the times."""
    training, test = all_samples(problem).split(num_train=num_train, num_test=NUM_TEST, seed=seed)
    cloud, targets = together(training.subsample(NUM_POINTS, seed=seed))
    asked, truth = together(test.subsample(NUM_POINTS, seed=seed))
    kind = OPERATORS[operator]
    made = kind(kind.presets["default"])
    start = time.process_time()
    made.fit_cloud(cloud, targets)
    fitted = time.process_time()
    predictions = made(asked)
    milliseconds = 1e3 * (time.process_time() - fitted) / NUM_TEST
    error = relative_l2_errors(predictions, truth, asked.sizes).mean()
    held_out = relative_l2_errors(made.leave_one_out(), targets, cloud.sizes).mean()
    measured = (f"{error:.5f}", f"{held_out:.5f}", f"{fitted - start:.2f}", f"{milliseconds:.1f}")
    return (problem, num_train, operator, seed, *measured)


@lru_cache(maxsize=1)
def all_samples(problem: str) -> Dataset:
    """Return the samples that training and test samples are drawn from, on the full grid."""
    kind = make_problem(problem)
    return Dataset.from_samples(kind.generate(DATA_SEED, range(NUM_SAMPLES)), inputs=kind.inputs, targets=kind.targets)


def together(samples: Dataset) -> tuple[Cloud, Tensor]:
    """Return all samples as one cloud with its targets, in their own units."""
    clouds = [Cloud.of(torch.as_tensor(sample.points), torch.as_tensor(sample.inputs)) for sample in samples]
    return Cloud.collate(clouds), torch.cat([torch.as_tensor(sample.targets) for sample in samples])


def print_table() -> None:
    """Print errors, leave-one-out errors and times of every operator and size."""
    rows = RUNS.finished()
    print("| training samples | operator | " + " | ".join(PROBLEMS) + " | seeds | fit, s | predict, ms |")
    print("|---" * (len(PROBLEMS) + 5) + "|")
    for size, operator in itertools.product(SIZES, OPERATORS):
        found = [row for row in rows if (row["num_train"], row["operator"]) == (str(size), operator)]
        if not found:
            continue
        cells = [cell([row for row in found if row["problem"] == problem]) for problem in PROBLEMS]
        seeds = len({row["seed"] for row in found})
        times = [np.median([float(row[name]) for row in found]) for name in ("fit_seconds", "predict_milliseconds")]
        print(f"| {size} | {operator} | {' | '.join(cells)} | {seeds} | {times[0]:.1f} | {times[1]:.0f} |")


def cell(rows: Sequence[dict[str, str]]) -> str:
    """Write mean and spread over the seeds, and in brackets the mean leave-one-out error."""
    if not rows:
        return "–"
    errors = [float(row["error"]) for row in rows]
    held_out = np.mean([float(row["cv_error"]) for row in rows])
    spread = f" ± {np.std(errors, ddof=1):.4f}" if len(errors) > 1 else ""
    return f"{np.mean(errors):.4f}{spread} ({held_out:.4f})"


if __name__ == "__main__":
    main()
