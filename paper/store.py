"""Look results up by cell: all seeds that were ever done with the same settings on the same data."""

import functools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gola.runs import RunConfig, RunResult
from gola.runs.planning import estimated_seconds
from paper.budgets import Budget
from paper.cells import Cell, run_of, seeds_of
from paper.plan import Planned
from paper.protocol import Protocol
from paper.rows import Key, Row
from paper.versions import current_versions


@dataclass(frozen=True, kw_only=True, eq=False)
class Store:
    """Finished runs, and what they say about the cells of tables and figures.

    Attributes:
        protocol: Data and sizes.
        budget: How much is to be done.
        rows: All finished runs, the oldest first; of a run that was done by several versions of the code, that of the
            present one counts, or else the newest.
        fingerprints: Those of the data, by problem: more than one where machines rounded differently.
        data: Folder of the data sets.
    """

    protocol: Protocol
    budget: Budget
    rows: tuple[Row, ...]
    fingerprints: Mapping[str, Sequence[str]]
    data: Path

    def of(self, cell: Cell) -> dict[int, Row]:
        """Return the rows of a cell by seed: those that the budget asks for, and further ones if there are."""
        run = self._run(cell, 0)
        found = self._by_key.get(Key.of(run, cell.variant), {})
        return {seed: row for seed, row in sorted(found.items()) if row.answers(run)}

    def errors(self, cell: Cell, test_points: int | None = None) -> dict[int, float]:
        """Return the mean test error of a cell by seed, at another number of points where one is given."""
        return {seed: row.errors_at(test_points).mean for seed, row in self.of(cell).items()}

    def error_bar(self, cell: Cell, test_points: int | None = None) -> float:
        """Return the standard error of a cell's mean error, from the scatter over test samples; a mean over seeds."""
        deviations = [row.errors_at(test_points).std for row in self.of(cell).values()]
        known = [deviation for deviation in deviations if not math.isnan(deviation)]
        return statistics.fmean(known) / math.sqrt(self.protocol.num_test) if known else 0.0

    def planned(self, cells: Iterable[Cell], num_seeds: int | None = None, *, fresh: bool = False) -> list[Planned]:
        """Return the runs that fill cells, the first seed of all before the second.

        Args:
            cells: What to fill.
            num_seeds: How often instead of what the budget says.
            fresh: Whether a row of another code version counts as none.
        """
        lines = []
        for cell in cells:
            found = self.of(cell)
            for seed in range(num_seeds) if num_seeds else seeds_of(cell, self.protocol, self.budget):
                row = found.get(seed)
                done = row is not None and (not fresh or is_current(row))
                run = self._run(cell, seed)
                seconds = 0.0 if done else self._seconds(run, cell.variant)
                lines.append(Planned(run=run, variant=cell.variant, row=row if done else None, seconds=seconds))
        return sorted(lines, key=lambda line: line.run.seed)

    def num_outdated(self, cells: Iterable[Cell]) -> int:
        """Return how many of the rows that count were made by another code version."""
        return sum(not is_current(row) for cell in cells for row in self.of(cell).values())

    @functools.cached_property
    def _by_key(self) -> dict[Key, dict[int, Row]]:
        found: dict[Key, dict[int, Row]] = {}
        for row in sorted(self.rows, key=lambda row: (is_current(row), row.finished)):
            if self._is_of_this_data(row):
                found.setdefault(row.key, {})[row.run.seed] = row
        return found

    def _is_of_this_data(self, row: Row) -> bool:
        known = self.fingerprints.get(row.problem)
        # The oldest rows do not say their data, which were the same: a table never goes on with others.
        return known is not None and (not row.data or row.data in known)

    @functools.cached_property
    def _timed(self) -> dict[str, list[RunResult]]:
        """Rows whose time is known, by variant."""
        found: dict[str, list[RunResult]] = {}
        for row in self.rows:
            if not math.isnan(row.seconds):
                found.setdefault(row.variant, []).append(row.as_result())
        return found

    @functools.cached_property
    def _known_seconds(self) -> dict[Key, float | None]:
        return {}

    def _seconds(self, run: RunConfig, variant: str) -> float | None:
        """Estimate the time of a run on one core, once for all its seeds; None where nothing similar is known."""
        key = Key.of(run, variant)
        if key not in self._known_seconds:
            # Those of the budget were measured on a quiet machine; runs are done on busy ones too.
            quiet = None if variant else self.budget.seconds_of(run)
            similar = estimated_seconds([run], self._timed.get(variant, [])) if quiet is None else quiet
            self._known_seconds[key] = similar
        return self._known_seconds[key]

    def _run(self, cell: Cell, seed: int) -> RunConfig:
        return run_of(cell, self.protocol, self.budget, self.data, seed)


def is_current(row: Row) -> bool:
    """Whether the present code made it, or one that gives the same numbers."""
    return row.code_version in current_versions(row.run.operator)
