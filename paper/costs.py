"""How long runs take, roughly: from runs of the same operator, or from a calibration."""

import heapq
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gola.runs import RunConfig, RunResult

Kind = tuple[str, bool]
"""Runs of one kind are alike: the operator, and whether it sees the full grid."""

# Points of the full grid, for runs that take all points.
_GRID = 128**2
_NUM_TEST = 100
# Results that are looked at for one estimate: the most similar ones.
_NUM_SIMILAR = 3

_RATES: dict[str, tuple[float, float]] = {
    "gola": (6e-3, 3e-5),
    "gola/paper": (1e-2, 1.9e-4),
    "gkn": (1e-2, 9e-4),
    "gcn": (1e-2, 7e-5),
    "fno": (3e-2, 6e-6),
    "deeponet": (2e-3, 6e-6),
    "auto": (1e-1, 1.5e-3),
    "linear": (1e-1, 3e-4),
    "kernel": (1e-2, 1.5e-4),
    "nearest": (5e-3, 1.2e-4),
    "mean": (4e-3, 1e-4),
}
"""Seconds for one pass over one sample, and further seconds for each of its points, on one thread of a busy machine
(Darcy flow, 10 samples, 20 to 16384 points, November 2026). A closed-form operator passes once."""
_UNKNOWN_RATE = (1e-2, 1e-4)
# A prediction costs about this share of a pass with its way back.
_PREDICTION = 0.3


@dataclass(frozen=True, eq=False)
class Costs:
    """Estimates of time.

    The calibration says how time grows with samples, points and epochs; the most similar runs of the same operator that
    were really done, on the same data if there are any, say how far off it is on this machine. Expect a factor of two
    either way.

    Attributes:
        known: Runs that were done, by kind.
    """

    known: Mapping[Kind, Sequence["_Done"]] = field(default_factory=dict)

    @classmethod
    def of(cls, results: Iterable[RunResult]) -> "Costs":
        """Learn from the times of results."""
        known: dict[Kind, list[_Done]] = {}
        for result in results:
            model = _calibrated(result.run)
            done = _Done(data=result.run.data, model=model, factor=result.seconds / model)
            known.setdefault(_kind(result.run), []).append(done)
        return cls(known)

    def seconds(self, run: RunConfig) -> float:
        """Estimate the time that a run takes on one core."""
        model = _calibrated(run)
        alike = self.known.get(_kind(run), ())
        # What an operator does may depend on the data: the automatic choice trains networks where they help.
        alike = [other for other in alike if other.data == run.data] or alike
        nearest = heapq.nsmallest(_NUM_SIMILAR, alike, key=lambda other: abs(math.log(other.model / model)))
        return model * statistics.median(other.factor for other in nearest) if nearest else model

    def total(self, runs: Iterable[RunConfig]) -> float:
        """Estimate the time that runs take one after the other."""
        return sum(self.seconds(run) for run in runs)


@dataclass(frozen=True, kw_only=True)
class _Done:
    """A run that was done: its data, the calibrated seconds, and how many times as long it took."""

    data: str
    model: float
    factor: float


def time_text(seconds: float) -> str:
    """Write an estimate as roughly as it is.

    >>> time_text(20), time_text(400), time_text(9000)
    ('≈ 1 min', '≈ 7 min', '≈ 2.5 h')
    """
    minutes = max(1, math.ceil(seconds / 60))
    return f"≈ {minutes} min" if minutes < 90 else f"≈ {seconds / 3600:.1f} h"


def _calibrated(run: RunConfig) -> float:
    num_train = run.num_train or 1
    passes = run.training.resolved(num_train).num_epochs or 1 if run.is_trained else 1
    fitting = num_train * passes * _pass(run, run.num_points)
    num_test = run.num_test or _NUM_TEST
    testing = sum(num_test * _PREDICTION * _pass(run, number) for number in {run.num_points, *run.test_points})
    return fitting + testing


def _pass(run: RunConfig, num_points: int | None) -> float:
    fixed, per_point = _RATES.get(run.operator, _UNKNOWN_RATE)
    return fixed + per_point * (num_points or _GRID)


def _kind(run: RunConfig) -> Kind:
    return run.operator, run.num_points is None
