"""Forecasts of learning curves beside what twice the samples really bring."""

from pathlib import Path

from benchmarks.runs import Runs
from benchmarks.trust.cases import samples_of
from benchmarks.trust.operators import quickest
from gola import evaluate, fit, learning_curve

SIZES = (20, 40)
KEYS = ("problem", "samples", "split")


def forecasts_in(folder: Path) -> Runs:
    """Return the finished cells: errors with so many samples, the forecast for twice as many, and the error then.

    The error with so many is both that on test samples and the one that the samples themselves tell.
    """
    columns = (*KEYS, "error_now", "estimated_now", "forecast", "lower", "upper", "error")
    return Runs(path=folder / "forecasts.csv", columns=columns, keys=KEYS)


def compare_forecast(runs: Runs, problem: str, size: int, split: int, data_seed: int) -> None:
    """Forecast the error with twice the samples, add as many others, and write down the error then."""
    if runs.is_done(problem, size, split):
        return
    more, test = samples_of(problem, data_seed).split(num_train=2 * size, seed=split)
    operator, start = quickest(more), more.select(range(size))
    curve = learning_curve(start, operator, seed=split)
    then = curve.forecast(2 * size)
    now, error = (evaluate(fit(one, operator, progress=False), test, progress=False).mean for one in (start, more))
    numbers = (now, curve.errors[-1], then.error, then.lower, then.upper, error)
    runs.append(problem, size, split, *(f"{number:.4g}" for number in numbers))
