"""Which runs have results, which are still to be done, and how long these will take."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gola.runs.config import RunConfig
from gola.runs.fingerprints import code_version, fingerprint_of
from gola.runs.result import RunResult
from gola.runs.storage import ResultFolder


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Some runs, divided into those with a result and the others.

    Attributes:
        found: Results by identity.
        pending: Runs to do, by identity; equal ones once.
        num_outdated: How many of the pending runs have a result of another code version, which does not count.
        known: All results in the folder, for estimates of time.
    """

    found: dict[str, RunResult]
    pending: dict[str, RunConfig]
    num_outdated: int
    known: tuple[RunResult, ...]

    def seconds(self, num_workers: int = 1) -> float | None:
        """Estimate the time for the pending runs; None where no similar run is known."""
        return estimated_seconds(self.pending.values(), self.known, num_workers)


def plan(runs: Iterable[RunConfig], folder: ResultFolder, *, keep: bool = False) -> Plan:
    """Look up which runs have a result.

    Args:
        runs: The runs.
        folder: Where results are kept.
        keep: Whether results of other code versions count too, the newest of them; otherwise those runs are repeated.
    """
    known = tuple(folder.results())
    current = {result.identity: result for result in known if result.code_version == code_version(result.run.operator)}
    any_code = {result.identity: result for result in known}
    usable = {**any_code, **current} if keep else current
    by_identity: dict[str, RunConfig] = {}
    for run in runs:
        by_identity.setdefault(run.identity(fingerprint_of(run.data)), run)
    pending = {identity: run for identity, run in by_identity.items() if identity not in usable}
    return Plan(
        found={identity: usable[identity] for identity in by_identity if identity in usable},
        pending=pending,
        num_outdated=sum(identity in any_code for identity in pending),
        known=known,
    )


def estimated_seconds(runs: Iterable[RunConfig], known: Sequence[RunResult], num_workers: int = 1) -> float | None:
    """Estimate the total time of runs from earlier ones.

    A run without a similar one counts like the mean of the others.

    Args:
        runs: The runs to be done.
        known: Results with their times.
        num_workers: How many runs are done at the same time.
    """
    estimates = [_seconds_of(run, known) for run in runs]
    similar = [seconds for seconds in estimates if seconds is not None]
    if not estimates:
        return 0.0
    return len(estimates) * sum(similar) / len(similar) / min(num_workers, len(estimates)) if similar else None


def _seconds_of(run: RunConfig, known: Sequence[RunResult]) -> float | None:
    """Scale the time of the most similar run of the same operator to the work of this one."""
    candidates = [result for result in known if _kind(result.run) == _kind(run)]
    if not candidates:
        return None

    def distance(result: RunResult) -> tuple[bool, float]:
        return result.run.settings != run.settings, abs(math.log(_work(run) / _work(result.run)))

    nearest = min(candidates, key=distance)
    return nearest.seconds * _work(run) / _work(nearest.run)


def _kind(run: RunConfig) -> tuple[str, bool, bool]:
    return run.operator, run.num_train is None, run.num_points is None


def _work(run: RunConfig) -> float:
    """Return the work of a run: samples that it processes in fitting, times points."""
    num_samples = run.num_train or 1
    num_epochs = run.training.resolved(num_samples).num_epochs or 1
    return num_samples * (num_epochs if run.heeds("training") else 1) * (run.num_points or 1)
