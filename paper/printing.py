"""Plans and tables on the screen."""

from collections.abc import Sequence

from rich.box import SIMPLE
from rich.table import Table as ScreenTable
from rich.text import Text

from gola.cli.console import output
from gola.cli.run_progress import duration
from gola.report.page import Table
from paper.plan import Planned, missing, seconds_left, time_text


def print_plan(lines: Sequence[Planned]) -> None:
    """List runs, what is done of them, and estimates of the time of the others."""
    table = ScreenTable(box=SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("run", overflow="fold")
    for heading in ("samples", "points", "seed", "state", "≈ time"):
        table.add_column(heading, justify="right", no_wrap=True)
    for line in lines:
        seconds = "" if line.is_done else "unknown" if line.seconds is None else duration(line.seconds)
        points = "all" if line.run.num_points is None else f"{line.run.num_points}"
        facts = (f"{line.run.num_train}", points, f"{line.run.seed}", line.state, seconds)
        table.add_row(*map(Text, (f"{line.problem} {line.label}", *facts)))
    output.print(table)
    output.print(_summary(lines), soft_wrap=True)


def _summary(lines: Sequence[Planned]) -> str:
    left = missing(lines)
    text = f"{len(lines)} runs, {len(lines) - len(left)} of them done, {len(left)} to do"
    if not left:
        return f"{text}."
    return (
        f"{text}: {time_text(seconds_left(left))} on one core. The estimate scales the time of similar runs with"
        " samples, points and epochs; expect a factor of two either way, more on a busy machine."
    )


def print_tables(tables: Sequence[Table]) -> None:
    """Print tables without the rows of operators that have no result."""
    for block in tables:
        rows = _filled(block.rows)
        if not rows:
            continue
        table = ScreenTable(title=Text(block.caption), title_justify="left", box=SIMPLE, padding=(0, 1, 0, 0))
        for number, name in enumerate(block.heading):
            table.add_column(Text(name), justify="right" if number else "left", overflow="fold")
        for row in rows:
            table.add_row(*(Text(cell.replace("**", "")) for cell in row))
        output.print(table)


def _filled(rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return the rows of operators that have a result, with the rows below that belong to them."""
    kept, shown = [], False
    for row in rows:
        if not row[0].startswith("–"):
            shown = not all(cell.startswith("missing") for cell in row[1:])
        if shown:
            kept.append(row)
    return kept
