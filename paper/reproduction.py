"""The whole of it in one object: what to run, what is there, and the report."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gola.registry import unknown
from gola.report.page import Table
from gola.runs import ResultFolder
from paper.ablation.page import write_ablation
from paper.ablation.variants import ablation_cells
from paper.budgets import BUDGETS, Budget
from paper.cells import TARGETS, Cell, cells_of
from paper.complexity import Complexity, measure
from paper.data import DataRecord, prepare
from paper.order import in_order
from paper.plan import Planned
from paper.protocol import Protocol
from paper.report.page import write_pages
from paper.report.sections import section_of
from paper.rows import Row
from paper.store import Store
from paper.table import RunTable

ABLATION = "ablation"
COMPLEXITY = "complexity"
ALL = "all"
REPORT = "report"
CHOICES = (*TARGETS, COMPLEXITY, ABLATION, ALL, REPORT)
"""All that can be asked for."""


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """The paper's tables and figures and the ablation, done with one budget.

    Attributes:
        budget: How much time to spend.
        out: Folder of the table of results, ``runs.csv``.
        work: Folder of runs in progress and of the report; nothing in it has to be kept.
        data: Folder of the data sets.
        protocol: Data and sizes.
    """

    budget: Budget
    out: Path
    work: Path
    data: Path
    protocol: Protocol = field(default_factory=Protocol)

    @classmethod
    def of(cls, budget: str, *, out: Path, work: Path, data: Path, protocol: Protocol | None = None) -> "Reproduction":
        """Return the one with the budget of that name."""
        if budget not in BUDGETS:
            raise ValueError(unknown("budget", budget, BUDGETS))
        return cls(budget=BUDGETS[budget], out=out, work=work, data=data, protocol=protocol or Protocol())

    @property
    def runs_folder(self) -> Path:
        """Where runs are done, each in a file of its own."""
        return self.work / "runs"

    @property
    def table(self) -> RunTable:
        """All finished runs."""
        return RunTable(self.out / "runs.csv")

    def fold(self) -> int:
        """Bring finished runs into the table, and return how many are new."""
        return self.table.add(self._recent())

    def store(self) -> Store:
        """Read what is done so far, in the table or not yet."""
        return Store(
            protocol=self.protocol,
            budget=self.budget,
            rows=(*self.table.rows(), *self._recent()),
            fingerprints=self._record.fingerprints(),
            data=self.data,
        )

    def cells(
        self, target: str, *, problems: Sequence[str] | None = None, operators: Sequence[str] | None = None
    ) -> list[Cell]:
        """Return the cells of a target; ``"complexity"`` has none, ``"all"`` and ``"report"`` have those of the paper.

        Args:
            target: One of :data:`CHOICES`.
            problems: Only these.
            operators: Only these.
        """
        if target not in CHOICES:
            raise ValueError(unknown("target", target, CHOICES))
        cells = self._cells(target)
        wanted = None if operators is None else [name.removesuffix("/default") for name in operators]
        _require_known("problem", problems, [cell.problem for cell in cells], target)
        _require_known("operator", wanted, [cell.operator for cell in cells], target)
        return [
            cell
            for cell in cells
            if (problems is None or cell.problem in problems) and (wanted is None or cell.operator in wanted)
        ]

    def planned(self, cells: Sequence[Cell], num_seeds: int | None = None, *, fresh: bool = False) -> list[Planned]:
        """Return the runs that fill the cells, in the order in which they are done.

        What the paper prints in Tables 1 and 2 comes first, then the rest of them, the other tables, curves and the
        other figures; in each the first seed of all before the second, and the quick runs first.

        Args:
            cells: What to fill.
            num_seeds: How often instead of what the budget says.
            fresh: Whether a result of another code version counts as none.
        """
        store = self.store()
        groups = (store.planned(group, num_seeds, fresh=fresh) for group in in_order(cells, self.protocol, self.budget))
        return [
            line for lines in groups for line in sorted(lines, key=lambda line: (line.run.seed, line.seconds or 0.0))
        ]

    def prepare(
        self,
        problem: str,
        *,
        num_workers: int | None = None,
        scheduler: str | None = None,
        on_progress: Callable[[int], object] = lambda _: None,
    ) -> None:
        """Make the data of a problem, unless they are there."""
        prepare(
            problem,
            self.protocol,
            self.data,
            self._record,
            num_workers=num_workers,
            scheduler=scheduler,
            on_progress=on_progress,
        )

    def measure(self, on_progress: Callable[[int, int], object] = lambda _done, _total: None) -> None:
        """Measure time and memory of a training step, and keep them."""
        measure(on_progress=on_progress).save(self._complexity_file)

    def tables(self, target: str) -> list[Table]:
        """Return the tables of a target, from the results that there are."""
        if target not in (*TARGETS, COMPLEXITY):
            return []
        section = section_of(target, self.store(), self._complexity())
        return [block for block in section.blocks if isinstance(block, Table)]

    def write(self, pages: Path, ablation: "Reproduction | None" = None) -> list[Path]:
        """Write the report as HTML, and two pages of Markdown: the results and the ablation; return where.

        Args:
            pages: Folder of the Markdown pages; their pictures lie beside the table of results.
            ablation: The reproduction that has the ablation's results; this one by default.
        """
        varied = (ablation or self).store()
        written = write_pages(self.store(), varied, self._complexity(), work=self.work, pages=pages, pictures=self.out)
        return [*written, write_ablation(varied, pages)]

    def _recent(self) -> list[Row]:
        """Return the runs of the working folder."""
        return [Row.of(result) for result in ResultFolder(path=self.runs_folder).results()]

    def _cells(self, target: str) -> list[Cell]:
        if target == ABLATION:
            return ablation_cells(self.protocol)
        names = list(TARGETS) if target in (ALL, REPORT) else [name for name in TARGETS if name == target]
        return cells_of(names, self.protocol, self.budget)

    @property
    def _record(self) -> DataRecord:
        return DataRecord(path=self.out / "data.json")

    @property
    def _complexity_file(self) -> Path:
        return self.out / "complexity.json"

    def _complexity(self) -> Complexity | None:
        return Complexity.load(self._complexity_file) if self._complexity_file.exists() else None


def _require_known(what: str, names: Sequence[str] | None, known: Sequence[str], target: str) -> None:
    for name in names or ():
        if name not in known:
            raise ValueError(unknown(f"{what} of {target}", name, dict.fromkeys(known)))
