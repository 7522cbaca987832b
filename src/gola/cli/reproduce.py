"""``gola reproduce``: the paper's tables and figures, with honest evaluation, beside the paper's own numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from gola.cli.console import INTERRUPTED, errors, output, progress_bar, warn
from gola.cli.options import Scheduler, Workers
from gola.cli.run_progress import duration, run_with_progress

if TYPE_CHECKING:
    from gola.runs import Outcome
    from paper.cells import Cell
    from paper.reproduction import Reproduction

_QUICK_OUT = Path("runs/reproduce-quick")
_OUT = Path("results/paper")
_PAGE = Path("docs/results.md")


def reproduce(
    target: Annotated[
        str,
        typer.Argument(
            help="table1 to table5, curves, heatmaps, densities, capacity, complexity, or all.", show_default=False
        ),
    ],
    budget: Annotated[str, typer.Option(help="quick, standard or paper: seeds and length of training.")] = "standard",
    problems: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Only these problems, with commas between them.")
    ] = None,
    operators: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Only these operators: gola, gola/paper, fno and so on.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(help="Seeds of all operators; by default the budget says.", min=1)
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the runs and what they would cost, and do nothing.")
    ] = False,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Write the report from the results that there are.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do results of other versions of the code anew.")] = False,
    workers: Workers = None,
    scheduler: Scheduler = None,
    data: Annotated[Path, typer.Option(help="Folder of the data sets, which are made on first use.")] = Path(
        "data/paper"
    ),
    out: Annotated[
        Path | None, typer.Option(help=f"Folder of results and report; {_OUT}, or {_QUICK_OUT} with --budget quick.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option(help=f"The Markdown page; {_PAGE}, or beside the report with --out.")
    ] = None,
) -> None:
    """Do the runs of one of the paper's tables or figures that are missing, and write the report of all.

    Every run is kept as soon as it ends: after Ctrl-C the same command goes on where it stopped, and a run that stands
    in two tables is done once.
    """
    from paper.reproduction import Reproduction  # loads PyTorch, which takes its time

    folder = out or (_QUICK_OUT if budget == "quick" else _OUT)
    work = Reproduction.of(budget, out=folder, data=data)
    cells = work.cells(target, problems=_names(problems), operators=_names(operators))
    if dry_run:
        _print_plan(work, cells, seeds, fresh=fresh)
        return
    if not report_only:
        _prepare(work, cells, workers, scheduler)
        planned = work.planned(cells, seeds, fresh=fresh)
        missing = [line.run for line in planned if not line.is_done]
        errors.print(f"{len(planned) - len(missing)} of {len(planned)} runs are done already.", soft_wrap=True)
        outcomes = run_with_progress(missing, work.runs_folder, num_workers=workers, scheduler=scheduler)
        _warn_of_failures(outcomes)
        if target in ("complexity", "all"):
            _measure(work)
    written = work.write(page or (_PAGE if out is None and budget != "quick" else folder / "results.md"))
    _print_tables(work, target)
    output.print(f"The report: {', '.join(map(str, written))}.", markup=False, soft_wrap=True)


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _prepare(work: "Reproduction", cells: "list[Cell]", workers: int | None, scheduler: str | None) -> None:
    """Make the data sets that the cells need."""
    for problem in dict.fromkeys(cell.problem for cell in cells):
        try:
            _prepare_one(work, problem, workers, scheduler)
        except KeyboardInterrupt:
            errors.print("Interrupted. Finished samples are kept; run the same command to go on.", soft_wrap=True)
            raise typer.Exit(INTERRUPTED) from None


def _prepare_one(work: "Reproduction", problem: str, workers: int | None, scheduler: str | None) -> None:
    with progress_bar() as progress:
        task = progress.add_task(f"Data of {problem}", total=work.protocol.num_samples)
        work.prepare(
            problem,
            num_workers=workers,
            scheduler=scheduler,
            on_progress=lambda num_done: progress.update(task, completed=num_done),
        )


def _warn_of_failures(outcomes: "list[Outcome]") -> None:
    from gola.runs import RunFailure

    num_failed = sum(isinstance(outcome, RunFailure) for outcome in outcomes)
    if num_failed:
        warn(f"{num_failed} of {len(outcomes)} runs failed and are missing; the same command tries them again.")


def _measure(work: "Reproduction") -> None:
    with progress_bar() as progress:
        task = progress.add_task("Measuring time and memory", total=None)
        work.measure(on_progress=lambda done, total: progress.update(task, completed=done, total=total))


def _print_plan(work: "Reproduction", cells: "list[Cell]", seeds: int | None, *, fresh: bool) -> None:
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("run", overflow="fold")
    for heading in ("samples", "points", "seed", "state", "≈ time"):
        table.add_column(heading, justify="right", no_wrap=True)
    lines = work.planned(cells, seeds, fresh=fresh)
    for line in lines:
        seconds = "" if line.is_done else duration(line.seconds)
        points = "grid" if line.run.num_points is None else f"{line.run.num_points}"
        state = "done" if line.is_done else "to do"
        facts = (f"{line.run.num_train}", points, f"{line.run.seed}", state, seconds)
        table.add_row(*map(Text, (f"{line.problem} {line.label}", *facts)))
    output.print(table)
    missing = [line.seconds for line in lines if not line.is_done]
    output.print(_plan_text(len(lines), missing), soft_wrap=True)


def _plan_text(num_runs: int, missing: list[float]) -> str:
    text = f"{num_runs} runs, {num_runs - len(missing)} of them done, {len(missing)} missing"
    if not missing:
        return f"{text}."
    return (
        f"{text}: about {duration(sum(missing))} on one core in all. The estimate scales the time of similar runs, or"
        " of a calibration on one thread, with samples, points and epochs; a factor of two either way is normal, more"
        " on a busy machine."
    )


def _print_tables(work: "Reproduction", target: str) -> None:
    for block in work.tables(target):
        rows = _filled(block.rows)
        if not rows:
            continue
        table = Table(title=Text(block.caption), title_justify="left", box=SIMPLE, padding=(0, 1, 0, 0))
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
