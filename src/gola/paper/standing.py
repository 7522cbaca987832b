"""Where the automatic choice has the lowest error of all, and who is below it elsewhere."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gola.paper.sheets import SHEETS, Line, Number, Sheet, problem_titles
from gola.paper.store import Store
from gola.report import Table

OURS = "auto"
_CAPTION = (
    f"In how many cells of each table `{OURS}` is lowest, or within its error bar of the lowest: among all operators"
    " here, over the seeds that both have, and all models that the paper prints there. In the others, who is below it."
    " The error bar is the standard error of the mean over test samples."
)


def standing(store: Store) -> list[Table]:
    """Return where the automatic choice wins; nothing where it has no result, or does not take part."""
    ours = next((one.title for one in store.protocol.contenders if one.operator == OURS), "")
    problems = problem_titles(store)
    rows = []
    for target, make in SHEETS.items():
        sheets = make(store)
        columns = {problem: list(_columns(sheets, problem)) for problem in problems}
        texts = [_text(ours, columns[problem]) for problem in problems]
        if any(texts):
            rows.append([target.replace("table", "Table "), *(text or "–" for text in texts)])
    return [Table(heading=[f"`{OURS}` lowest", *problems], rows=rows, caption=_CAPTION)] if rows else []


@dataclass(frozen=True)
class _Column:
    """One column of a table: its title, unless it is that of the problem, and its number for each operator."""

    title: str
    numbers: Mapping[str, Number]


def _columns(sheets: Sequence[Sheet], problem: str) -> Iterator[_Column]:
    """Yield the columns that belong to a problem."""
    for sheet in sheets:
        for place, title in enumerate(sheet.columns):
            if problem in (sheet.corner, title):
                yield _Column("" if title == problem else title, _numbers(sheet.lines, place))


def _numbers(lines: Sequence[Line], place: int) -> dict[str, Number]:
    return {line.title: line.numbers[place] for line in lines}


def _text(ours: str, columns: Sequence[_Column]) -> str:
    done = [column for column in columns if ours in column.numbers and column.numbers[ours].errors]
    if not done:
        return ""
    losses = [f"{column.title}: {rival}".removeprefix(": ") for column in done if (rival := _rival(ours, column))]
    missing = f", {len(columns) - len(done)} missing" if len(done) < len(columns) else ""
    return "; ".join([f"{len(done) - len(losses)} of {len(done)}{missing}", *losses])


def _rival(ours: str, column: _Column) -> str:
    """Name the lowest of those that are below ours, with both errors; nothing where ours is lowest or level."""
    rivals = _rivals(column.numbers[ours].errors, column.numbers)
    name, theirs, own = min(rivals, key=lambda rival: rival[1] - rival[2])
    return f"{name}, {theirs:.4f} < {own:.4f}" if own - theirs > column.numbers[ours].error_bar else ""


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
