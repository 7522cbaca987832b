"""``gola compare``: operators side by side on a user's own data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from gola.cli.console import output, say, say_json
from gola.cli.options import AsJson, DataFile, KeepOld, NumPoints, NumTest, Scheduler, Workers
from gola.cli.run_progress import duration, run_with_progress
from gola.cli.training_options import NumEpochs, NumSteps, training_config
from gola.cli.values import names

if TYPE_CHECKING:
    from gola.runs import Outcome, RunConfig, Summary


def compare(
    data: DataFile,
    operators: Annotated[
        str, typer.Option(metavar="NAMES", help="Operators with commas between them; see `gola operators`.")
    ] = "linear,gola",
    num_train: Annotated[int, typer.Option(help="Training samples.", min=1)] = 30,
    num_test: NumTest = None,
    num_points: NumPoints = None,
    num_seeds: Annotated[
        int, typer.Option(help="Repetitions, each with another split, subsampling and initialisation.", min=1)
    ] = 3,
    seed: Annotated[int, typer.Option(help="The first random seed.", min=0)] = 0,
    num_epochs: NumEpochs = None,
    num_steps: NumSteps = None,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("runs/compare"),
    num_workers: Workers = None,
    scheduler: Scheduler = None,
    keep: KeepOld = False,
    as_json: AsJson = False,
) -> None:
    """Fit several operators to the same samples, several times, and recommend one of them.

    Every result is kept as soon as its run ends: after Ctrl-C the same command continues where it stopped, and a call
    with more seeds or operators does only the new runs.
    """
    from gola.runs import RunConfig, summarise, verdict, worth_showing  # PyTorch is slow to import

    runs = [
        RunConfig(
            data=str(data),
            operator=name,
            training=training_config(num_epochs=num_epochs, num_steps=num_steps),
            num_train=num_train,
            num_test=num_test,
            num_points=num_points,
            seed=number,
        )
        for number in range(seed, seed + num_seeds)
        for name in names(operators, "--operators")
    ]
    outcomes = run_with_progress(runs, out, num_workers=num_workers, scheduler=scheduler, keep=keep)
    summaries = summarise(outcomes)
    if as_json:
        say_json(
            {
                "summaries": [summary.to_dict() for summary in summaries],
                "verdict": verdict(summaries),
                "runs": [outcome.to_dict() for outcome in outcomes],
            }
        )
        return
    if any(worth_showing(summary.channels) for summary in summaries):
        output.print(_channel_table(summaries))
    output.print(_table(summaries))
    say(_explanation(runs[0], outcomes, num_seeds))
    say(verdict(summaries))


def _table(summaries: "list[Summary]") -> Table:
    from gola.runs import ESTIMATES

    estimates = [kind for kind in ESTIMATES.values() if any(summary.estimate_kind == kind for summary in summaries)]
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("operator", overflow="fold")
    for heading in ("test error", "seeds", *estimates, "fit", "predict", "parameters"):
        table.add_column("\n".join(heading.split()), justify="right", no_wrap=True)
    for summary in summaries:
        table.add_row(*(Text(cell) for cell in _row(summary, estimates)))
    return table


def _channel_table(summaries: "list[Summary]") -> Table:
    """Return the test errors of each channel."""
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0))
    for heading in ("operator", "channel"):
        table.add_column(heading, overflow="fold")
    for heading in ("test\nerror", "relative to\nvariation"):
        table.add_column(heading, justify="right", no_wrap=True)
    for summary in summaries:
        for one in summary.channels:
            variation = "–" if one.variation is None else f"{one.variation:.4f}"
            table.add_row(Text(summary.operator), Text(one.name), f"{one.error:.4f}", variation)
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
        *(f"{summary.estimate:.4f}" if summary.estimate_kind == kind else "–" for kind in estimates),
        duration(summary.fit_seconds),
        duration(summary.predict_seconds),
        f"{summary.num_parameters:,}",
    ]


def _explanation(run: "RunConfig", outcomes: "list[Outcome]", num_seeds: int) -> str:
    from gola.runs import RunResult

    points = "all points" if run.num_points is None else f"{run.num_points} points"
    spread = " ± standard deviation over seeds" if num_seeds > 1 else ""
    threads = sorted({outcome.num_threads for outcome in outcomes if isinstance(outcome, RunResult)})
    machine = "1 thread" if threads == [1] else f"{' or '.join(map(str, threads))} threads"
    return (
        f"{run.num_train} training samples, {points} each. Test error: mean relative L2 error{spread}; each seed draws"
        " its own samples and points, the same for all operators. An error on held-out training samples (cv error,"
        " validation error) is an estimate of it that needs no test samples. Times: medians to fit, and to predict one"
        f" sample, on {machine}."
    )
