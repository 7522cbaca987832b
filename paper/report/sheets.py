"""The numbers of the paper's tables: ours by seed, and the paper's beside them."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gola.report.page import Table
from gola.runs import error_text
from gola.runs.comparison import spread
from paper.cells import Cell, cell_at, known_points, places_of
from paper.contenders import Contender
from paper.protocol import TITLES, Protocol
from paper.published import TABLE_1, TABLE_2, TABLE_3, TABLE_4, TABLE_5
from paper.store import Store

MISSING = "–"
THE_PAPERS = "[the paper's]"
RATIO = "ours ÷ the paper's"


@dataclass(frozen=True, kw_only=True)
class Number:
    """What stands in one place of a table.

    Attributes:
        errors: Ours, by seed; empty where it is missing.
        error_bar: Standard error of each, from the scatter over test samples.
        published: The paper's; None where it has none.
    """

    errors: Mapping[int, float]
    error_bar: float = 0.0
    published: float | None = None

    @property
    def mean(self) -> float | None:
        """Ours, over the seeds."""
        return statistics.fmean(self.errors.values()) if self.errors else None

    @property
    def text(self) -> str:
        """Ours in words."""
        if self.mean is None:
            return MISSING
        return f"{error_text(self.mean, spread(self.errors.values()))} ({len(self.errors)})"

    @property
    def published_text(self) -> str:
        """The paper's in words."""
        return MISSING if self.published is None else f"[{self.published:.4f}]"

    @property
    def ratio_text(self) -> str:
        """Ours divided by the paper's."""
        return MISSING if self.mean is None or self.published is None else f"{self.mean / self.published:.2f}"


@dataclass(frozen=True, kw_only=True)
class Line:
    """An operator's numbers in a table.

    Attributes:
        title: What the table calls it.
        numbers: One for each column.
    """

    title: str
    numbers: Sequence[Number]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show, neither of ours nor of the paper's."""
        return not any(number.errors or number.published is not None for number in self.numbers)


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """Numbers of all operators, side by side, before they are text.

    Attributes:
        caption: What they are.
        corner: What the operators' column is called.
        columns: Titles of the others.
        lines: One for each operator.
    """

    caption: str
    corner: str = "operator"
    columns: Sequence[str]
    lines: Sequence[Line]

    def table(self) -> Table:
        """Write the numbers down: three rows for each operator that the paper has too, none for what has not run."""
        rows = [row for line in self.lines if not line.is_empty for row in _rows(line, self.lines)]
        waiting = "; ".join(line.title for line in self.lines if line.is_empty)
        caption = f"{self.caption}. Not run yet: {waiting}." if waiting else self.caption
        return Table(heading=[self.corner, *self.columns], rows=rows, caption=caption)


def problem_titles(store: Store) -> list[str]:
    """Return the problems as columns are called."""
    return [TITLES[problem] for problem in store.protocol.problems]


def _compared_titles(store: Store) -> list[str]:
    """Return the problems of Tables 1 and 2, as their columns are called."""
    return [TITLES[problem] for problem in store.protocol.compared]


def usual(problem: str, operator: str, protocol: Protocol) -> Cell:
    """Return the cell of an operator that has learned from many samples at the usual number of points."""
    return Cell(problem=problem, operator=operator, num_train=protocol.many, num_points=protocol.num_points)


def _table1(store: Store) -> list[Sheet]:
    protocol = store.protocol
    lines = []
    for contender in protocol.of_target("table1"):
        for num_points in places_of(contender, protocol):
            like_the_paper = num_points == places_of(contender, protocol)[0]
            cells = [cell_at(problem, contender, protocol.few, num_points, protocol) for problem in protocol.compared]
            published = [
                _of_the_paper(contender, TABLE_1, problem) if like_the_paper else None for problem in protocol.compared
            ]
            lines += _lines(store, contender, _title_at(contender, num_points), cells, published)
    caption = f"Table 1: {protocol.few} training samples, {protocol.num_points} points unless the full grid is named"
    return [Sheet(caption=caption, columns=_compared_titles(store), lines=lines)]


def _table2(store: Store) -> list[Sheet]:
    protocol = store.protocol
    lines = []
    for contender in protocol.of_target("table2"):
        cells = [usual(problem, contender.operator, protocol) for problem in protocol.compared]
        published = [_of_the_paper(contender, TABLE_2, problem) for problem in protocol.compared]
        lines += _lines(store, contender, contender.title, cells, published)
    caption = f"Table 2: {protocol.many} training samples, {protocol.num_points} points"
    return [Sheet(caption=caption, columns=_compared_titles(store), lines=lines)]


def _lines(
    store: Store, contender: Contender, title: str, cells: Sequence[Cell], published: Sequence[float | None]
) -> list[Line]:
    """Return an operator's line and, where its points are drawn again in every epoch, that with points drawn once."""
    numbers = [number_of(store, cell, printed) for cell, printed in zip(cells, published, strict=True)]
    lines = [Line(title=title, numbers=numbers)]
    if contender.operator in store.protocol.strict:
        numbers = [number_of(store, known_points(cell)) for cell in cells]
        lines.append(Line(title=f"{title}, known points", numbers=numbers))
    return lines


def _table3(store: Store) -> list[Sheet]:
    protocol = store.protocol

    def number(problem: str, contender: Contender, num_points: int) -> Number:
        cell = Cell(problem=problem, operator=contender.operator, num_train=protocol.many, num_points=num_points)
        return number_of(store, cell, _at(contender, TABLE_3, problem, num_points))

    caption = f"{protocol.many} training samples, by the number of points"
    return _by_problem(store, "table3", caption, {f"{count} points": count for count in protocol.densities}, number)


def _table4(store: Store) -> list[Sheet]:
    protocol = store.protocol

    def number(problem: str, contender: Contender, num_points: int) -> Number:
        published = _at(contender, TABLE_4, problem, num_points)
        return number_of(store, usual(problem, contender.operator, protocol), published, test_points=num_points)

    caption = f"{protocol.many} training samples at {protocol.num_points} points, tested at other numbers of points"
    return _by_problem(store, "table4", caption, {f"at {count}": count for count in protocol.test_points}, number)


def _table5(store: Store) -> list[Sheet]:
    protocol = store.protocol

    def number(problem: str, contender: Contender, num_train: int) -> Number:
        cell = Cell(problem=problem, operator=contender.operator, num_train=num_train, num_points=protocol.dense)
        return number_of(store, cell, _at(contender, TABLE_5, problem, num_train))

    caption = f"{protocol.dense} points, by the number of training samples"
    return _by_problem(store, "table5", caption, {f"{count} samples": count for count in protocol.dense_sizes}, number)


def _by_problem(
    store: Store,
    target: str,
    caption: str,
    columns: Mapping[str, int],
    number: Callable[[str, Contender, int], Number],
) -> list[Sheet]:
    """Return a sheet for each problem, with a line for each operator and a column for each count."""
    sheets = []
    for problem in store.protocol.problems:
        lines = [
            Line(title=contender.title, numbers=[number(problem, contender, count) for count in columns.values()])
            for contender in store.protocol.of_target(target)
        ]
        whole = f"{target.replace('table', 'Table ')}, {TITLES[problem]}: {caption}"
        sheets.append(Sheet(caption=whole, corner=TITLES[problem], columns=list(columns), lines=lines))
    return sheets


SHEETS: dict[str, Callable[[Store], list[Sheet]]] = {
    "table1": _table1,
    "table2": _table2,
    "table3": _table3,
    "table4": _table4,
    "table5": _table5,
}
"""Sheets of each table: one with a column for each problem, or one for each problem."""


def number_of(store: Store, cell: Cell, published: float | None = None, *, test_points: int | None = None) -> Number:
    """Return what stands in the place of a cell."""
    return Number(
        errors=store.errors(cell, test_points),
        error_bar=store.error_bar(cell, test_points),
        published=published,
    )


def _rows(line: Line, lines: Sequence[Line]) -> list[list[str]]:
    ours = [
        f"**{number.text}**" if _is_lowest(number, [other.numbers[column] for other in lines]) else number.text
        for column, number in enumerate(line.numbers)
    ]
    rows = [[line.title, *ours]]
    if any(number.published is not None for number in line.numbers):
        rows.append([THE_PAPERS, *(number.published_text for number in line.numbers)])
    if any(number.ratio_text != MISSING for number in line.numbers):
        rows.append([RATIO, *(number.ratio_text for number in line.numbers)])
    return rows


def _is_lowest(number: Number, column: Sequence[Number]) -> bool:
    means = [other.mean for other in column if other.mean is not None]
    return len(means) > 1 and number.mean == min(means)


def _title_at(contender: Contender, num_points: int | None) -> str:
    if num_points is None:
        return f"{contender.title}, full grid"
    return f"{contender.title}, {num_points} points" if contender.on_grid else contender.title


def _of_the_paper(contender: Contender, table: Mapping[str, Mapping[str, float]], problem: str) -> float | None:
    return table.get(problem, {}).get(contender.published or "")


def _at(contender: Contender, table: Mapping[str, Mapping[int, float]], problem: str, number: int) -> float | None:
    return table.get(problem, {}).get(number) if contender.published == "gola" else None
