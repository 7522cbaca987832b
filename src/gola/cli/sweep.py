"""``gola sweep``: choose settings by cross-validation on the training samples."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from gola.cli.console import output, say, say_json
from gola.cli.options import (
    AsJson,
    DataFile,
    KeepOld,
    NumPoints,
    NumTrain,
    Scheduler,
    Seed,
    Workers,
    completing_operators,
)
from gola.cli.run_progress import duration, run_with_progress
from gola.cli.values import choices, written

if TYPE_CHECKING:
    from gola.runs import Candidate, RunConfig, Sweep


def sweep(
    data: DataFile,
    operator: Annotated[
        str,
        typer.Option(help="Operator, or operator/preset; see `gola operators`.", autocompletion=completing_operators),
    ] = "gola",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUES",
            help="Values of a setting of the operator, like width=32,64; see `gola info`. May be repeated; a setting"
            " that is a list has one value per option.",
        ),
    ] = None,
    training: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUES",
            help="Values of a training setting, like learning_rate=1e-3,3e-3; names as in `gola train --help`. May be"
            " repeated.",
        ),
    ] = None,
    num_train: NumTrain = None,
    num_points: NumPoints = None,
    num_folds: Annotated[int, typer.Option(help="Folds of the training samples, each held out once.", min=2)] = 3,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("runs/sweep"),
    num_workers: Workers = None,
    scheduler: Scheduler = None,
    keep: KeepOld = False,
    as_json: AsJson = False,
) -> None:
    """Try every combination of some settings, each evaluated by cross-validation on the training samples.

    Test samples are not used, so they remain for the final evaluation. Every result is kept as soon as its run ends:
    after Ctrl-C the same command continues where it stopped, and a larger grid does only the new runs.
    """
    from gola.fitting.configs import preset  # PyTorch is slow to import
    from gola.protocol import TrainingConfig
    from gola.runs import RunConfig, Sweep, advice

    grid = Sweep(
        base=RunConfig(data=str(data), operator=operator, num_train=num_train, num_points=num_points, seed=seed),
        settings=choices(settings or [], vars(preset(operator))),
        training=choices(training or [], vars(TrainingConfig()), "--training"),
        num_folds=num_folds,
    )
    outcomes = run_with_progress(grid.runs(), out, num_workers=num_workers, scheduler=scheduler, keep=keep)
    candidates = grid.candidates(outcomes)
    command = _command(grid.base, candidates[0])
    if as_json:
        found = [candidate.to_dict() for candidate in candidates]
        say_json({"candidates": found, "advice": advice(candidates), "command": command})
        return
    output.print(_table(grid, candidates))
    say(_explanation(grid))
    say(advice(candidates))
    if not candidates[0].failures:
        say("Train with the best settings on all training samples:")
        say(f"  {command}")


def _table(grid: "Sweep", candidates: "list[Candidate]") -> Table:
    from gola.runs import error_text

    table = Table(box=SIMPLE)
    names = [*grid.settings, *grid.training]
    for name in names:
        table.add_column(Text(name), justify="right", overflow="fold")
    table.add_column("cross-validation\nerror", justify="right", no_wrap=True)
    table.add_column("fit", justify="right", no_wrap=True)
    for candidate in candidates:
        values = {**candidate.settings, **candidate.training}
        failed = f"failed in {len(candidate.failures)} of {grid.num_folds} folds"
        error = failed if candidate.failures else error_text(candidate.mean, candidate.spread)
        cells = [*(written(values[name]) for name in names), error, duration(candidate.fit_seconds)]
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _explanation(grid: "Sweep") -> str:
    samples = "All samples are" if grid.base.num_train is None else f"{grid.base.num_train} samples are"
    untouched = "there are no test samples" if grid.base.num_train is None else "the test samples were not used"
    return (
        f"{samples} for training, split into {grid.num_folds} folds; {untouched}. Errors: mean relative L2 error on the"
        " held-out fold ± standard deviation over folds. The lowest of several errors is a little too optimistic,"
        " because it was chosen by this number: evaluate the final surrogate on test samples."
    )


def _command(base: "RunConfig", best: "Candidate") -> str:
    """Return the command that trains with some settings on all training samples."""
    words = ["gola", "train", base.data, "--operator", base.operator]
    for name, value in best.settings.items():
        words += ["--set", f"{name}={written(value)}"]
    common = {"num_train": base.num_train, "num_points": base.num_points, "seed": base.seed}
    for name, value in {**best.training, **common}.items():
        words += _option(name, value)
    return shlex.join([*words, "--out", "runs/best"])


def _option(name: str, value: Any) -> list[str]:
    """Write a setting as an option of ``gola train``; None and an empty list are what it has without."""
    return [] if value is None or value == () else [f"--{name.replace('_', '-')}", written(value)]
