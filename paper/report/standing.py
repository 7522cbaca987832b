"""Where the automatic choice has the lowest error of all, and who is below it elsewhere."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gola.report.page import Table
from paper.contenders import OURS
from paper.report.sheets import SHEETS, Number, Sheet, problem_titles
from paper.store import Store

_CAPTION = (
    f"In how many cells of each table `{OURS}` is lowest, or within its error bar of the lowest: among all operators"
    " here, over the seeds that both have, and all models that the paper prints there. The error bar is the standard"
    " error of the mean over test samples."
)


def standing(store: Store) -> list[Table]:
    """Return in how many cells the automatic choice wins, and the cells where it does not; nothing without results."""
    ours = next((contender.title for contender in store.protocol.contenders if contender.operator == OURS), "")
    problems = problem_titles(store)
    counts, losses = [], []
    for target, make in SHEETS.items():
        table, sheets = target.replace("table", "Table "), make(store)
        columns = {problem: list(_columns(sheets, problem)) for problem in problems}
        texts = [_count(ours, columns[problem]) for problem in problems]
        if any(texts):
            counts.append([table, *(text or "–" for text in texts)])
        losses += [
            [table, problem, column.title, *rival]
            for problem in problems
            for column in columns[problem]
            if (rival := _rival(ours, column))
        ]
    tables = [
        Table(heading=[f"`{OURS}` lowest", *problems], rows=counts, caption=_CAPTION),
        Table(
            heading=["not lowest", "problem", "column", "lower", "its error", f"that of `{OURS}`"],
            rows=losses,
            caption=f"The cells in which `{OURS}` is not lowest.",
        ),
    ]
    return [table for table in tables if table.rows]


@dataclass(frozen=True)
class _Column:
    """One column of a table: its title, and its number for each operator."""

    title: str
    numbers: Mapping[str, Number]

    def has(self, operator: str) -> bool:
        """Whether there is a result of an operator."""
        return operator in self.numbers and bool(self.numbers[operator].errors)


def _columns(sheets: Sequence[Sheet], problem: str) -> Iterator[_Column]:
    """Yield the columns that belong to a problem."""
    for sheet in sheets:
        for place, title in enumerate(sheet.columns):
            if problem in (sheet.corner, title):
                yield _Column(title, {line.title: line.numbers[place] for line in sheet.lines})


def _count(ours: str, columns: Sequence[_Column]) -> str:
    done = [column for column in columns if column.has(ours)]
    if not done:
        return ""
    missing = f", {len(columns) - len(done)} missing" if len(done) < len(columns) else ""
    return f"{sum(not _rival(ours, column) for column in done)} of {len(done)}{missing}"


def _rival(ours: str, column: _Column) -> list[str]:
    """Name the lowest of those that are below ours, with both errors; nothing where ours is lowest or level."""
    if not column.has(ours):
        return []
    number = column.numbers[ours]
    name, theirs, own = min(_rivals(number.errors, column.numbers), key=lambda rival: rival[1] - rival[2])
    return [name, f"{theirs:.4f}", f"{own:.4f}"] if own - theirs > number.error_bar else []


def _rivals(own: Mapping[int, float], numbers: Mapping[str, Number]) -> Iterator[tuple[str, float, float]]:
    """Yield who else has a number in a column, that number, and ours to compare it with."""
    for title, number in numbers.items():
        common = sorted(set(own) & set(number.errors))
        if common:
            theirs, ours = (statistics.fmean(errors[seed] for seed in common) for errors in (number.errors, own))
            yield title, theirs, ours
        if number.published is not None:
            model, *_ = title.split(",")
            yield f"the paper's {model}", number.published, statistics.fmean(own.values())
