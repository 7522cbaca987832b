"""Our numbers beside the paper's, as tables: three rows for each operator that the paper has too."""

import statistics
from collections.abc import Mapping, Sequence
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
    return [
        _table(
            [
                Line(
                    title=one.title,
                    numbers=[
                        number_of(
                            store,
                            Cell(
                                problem=problem, operator=one.operator, num_train=protocol.many, num_points=num_points
                            ),
                            _at(one, TABLE_3, problem, num_points),
                        )
                        for num_points in protocol.densities
                    ],
                )
                for one in protocol.of_target("table3")
            ],
            [f"{number} points" for number in protocol.densities],
            f"Table 3, {TITLES[problem]}: {protocol.many} training samples, by the number of points",
            TITLES[problem],
        )
        for problem in protocol.problems
    ]


def table4(store: Store) -> list[Table]:
    """Return Table 4: other numbers of points in testing than in training, a table for each problem."""
    protocol = store.protocol
    return [
        _table(
            [
                Line(
                    title=one.title,
                    numbers=[
                        number_of(
                            store, _usual(store, problem, one), _at(one, TABLE_4, problem, number), test_points=number
                        )
                        for number in protocol.test_points
                    ],
                )
                for one in protocol.of_target("table4")
            ],
            [f"at {number}" for number in protocol.test_points],
            f"Table 4, {TITLES[problem]}: {protocol.many} training samples at {protocol.num_points} points, tested at"
            " other numbers of points",
            TITLES[problem],
        )
        for problem in protocol.problems
    ]


def table5(store: Store) -> list[Table]:
    """Return Table 5: many points, by the number of samples, a table for each problem."""
    protocol = store.protocol
    return [
        _table(
            [
                Line(
                    title=one.title,
                    numbers=[
                        number_of(
                            store,
                            Cell(problem=problem, operator=one.operator, num_train=size, num_points=protocol.dense),
                            _at(one, TABLE_5, problem, size),
                        )
                        for size in protocol.dense_sizes
                    ],
                )
                for one in protocol.of_target("table5")
            ],
            [f"{size} samples" for size in protocol.dense_sizes],
            f"Table 5, {TITLES[problem]}: {protocol.dense} points, by the number of training samples",
            TITLES[problem],
        )
        for problem in protocol.problems
    ]


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
