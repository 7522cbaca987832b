"""Look results up by cell: all seeds that were ever done with the same settings on the same data."""

import functools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gola.runs import RunConfig, RunResult, code_version
from paper.budgets import Budget
from paper.cells import Cell, run_of, seeds_of
from paper.costs import Costs
from paper.protocol import Protocol


@dataclass(frozen=True, kw_only=True, eq=False)
class Store:
    """Finished runs of the paper's tables.

    Attributes:
        protocol: Data and sizes.
        budget: How much is to be done.
        results: All results; where the code has changed in between, the newest of each run counts.
        fingerprints: Those of the data, by problem: more than one where machines rounded differently.
        data: Folder of the data sets.
    """

    protocol: Protocol
    budget: Budget
    results: tuple[RunResult, ...]
    fingerprints: Mapping[str, Sequence[str]]
    data: Path

    def of(self, cell: Cell) -> dict[int, RunResult]:
        """Return the results of a cell by seed: those that the budget asks for, and further ones if there are."""
        return self.of_run(self._run(cell, 0))

    def of_run(self, run: RunConfig) -> dict[int, RunResult]:
        """Return the results of a run with all its seeds."""
        return dict(sorted(self._by_settings.get(_settings(run), {}).items()))

    def errors(self, cell: Cell, test_points: int | None = None) -> dict[int, float]:
        """Return the mean test error of a cell by seed, at another number of points where one is given."""
        return {
            seed: result.error if test_points is None else result.error_at(test_points)
            for seed, result in self.of(cell).items()
        }

    def error_bar(self, cell: Cell, test_points: int | None = None) -> float:
        """Return the standard error of a cell's mean error, from the scatter over test samples; a mean over seeds."""
        errors = [
            result.errors if test_points is None else result.errors_by_points[test_points]
            for result in self.of(cell).values()
        ]
        bars = [statistics.stdev(one) / math.sqrt(len(one)) for one in errors if len(one) > 1]
        return statistics.fmean(bars) if bars else 0.0

    def runs(self, cells: Iterable[Cell], num_seeds: int | None = None) -> list[RunConfig]:
        """Return the runs that a budget asks for, the first seed of all cells before the second.

        Args:
            cells: What to fill.
            num_seeds: How often instead of what the budget says.
        """
        wanted = [(seed, cell) for cell in cells for seed in self._seeds(cell, num_seeds)]
        return [self._run(cell, seed) for seed, cell in sorted(wanted, key=lambda pair: pair[0])]

    def missing(self, cells: Iterable[Cell], num_seeds: int | None = None, *, fresh: bool = False) -> list[RunConfig]:
        """Return the runs that have no result.

        Args:
            cells: What to fill.
            num_seeds: How often instead of what the budget says.
            fresh: Whether a result of other code counts as none.
        """
        usable = self._current if fresh else self._any
        return [
            run
            for run in self.runs(cells, num_seeds)
            if not any(identity in usable for identity in self._identities(run))
        ]

    def seconds_missing(self, cells: Iterable[Cell]) -> float:
        """Estimate the time of the runs that have no result, on one core."""
        return self.costs.total(self.missing(cells))

    def num_outdated(self, cells: Iterable[Cell]) -> int:
        """Return how many of the results that count were made by other code."""
        counted = [result for cell in cells for result in self.of(cell).values()]
        return sum(result.code_version != code_version() for result in counted)

    @functools.cached_property
    def costs(self) -> Costs:
        """Estimates of time, from the results that there are."""
        return Costs.of(self.results)

    @functools.cached_property
    def _any(self) -> frozenset[str]:
        return frozenset(result.identity for result in self.results)

    @functools.cached_property
    def _current(self) -> frozenset[str]:
        return frozenset(result.identity for result in self.results if result.code_version == code_version())

    @functools.cached_property
    def _by_settings(self) -> dict[str, dict[int, RunResult]]:
        found: dict[str, dict[int, RunResult]] = {}
        # The newest come last, but those of the present code count before any others.
        for result in sorted(self.results, key=lambda result: result.code_version == code_version()):
            if result.data in self.fingerprints.get(_problem(result.run), ()):
                found.setdefault(_settings(result.run), {})[result.run.seed] = result
        return found

    def _run(self, cell: Cell, seed: int) -> RunConfig:
        return run_of(cell, self.protocol, self.budget, self.data, seed)

    def _seeds(self, cell: Cell, num_seeds: int | None) -> range:
        return seeds_of(cell, self.protocol, self.budget) if num_seeds is None else range(num_seeds)

    def _identities(self, run: RunConfig) -> list[str]:
        """Return the names that a result may have, one for each machine that the data were made on."""
        return [run.identity(fingerprint) for fingerprint in self.fingerprints.get(_problem(run), ())]


def _problem(run: RunConfig) -> str:
    return Path(run.data).stem


def _settings(run: RunConfig) -> str:
    """Return what runs have in common that differ in their seed, and in the machine that their data were made on."""
    return replace(run, seed=0).identity(_problem(run))
