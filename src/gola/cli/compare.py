"""``gola compare``: operators side by side on a user's own data."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from gola.cli.console import output
from gola.cli.options import AsJson, KeepOld, Scheduler, Workers
from gola.cli.run_progress import duration, run_with_progress

if TYPE_CHECKING:
    from gola.protocol import TrainingConfig
    from gola.runs import Outcome, RunConfig, Summary


def compare(
    data: Annotated[Path, typer.Argument(help="The data set.")],
    operators: Annotated[
        str, typer.Option(metavar="NAMES", help="Operators, with commas between them; see `gola operators`.")
    ] = "linear,gola",
    num_train: Annotated[int, typer.Option(help="Training samples.", min=1)] = 30,
    num_test: Annotated[int | None, typer.Option(help="Test samples; all others by default.", min=1)] = None,
    num_points: Annotated[int | None, typer.Option(help="Points of each sample; all by default.", min=1)] = None,
    seeds: Annotated[
        int, typer.Option(help="How often to repeat with other samples, points and initial weights.", min=1)
    ] = 3,
    seed: Annotated[int, typer.Option(help="The first seed.", min=0)] = 0,
    epochs: Annotated[int | None, typer.Option(help="Passes over the samples, for networks.", min=1)] = None,
    steps: Annotated[int | None, typer.Option(help="Or training steps, for networks.", min=1)] = None,
    out: Annotated[Path, typer.Option(help="Folder that keeps the results.")] = Path("runs/compare"),
    workers: Workers = None,
    scheduler: Scheduler = None,
    keep: KeepOld = False,
    as_json: AsJson = False,
) -> None:
    """Fit several operators to the same samples, several times, and say which one to use.

    Every run is kept as soon as it ends: after Ctrl-C the same command goes on where it stopped, and a call with more
    seeds or operators does only what is new.
    """
    from gola.runs import RunConfig, summarise, verdict  # loads PyTorch, which takes its time

    names = list(dict.fromkeys(name.strip() for name in operators.split(",") if name.strip()))
    if not names:
        raise ValueError("--operators needs at least one name, for instance linear,gola; see `gola operators`.")
    runs = [
        RunConfig(
            data=str(data),
            operator=name,
            training=_training(epochs, steps),
            num_train=num_train,
            num_test=num_test,
            num_points=num_points,
            seed=one,
        )
        for one in range(seed, seed + seeds)
        for name in names
    ]
    outcomes = run_with_progress(runs, out, num_workers=workers, scheduler=scheduler, keep=keep)
    summaries = summarise(outcomes)
    if as_json:
        result = {
            "summaries": [summary.to_dict() for summary in summaries],
            "verdict": verdict(summaries),
            "runs": [outcome.to_dict() for outcome in outcomes],
        }
        output.print_json(json.dumps(result))
        return
    output.print(_table(summaries))
    output.print(_explanation(runs[0], outcomes, seeds), markup=False, soft_wrap=True)
    output.print(verdict(summaries), markup=False, soft_wrap=True)


def _training(epochs: int | None, steps: int | None) -> "TrainingConfig":
    from gola.protocol import TrainingConfig  # loads PyTorch, which takes its time

    given: dict[str, Any] = {"num_epochs": epochs, "num_steps": steps}
    return TrainingConfig(**{name: value for name, value in given.items() if value is not None})


def _table(summaries: "list[Summary]") -> Table:
    from gola.runs import ESTIMATES

    estimates = [kind for kind in ESTIMATES.values() if any(one.own_kind == kind for one in summaries)]
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("operator", overflow="fold")
    for heading in ("test error", "seeds", *estimates, "fit", "predict", "parameters"):
        table.add_column(heading, justify="right", overflow="fold")
    for summary in summaries:
        table.add_row(*(Text(cell) for cell in _row(summary, estimates)))
    return table


def _row(summary: "Summary", estimates: list[str]) -> list[str]:
    from gola.runs import error_text

    num_seeds = len(summary.errors) + len(summary.failures)
    counted = f"{len(summary.errors)} of {num_seeds}" if summary.failures else f"{num_seeds}"
    if not summary.errors:
        return [summary.operator, "failed", counted]
    return [
        summary.operator,
        error_text(summary.mean, summary.spread),
        counted,
        *(f"{summary.own_error:.4f}" if summary.own_kind == kind else "–" for kind in estimates),
        duration(summary.fit_seconds),
        duration(summary.predict_seconds),
        f"{summary.num_parameters:,}",
    ]


def _explanation(run: "RunConfig", outcomes: "list[Outcome]", seeds: int) -> str:
    from gola.runs import RunResult

    points = "all points" if run.num_points is None else f"{run.num_points} points"
    spread = ", ± their standard deviation over seeds" if seeds > 1 else ""
    threads = sorted({outcome.num_threads for outcome in outcomes if isinstance(outcome, RunResult)})
    machine = "1 thread" if threads == [1] else f"{' or '.join(map(str, threads))} threads"
    return (
        f"{run.num_train} training samples, {points} each. Test errors are mean relative L2 errors{spread}; every seed"
        " draws other samples and points, the same for all operators. Errors on training samples left out, or set aside"
        f" for validation, need no test samples. Times are medians on {machine}: to fit, to predict one sample."
    )
