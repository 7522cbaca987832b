"""``make paper``: the missing runs of the paper's tables and figures and of the ablation, and the report of all."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from gola.cli.console import INTERRUPTED, errors, output, warn
from gola.cli.run_progress import run_with_progress
from gola.display import Display
from gola.runs import RunFailure
from paper.ablation.other_trainings import run_other
from paper.plan import Planned, missing
from paper.printing import print_plan, print_tables
from paper.protocol import BEFORE
from paper.reproduction import ABLATION, ALL, CHOICES, COMPLEXITY, REPORT, Reproduction

_QUICK = "quick"
_OUT, _WORK, _PAGES = Path("results/paper"), Path("runs/paper"), Path("docs")
_QUICK_OUT = Path("runs/paper-quick")

app = typer.Typer(
    add_completion=False, pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]}
)


@app.command()
def paper(
    target: Annotated[str, typer.Argument(help=f"One of {', '.join(CHOICES)}.", show_default=False)],
    budget: Annotated[str, typer.Option(help="quick, standard or paper: seeds and length of training.")] = "standard",
    problems: Annotated[str | None, typer.Option(metavar="NAMES", help="Only these problems, with commas.")] = None,
    operators: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Only these operators, with commas: gola,gola/paper,fno.")
    ] = None,
    seeds: Annotated[int | None, typer.Option(help="Seeds of all operators instead of the budget's.", min=1)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the runs with estimates of time, and stop.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Repeat results of older code versions.")] = False,
    workers: Annotated[int | None, typer.Option(help="Processes; one per core by default.", min=1)] = None,
    scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Address of a Dask scheduler.")] = None,
    data: Annotated[Path, typer.Option(help="Folder of the data sets, generated on first use.")] = Path("data/paper"),
    out: Annotated[
        Path | None, typer.Option(help=f"Folder of results and pages instead of {_OUT}, {_WORK} and {_PAGES}.")
    ] = None,
) -> None:
    """Do the missing runs of a table, a figure or the ablation, and write the report of all.

    Every finished run is kept: after Ctrl-C the same command continues, and a run that stands in two tables is done
    once. The target report only writes the report.
    """
    own = out or (_QUICK_OUT if budget == _QUICK else None)
    tables = Reproduction.of(budget, out=own or _OUT, work=own or _WORK, data=data)
    # The ablation stays with the data and the protocol that it was made with.
    ablation = Reproduction.of(
        budget, out=(own or _OUT) / ABLATION, work=(own or _WORK) / ABLATION, data=data / ABLATION, protocol=BEFORE
    )
    work = ablation if target == ABLATION else tables
    cells = work.cells(target, problems=_names(problems), operators=_names(operators))
    if dry_run:
        print_plan(work.planned(cells, seeds, fresh=fresh))
        return
    work.fold()  # what an interrupted command has left
    if target != REPORT:
        _prepare(work, [cell.problem for cell in cells], workers, scheduler)
        _do(work, work.planned(cells, seeds, fresh=fresh), workers, scheduler)
    if target in (COMPLEXITY, ALL):
        _measure(work)
    written = tables.write(own or _PAGES, ablation)
    print_tables(work.tables(target))
    output.print(f"Written: {', '.join(map(str, written))}.", markup=False, soft_wrap=True)


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _prepare(work: Reproduction, problems: list[str], workers: int | None, scheduler: str | None) -> None:
    """Generate the data sets that are missing."""
    try:
        for problem in dict.fromkeys(problems):
            _generate(work, problem, workers, scheduler)
    except KeyboardInterrupt:
        errors.print("Interrupted. Finished samples are kept; the same command continues.", soft_wrap=True)
        raise typer.Exit(INTERRUPTED) from None


def _generate(work: Reproduction, problem: str, workers: int | None, scheduler: str | None) -> None:
    with Display(f"Data of {problem}") as display:
        work.prepare(
            problem,
            num_workers=workers,
            scheduler=scheduler,
            on_progress=lambda num_done: display.update("samples", num_done, work.protocol.num_samples),
        )


def _do(work: Reproduction, lines: list[Planned], workers: int | None, scheduler: str | None) -> None:
    """Do the missing runs, and bring them into the table whatever happens."""
    left = missing(lines)
    errors.print(f"{len(lines) - len(left)} of {len(lines)} runs are done.", soft_wrap=True)
    runs = [line.run for line in left if not line.variant]
    try:
        outcomes = run_with_progress(runs, work.runs_folder, num_workers=workers, scheduler=scheduler)
    finally:
        work.fold()
    num_failed = sum(isinstance(outcome, RunFailure) for outcome in outcomes)
    if num_failed:
        warn(f"{num_failed} of {len(outcomes)} runs failed and are missing; the same command tries them again.")
    _do_others(work, [line for line in left if line.variant])


def _do_others(work: Reproduction, lines: list[Planned]) -> None:
    """Do the runs of the ablation that settings do not describe, one after the other in this process."""
    for number, line in enumerate(lines, start=1):
        errors.print(f"{number} of {len(lines)}: {line.problem}, {line.label}", markup=False, soft_wrap=True)
        work.table.add([run_other(line.run, line.variant)])


def _measure(work: Reproduction) -> None:
    with Display("Measuring time and memory") as display:
        work.measure(on_progress=lambda done, total: display.update("cases", done, total))


def main() -> None:
    """Run the command; a user's mistake becomes one line on standard error and exit code 2."""
    try:
        app()
    except (ValueError, OSError) as error:
        errors.print("[bold red]Error:[/]", end=" ")
        errors.print(error, markup=False, soft_wrap=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
