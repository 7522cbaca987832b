"""Our numbers beside the paper's, as tables: three rows for each operator that the paper has too."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gola.paper.cells import Cell, cell_at, places_of
from gola.paper.contenders import Contender
from gola.paper.costs import time_text
from gola.paper.protocol import TITLES
from gola.paper.published import ERROR_REDUCTIONS, PPI_NO_FNO, TABLE_1, TABLE_2, TABLE_3, TABLE_4, TABLE_5
from gola.paper.store import Store
from gola.report import Table
from gola.runs import error_text
from gola.runs.comparison import spread

EXPLANATION = (
    "Mean relative L2 error on the test samples; where there are several seeds, their mean ± standard deviation, and in"
    " brackets how many seeds. Numbers in square brackets are the paper's, and the row below them is ours divided by"
    " the paper's: below 1 ours is lower. **Bold** is the lowest of ours in a column. A missing cell shows what it"
    " would take on one core, roughly."
)
THE_PAPERS = "– the paper's"
RATIO = "– ours ÷ the paper's"


@dataclass(frozen=True, kw_only=True)
class Number:
    """What stands in one place of a table.

    Attributes:
        errors: Ours, by seed; empty where it is missing.
        seconds: What it would take to fill it.
        published: The paper's; None where it has none.
    """

    errors: Mapping[int, float]
    seconds: float = 0.0
    published: float | None = None

    @property
    def mean(self) -> float | None:
        """Ours, over the seeds."""
        return statistics.fmean(self.errors.values()) if self.errors else None

    @property
    def text(self) -> str:
        """Ours in words."""
        if self.mean is None:
            return f"missing, {time_text(self.seconds)}"
        return f"{error_text(self.mean, spread(self.errors.values()))} ({len(self.errors)})"

    @property
    def published_text(self) -> str:
        """The paper's in words."""
        return "–" if self.published is None else f"[{self.published:.4f}]"

    @property
    def ratio_text(self) -> str:
        """Ours divided by the paper's."""
        return "–" if self.mean is None or self.published is None else f"{self.mean / self.published:.2f}"


@dataclass(frozen=True, kw_only=True)
class Line:
    """An operator's numbers in a table.

    Attributes:
        title: What the table calls it.
        numbers: One for each column.
    """

    title: str
    numbers: Sequence[Number]


def table1(store: Store) -> list[Table]:
    """Return Table 1: all operators at few samples, as in the paper and at the same points."""
    protocol = store.protocol
    lines = []
    for one in protocol.of_target("table1"):
        for num_points in places_of(one, protocol):
            like_the_paper = num_points == places_of(one, protocol)[0]
            numbers = []
            for problem in protocol.problems:
                cell = cell_at(problem, one, protocol.few, num_points, protocol)
                numbers.append(number_of(store, cell, _of_the_paper(one, TABLE_1, problem) if like_the_paper else None))
            lines.append(Line(title=_title_at(one, num_points), numbers=numbers))
    title = f"Table 1: {protocol.few} training samples, {protocol.num_points} points unless the full grid is named"
    table = _table(lines, _problem_titles(store), title)
    reference = [PPI_NO_FNO.get(problem, {}).get(protocol.few) for problem in protocol.problems]
    row = ["FNO of PPI-NO, full grid", *(_bracketed(error) for error in reference)]
    caption = f"{title}. PPI-NO (arXiv 2502.02682) is the same group's earlier work, at its best epoch on test samples."
    return [Table(heading=table.heading, rows=[*table.rows, row], caption=caption)]


def table2(store: Store) -> list[Table]:
    """Return Table 2: many samples, and by how much GOLA's error is below that of GKN."""
    protocol = store.protocol
    lines = [
        Line(
            title=one.title,
            numbers=[
                number_of(store, _usual(store, problem, one), _of_the_paper(one, TABLE_2, problem))
                for problem in protocol.problems
            ],
        )
        for one in protocol.of_target("table2")
    ]
    title = f"Table 2: {protocol.many} training samples, {protocol.num_points} points"
    reductions = [
        [f"{one.title}, over GKN", *(_share(reduction(store, problem, one)) for problem in protocol.problems)]
        for one in protocol.of_target("table2")
        if one.operator != "gkn"
    ]
    printed = ["GOLA over GKN, the paper's", *(f"[{_share(ERROR_REDUCTIONS[name])}]" for name in protocol.problems)]
    return [
        _table(lines, _problem_titles(store), title),
        Table(
            heading=["error reduction", *_problem_titles(store)],
            rows=[*reductions, printed],
            caption="Error reduction: one minus the error divided by GKN's, over the seeds that both have.",
        ),
    ]


def table3(store: Store) -> list[Table]:
    """Return Table 3: fewer points, in training and testing, a table for each problem."""
    protocol = store.protocol

    def number(problem: str, one: Contender, num_points: int) -> Number:
        cell = Cell(problem=problem, operator=one.operator, num_train=protocol.many, num_points=num_points)
        return number_of(store, cell, _at(one, TABLE_3, problem, num_points))

    caption = f"{protocol.many} training samples, by the number of points"
    return _by_problem(store, "table3", caption, {f"{count} points": count for count in protocol.densities}, number)


def table4(store: Store) -> list[Table]:
    """Return Table 4: other numbers of points in testing than in training, a table for each problem."""
    protocol = store.protocol

    def number(problem: str, one: Contender, num_points: int) -> Number:
        published = _at(one, TABLE_4, problem, num_points)
        return number_of(store, _usual(store, problem, one), published, test_points=num_points)

    caption = f"{protocol.many} training samples at {protocol.num_points} points, tested at other numbers of points"
    return _by_problem(store, "table4", caption, {f"at {count}": count for count in protocol.test_points}, number)


def table5(store: Store) -> list[Table]:
    """Return Table 5: many points, by the number of samples, a table for each problem."""
    protocol = store.protocol

    def number(problem: str, one: Contender, num_train: int) -> Number:
        cell = Cell(problem=problem, operator=one.operator, num_train=num_train, num_points=protocol.dense)
        return number_of(store, cell, _at(one, TABLE_5, problem, num_train))

    caption = f"{protocol.dense} points, by the number of training samples"
    return _by_problem(store, "table5", caption, {f"{count} samples": count for count in protocol.dense_sizes}, number)


def _by_problem(
    store: Store,
    target: str,
    caption: str,
    columns: Mapping[str, int],
    number: Callable[[str, Contender, int], Number],
) -> list[Table]:
    """Return a table for each problem, with a line for each operator and a column for each count."""
    tables = []
    for problem in store.protocol.problems:
        lines = [
            Line(title=one.title, numbers=[number(problem, one, count) for count in columns.values()])
            for one in store.protocol.of_target(target)
        ]
        whole = f"{target.replace('table', 'Table ')}, {TITLES[problem]}: {caption}"
        tables.append(_table(lines, list(columns), whole, TITLES[problem]))
    return tables


def number_of(store: Store, cell: Cell, published: float | None = None, *, test_points: int | None = None) -> Number:
    """Return what stands in the place of a cell."""
    return Number(
        errors=store.errors(cell, test_points),
        seconds=store.seconds_missing([cell]),
        published=published,
    )


def reduction(store: Store, problem: str, contender: Contender) -> float | None:
    """Return by what share an operator's error is below that of GKN, over the seeds that both have."""
    ours = store.errors(_usual(store, problem, contender))
    base = store.errors(_usual(store, problem, contender, operator="gkn"))
    common = sorted(set(ours) & set(base))
    if not common:
        return None
    return 1.0 - sum(ours[seed] for seed in common) / sum(base[seed] for seed in common)


def _table(lines: Sequence[Line], columns: Sequence[str], caption: str, corner: str = "operator") -> Table:
    return Table(
        heading=[corner, *columns], rows=[row for line in lines for row in _rows(line, lines)], caption=caption
    )


def _rows(line: Line, lines: Sequence[Line]) -> list[list[str]]:
    ours = [
        f"**{number.text}**" if _is_lowest(number, [other.numbers[column] for other in lines]) else number.text
        for column, number in enumerate(line.numbers)
    ]
    rows = [[line.title, *ours]]
    if any(number.published is not None for number in line.numbers):
        rows.append([THE_PAPERS, *(number.published_text for number in line.numbers)])
        rows.append([RATIO, *(number.ratio_text for number in line.numbers)])
    return rows


def _is_lowest(number: Number, column: Sequence[Number]) -> bool:
    means = [other.mean for other in column if other.mean is not None]
    return len(means) > 1 and number.mean == min(means)


def _title_at(one: Contender, num_points: int | None) -> str:
    if num_points is None:
        return f"{one.title}, full grid"
    return f"{one.title}, {num_points} points" if one.on_grid else one.title


def _usual(store: Store, problem: str, contender: Contender, operator: str | None = None) -> Cell:
    protocol = store.protocol
    return Cell(
        problem=problem,
        operator=operator or contender.operator,
        num_train=protocol.many,
        num_points=protocol.num_points,
    )


def _of_the_paper(one: Contender, table: Mapping[str, Mapping[str, float]], problem: str) -> float | None:
    return table.get(problem, {}).get(one.published or "")


def _at(one: Contender, table: Mapping[str, Mapping[int, float]], problem: str, number: int) -> float | None:
    return table.get(problem, {}).get(number) if one.published == "gola" else None


def _problem_titles(store: Store) -> list[str]:
    return [TITLES[problem] for problem in store.protocol.problems]


def _bracketed(error: float | None) -> str:
    return "–" if error is None else f"[{error:.4f}]"


def _share(share: float | None) -> str:
    return "missing" if share is None else f"{100 * share:.1f} %"
