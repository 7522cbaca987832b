"""The whole of it in one object: what to run, what is there, and the report."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gola.report.page import Table
from gola.runs import ResultFolder, RunConfig
from paper.budgets import BUDGETS, Budget
from paper.cells import TARGETS, Cell, cells_of
from paper.complexity import Complexity, measure
from paper.data import DataRecord, prepare
from paper.page import section_of, write_pages
from paper.protocol import Protocol
from paper.store import Store

COMPLEXITY = "complexity"
ALL = "all"


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A run, whether it is done, and how long it takes.

    Attributes:
        run: The run.
        is_done: Whether there is a result.
        seconds: A rough estimate of the time that it takes on one core.
    """

    run: RunConfig
    is_done: bool
    seconds: float

    @property
    def problem(self) -> str:
        """Name of the problem."""
        return Path(self.run.data).stem

    @property
    def label(self) -> str:
        """The operator, with what is changed of its preset."""
        return " ".join([self.run.operator, *(f"{name}={value:.3g}" for name, value in self.run.settings.items())])


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """The paper's tables and figures, done with one budget.

    Attributes:
        budget: How much time to spend.
        out: Folder of results and report.
        data: Folder of the data sets.
        protocol: Data and sizes.
    """

    budget: Budget
    out: Path
    data: Path
    protocol: Protocol = field(default_factory=Protocol)

    @classmethod
    def of(cls, budget: str, *, out: Path, data: Path) -> "Reproduction":
        """Return the one with the budget of that name."""
        if budget not in BUDGETS:
            raise ValueError(f"There is no budget {budget!r}; there are {', '.join(BUDGETS)}.")
        return cls(budget=BUDGETS[budget], out=out, data=data)

    @property
    def runs_folder(self) -> Path:
        """Where the results of runs are kept."""
        return self.out / "runs"

    def store(self) -> Store:
        """Read what is done so far."""
        return Store(
            protocol=self.protocol,
            budget=self.budget,
            results=tuple(ResultFolder(path=self.runs_folder).results()),
            fingerprints=self._record.fingerprints(),
            data=self.data,
        )

    def cells(
        self, target: str, *, problems: Sequence[str] | None = None, operators: Sequence[str] | None = None
    ) -> list[Cell]:
        """Return the cells of a table or figure, or of all.

        Args:
            target: One of :data:`paper.cells.TARGETS`, ``"complexity"``, which has none, or ``"all"``.
            problems: Only these.
            operators: Only these.
        """
        choices = [*TARGETS, COMPLEXITY, ALL]
        _require_known([target], choices, "target")
        protocol = self.protocol
        _require_known(problems or [], protocol.problems, "problem")
        wanted = [name.removesuffix("/default") for name in operators or []]
        _require_known(wanted, [one.operator for one in protocol.contenders], "operator")
        names = list(TARGETS) if target == ALL else [target] if target in TARGETS else []
        return [
            cell
            for cell in cells_of(names, protocol, self.budget)
            if (problems is None or cell.problem in problems) and (operators is None or cell.operator in wanted)
        ]

    def planned(self, cells: Sequence[Cell], num_seeds: int | None = None, *, fresh: bool = False) -> list[Planned]:
        """Return the runs that fill the cells: the first seed of all before the second, and the quick ones first.

        Args:
            cells: What to fill.
            num_seeds: How often instead of what the budget says.
            fresh: Whether a result of other code counts as none.
        """
        store = self.store()
        missing = {_key(run) for run in store.missing(cells, num_seeds, fresh=fresh)}
        runs = [
            Planned(run=run, is_done=_key(run) not in missing, seconds=store.costs.seconds(run))
            for run in store.runs(cells, num_seeds)
        ]
        return sorted(runs, key=lambda planned: (planned.run.seed, planned.seconds))

    def missing(self, cells: Sequence[Cell], num_seeds: int | None = None, *, fresh: bool = False) -> list[RunConfig]:
        """Return those that are not done."""
        return [planned.run for planned in self.planned(cells, num_seeds, fresh=fresh) if not planned.is_done]

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
        if target == ALL:
            return []
        section = section_of(target, self.store(), self._complexity())
        return [block for block in section.blocks if isinstance(block, Table)]

    def write(self, page: Path) -> list[Path]:
        """Write the report as HTML and Markdown with its figures, and return where.

        Args:
            page: The Markdown page.
        """
        return write_pages(self.store(), self._complexity(), out=self.out, page=page)

    @property
    def _record(self) -> DataRecord:
        return DataRecord(path=self.out / "data.json")

    @property
    def _complexity_file(self) -> Path:
        return self.out / "complexity.json"

    def _complexity(self) -> Complexity | None:
        return Complexity.load(self._complexity_file) if self._complexity_file.exists() else None


def _key(run: RunConfig) -> str:
    # Whatever the data hold: all runs that are compared here are of the same folder.
    return run.identity(run.data)


def _require_known(names: Sequence[str], known: Sequence[str], what: str) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"There is no {what} {name!r} to reproduce; there are {', '.join(known)}.")
