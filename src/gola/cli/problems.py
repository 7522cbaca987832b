"""``gola problems`` and ``gola generate``."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from gola.cli.console import INTERRUPTED, errors, output, progress_bar
from gola.cli.options import Scheduler, Workers, assignments
from gola.problems import make_problem
from gola.problems.generation import generate
from gola.registry import PROBLEMS


def list_problems() -> None:
    """List the benchmark problems with their equations, channels, sizes and parameters."""
    for name, kind in PROBLEMS.items():
        problem = kind()
        inputs, targets = (", ".join(map(str, channels)) for channels in (problem.inputs, problem.targets))
        parameters = ", ".join(f"{key}={value}" for key, value in problem.parameters.items())
        output.print(Text(name, style="bold"), Text(f"({problem.title}, {problem.dim}D)"))
        facts = Table.grid(padding=(0, 2, 0, 2))
        facts.add_row("equation", Text(problem.equation))
        facts.add_row("channels", Text(f"{inputs} → {targets}"))
        if problem.symmetries:
            facts.add_row("symmetries", Text(problem.symmetries))
        facts.add_row("size", Text(problem.typical_size))
        facts.add_row("parameters", Text(parameters))
        output.print(facts)


def generate_data(
    problem: Annotated[str, typer.Argument(help="Name of the problem; see `gola problems`.")],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    num_samples: Annotated[int, typer.Option(help="How many samples.")] = 200,
    seed: Annotated[int, typer.Option(help="Decides the random inputs.")] = 0,
    parameters: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the problem; may be repeated."),
    ] = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that holds something else.")] = False,
) -> None:
    """Solve a benchmark problem for many random inputs, and write a data set.

    Ctrl-C keeps what is finished; the same command then goes on where it stopped.
    """
    chosen = make_problem(problem, **assignments(parameters or []))
    with progress_bar() as progress:
        task = progress.add_task(chosen.title, total=num_samples)
        try:
            dataset = generate(
                chosen,
                out,
                num_samples=num_samples,
                seed=seed,
                num_workers=workers,
                scheduler=scheduler,
                overwrite=overwrite,
                on_progress=lambda num_done: progress.update(task, completed=num_done),
            )
        except KeyboardInterrupt:
            progress.stop()
            errors.print(f"Interrupted. Finished samples are kept in {out}.parts; run the same command to go on.")
            raise typer.Exit(INTERRUPTED) from None
    output.print(f"{out}: {dataset!r}, {out.stat().st_size / 1e6:.1f} MB", markup=False, soft_wrap=True)
