"""``gola sweep``: choose settings by cross-validation on the training samples."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from gola.cli.console import output
from gola.cli.options import AsJson, KeepOld, Scheduler, Workers, assignments
from gola.cli.run_progress import duration, run_with_progress

if TYPE_CHECKING:
    from gola.runs import Candidate, RunConfig, Sweep

# What `gola train` calls the settings of a training.
_OPTIONS = {
    "num_steps": "--steps",
    "num_epochs": "--epochs",
    "batch_size": "--batch-size",
    "learning_rate": "--learning-rate",
    "averaging": "--averaging",
    "num_points": "--resample",
    "validation_share": "--validation-share",
    "patience": "--patience",
}


def sweep(
    data: Annotated[Path, typer.Argument(help="The data set.")],
    operator: Annotated[str, typer.Option(help="Operator, or operator/preset; see `gola operators`.")] = "gola",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUES", help="Values of a setting, like width=32,64; see `gola info`. Repeatable."
        ),
    ] = None,
    training: Annotated[
        list[str] | None,
        typer.Option(
            "--train",
            metavar="NAME=VALUES",
            help="Values of how to train, like learning_rate=1e-3,3e-3. Repeatable.",
        ),
    ] = None,
    num_train: Annotated[int | None, typer.Option(help="Training samples; all by default.", min=1)] = None,
    num_points: Annotated[int | None, typer.Option(help="Points of each sample; all by default.", min=1)] = None,
    folds: Annotated[int, typer.Option(help="Parts of the training samples, each held out once.", min=2)] = 3,
    seed: Annotated[int, typer.Option(help="Decides samples, points, folds, initial weights.", min=0)] = 0,
    out: Annotated[Path, typer.Option(help="Folder that keeps the results.")] = Path("runs/sweep"),
    workers: Workers = None,
    scheduler: Scheduler = None,
    keep: KeepOld = False,
    as_json: AsJson = False,
) -> None:
    """Try every combination of some settings, each judged by cross-validation on the training samples.

    Test samples are never looked at, so they can still judge what comes out. Every run is kept as soon as it ends:
    after Ctrl-C the same command goes on where it stopped, and a larger grid does only what is new.
    """
    from gola.runs import RunConfig, Sweep, advice  # loads PyTorch, which takes its time

    base = RunConfig(data=str(data), operator=operator, num_train=num_train, num_points=num_points, seed=seed)
    grid = Sweep(base=base, settings=_choices(settings or []), training=_choices(training or []), num_folds=folds)
    outcomes = run_with_progress(grid.runs(), out, num_workers=workers, scheduler=scheduler, keep=keep)
    candidates = grid.candidates(outcomes)
    command = _command(base, candidates[0])
    if as_json:
        result = {"candidates": [one.to_dict() for one in candidates], "advice": advice(candidates), "command": command}
        output.print_json(json.dumps(result))
        return
    output.print(_table(grid, candidates))
    output.print(_explanation(grid), markup=False, soft_wrap=True)
    output.print(advice(candidates), markup=False, soft_wrap=True)
    if not candidates[0].failures:
        output.print("Train with the best settings on all training samples:", soft_wrap=True)
        output.print(f"  {command}", markup=False, soft_wrap=True)
        _print_what_the_command_lacks(candidates[0])


def _choices(texts: list[str]) -> dict[str, list[Any]]:
    """Read NAME=VALUE,VALUE,... into the values of each name."""
    found: dict[str, list[Any]] = {}
    for text in texts:
        name, _, values = text.partition("=")
        for value in values.split(","):
            for key, parsed in assignments([f"{name}={value}"]).items():
                found.setdefault(key, []).append(parsed)
    return found


def _table(grid: "Sweep", candidates: "list[Candidate]") -> Table:
    from gola.runs import error_text

    table = Table(box=SIMPLE)
    names = [*grid.settings, *grid.training]
    for name in names:
        table.add_column(name, justify="right")
    table.add_column("cross-validation error", justify="right", no_wrap=True)
    table.add_column("fit", justify="right", no_wrap=True)
    for one in candidates:
        values = {**one.settings, **one.training}
        failed = f"failed in {len(one.failures)} of {grid.num_folds} folds"
        error = failed if one.failures else error_text(one.mean, one.spread)
        cells = [*(str(values[name]) for name in names), error, duration(one.fit_seconds)]
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _explanation(grid: "Sweep") -> str:
    samples = "All samples are" if grid.base.num_train is None else f"{grid.base.num_train} samples are"
    untouched = "there are no test samples" if grid.base.num_train is None else "the test samples were not looked at"
    return (
        f"{samples} for training and dealt into {grid.num_folds} folds; {untouched}. Errors are mean relative L2 errors"
        " on the fold that is held out, ± their standard deviation over folds. The lowest of several is a little too"
        " good to be true: judge the final surrogate on test samples."
    )


def _command(base: "RunConfig", best: "Candidate") -> str:
    """Return the command that trains with some settings on all training samples."""
    name, _, preset = base.operator.partition("/")
    words = ["gola", "train", base.data, "--operator", name, *(["--preset", preset] if preset else [])]
    for setting, value in best.settings.items():
        words += ["--set", f"{setting}={_written(value)}"]
    for setting, value in best.training.items():
        words += [_OPTIONS[setting], _written(value)] if setting in _OPTIONS else []
    for option, number in {"--num-train": base.num_train, "--num-points": base.num_points, "--seed": base.seed}.items():
        words += [] if number is None else [option, str(number)]
    return shlex.join([*words, "--out", "runs/best"])


def _print_what_the_command_lacks(best: "Candidate") -> None:
    beyond = ", ".join(f"{name}={value!r}" for name, value in best.training.items() if name not in _OPTIONS)
    if beyond:
        message = f"`gola train` has no option for {beyond}: use gola.fit(..., training=gola.TrainingConfig({beyond}))."
        output.print(message, markup=False, soft_wrap=True)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
