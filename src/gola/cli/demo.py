"""``gola demo``: from nothing to two surrogates and a page that compares them."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from gola.cli.console import INTERRUPTED, errors, output, say, say_json
from gola.cli.options import AsJson, Seed
from gola.cli.training_progress import watched
from gola.display import Display

if TYPE_CHECKING:
    from gola.data.dataset import Dataset
    from gola.problems import Problem
    from gola.report.demo_result import Entry
    from gola.runs import RunConfig

_OPERATORS = ("linear", "gola")
_NUM_SAMPLES = 200
_DATA_SEED = 1
_QUICK_RESOLUTION = 32


def demo(
    out: Annotated[Path, typer.Option(help="Folder of data, runs and report.")] = Path("demo"),
    num_train: Annotated[int, typer.Option(help="Training samples.", min=3)] = 30,
    num_points: Annotated[int, typer.Option(help="Points to keep of each sample.", min=10)] = 1000,
    num_test: Annotated[int, typer.Option(help="Test samples.", min=1)] = 100,
    num_steps: Annotated[int, typer.Option(help="Approximate number of training steps of gola.", min=1)] = 1000,
    seed: Seed = 0,
    quick: Annotated[
        bool, typer.Option("--quick", help="A tiny version that runs in seconds; its errors mean nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Solve Darcy flow, fit `linear` and `gola` to 30 samples, and compare them on 100 others and with the paper.

    Ctrl-C keeps what is finished; the same command then continues.
    """
    from gola.problems import make_problem  # PyTorch is slow to import
    from gola.protocol import TrainingConfig
    from gola.report.demo import demo_report
    from gola.runs import RunConfig

    if quick:
        num_train, num_test, num_points, num_steps = 6, 4, 200, 12
    start = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    problem = make_problem("darcy", **({"resolution": _QUICK_RESOLUTION} if quick else {}))
    run = RunConfig(
        data=str((out / ("quick.h5" if quick else "darcy.h5")).resolve()),
        training=TrainingConfig(num_steps=num_steps),
        num_train=num_train,
        num_test=num_test,
        num_points=num_points,
        seed=seed,
    )
    try:
        data = _generated(problem, Path(run.data), num_samples=10 if quick else _NUM_SAMPLES)
        entries = [_fitted(replace(run, operator=name), out / name) for name in _OPERATORS]
    except KeyboardInterrupt:
        say(f"Interrupted. What is finished is kept in {out}; run the same command to continue.", to=errors)
        raise typer.Exit(INTERRUPTED) from None
    command = f"gola demo --out {out} " + ("--quick" if quick else _options(run))
    report = demo_report(entries, problem, data, command=command, seconds=time.perf_counter() - start)
    report.save(out / "report.html")
    if as_json:
        runs = [entry.result.to_dict() for entry in entries]
        say_json({"report": str(out / "report.html"), "runs": runs})
    else:
        _print_result(entries, out)


def _options(run: "RunConfig") -> str:
    return (
        f"--num-train {run.num_train} --num-points {run.num_points} --num-test {run.num_test}"
        f" --num-steps {run.training.num_steps} --seed {run.seed}"
    )


def _generated(problem: "Problem", file: Path, *, num_samples: int) -> "Dataset":
    from gola.problems.generation import generate

    say(f"Data: {num_samples} solutions of {problem.title} at {problem.typical_size}", to=errors)
    with Display("Solving") as display:
        return generate(
            problem,
            file,
            num_samples=num_samples,
            seed=_DATA_SEED,
            num_workers=None,
            on_progress=lambda num_done: display.update("samples", num_done, num_samples),
        )


def _fitted(run: "RunConfig", path: Path) -> "Entry":
    """Fit and evaluate an operator, or resume where an earlier call stopped."""
    from gola.protocol import Session
    from gola.report.demo_result import Entry
    from gola.runs import execute
    from gola.runs.folder import RunFolder
    from gola.surrogate.surrogate import Surrogate

    folder = RunFolder(path)
    known = folder.holds(run)
    reused = known and folder.is_finished
    done = "fitted by an earlier call with the same settings" if reused else f"fit to {run.num_train} samples"
    say(f"{run.operator}: {done}", to=errors)
    folder.begin(run, resume=known, overwrite=not known)
    with watched(run, Session(resume=known)) as session:
        result = execute(run, session, folder)
    return Entry(result=result, surrogate=Surrogate.load(folder.surrogate_file), reused=reused)


def _print_result(entries: "list[Entry]", out: Path) -> None:
    from gola.report.demo_result import (
        CHANNEL_HEADING,
        HEADING,
        beside_the_paper,
        channel_rows,
        headline,
        reason,
        result_rows,
    )

    if rows := channel_rows(entries):
        output.print(_table(CHANNEL_HEADING, rows, "Mean test error by channel"))
    title = f"Relative L2 error on {len(entries[0].result.errors)} test samples"
    output.print(_table(HEADING, result_rows(entries), title))
    for text in (headline(entries), reason(entries), beside_the_paper(entries)):
        output.print(text, markup=False)
    folders = " and ".join(str(out / entry.name) for entry in entries)
    say(f"Report: {out / 'report.html'}. Surrogates: in {folders}.")


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE, padding=(0, 0, 0, 1), pad_edge=False)
    for number, name in enumerate(heading):
        table.add_column(Text(name), justify="right" if number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, row))
    return table
