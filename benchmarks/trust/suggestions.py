"""Errors with simulations that were suggested, beside simulations drawn at random, from the same start."""

from pathlib import Path

from benchmarks.runs import Runs
from benchmarks.trust.cases import samples_of
from benchmarks.trust.operators import quickest
from gola import evaluate, fit
from gola.data.dataset import Dataset

START, BATCH, LAST = 10, 5, 40
NUM_POOL, NUM_TEST = 100, 50
HOW = ("random", "suggested")
KEYS = ("problem", "split", "how", "samples")


def suggestions_in(folder: Path) -> Runs:
    """Return the finished cells: the mean error on test samples after each batch."""
    return Runs(path=folder / "suggestions.csv", columns=(*KEYS, "error"), keys=KEYS)


def compare_suggestions(runs: Runs, problem: str, split: int, data_seed: int) -> None:
    """Add samples of a pool in batches, suggested ones and random ones, and write down the errors."""
    pool, test = samples_of(problem, data_seed).split(num_train=NUM_POOL, num_test=NUM_TEST, seed=split)
    for how in HOW:
        if not runs.is_done(problem, split, how, LAST):
            for count, error in _curve(pool, test, is_suggested=how == "suggested").items():
                runs.append(problem, split, how, count, f"{error:.4g}")


def _curve(pool: Dataset, test: Dataset, *, is_suggested: bool) -> dict[int, float]:
    operator, chosen, errors = quickest(pool), list(range(START)), {}
    while True:
        surrogate = fit(pool.select(chosen), operator, progress=False)
        errors[len(chosen)] = evaluate(surrogate, test, progress=False).mean
        if len(chosen) >= LAST:
            return errors
        # The pool is in random order.
        left = [row for row in range(len(pool)) if row not in chosen]
        if is_suggested:
            found = surrogate.suggest([pool[row] for row in left], num=BATCH)
            chosen += [left[one.candidate] for one in found.chosen]
        else:
            chosen += left[:BATCH]
