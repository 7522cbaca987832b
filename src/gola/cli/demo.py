"""``gola demo``: the main job, from nothing to two surrogates and a page that compares them."""

import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from gola.cli.console import INTERRUPTED, errors, output, progress_bar
from gola.cli.interruption import stop_on_signals
from gola.cli.training_progress import TrainingBar, waiting

if TYPE_CHECKING:
    from gola.cli.demo_result import Entry
    from gola.data.dataset import Dataset
    from gola.runs import RunConfig
    from gola.surrogate.evaluation import Evaluation
    from gola.surrogate.surrogate import Surrogate

_OPERATORS = ("linear", "gola")
_NUM_SAMPLES = 200
_DATA_SEED = 1
_QUICK_RESOLUTION = 32


def demo(
    out: Annotated[Path, typer.Option(help="Folder for data, surrogates and report.")] = Path("demo"),
    num_train: Annotated[int, typer.Option(help="Training samples.", min=2)] = 30,
    num_points: Annotated[int, typer.Option(help="Points of each sample.", min=10)] = 1000,
    num_test: Annotated[int, typer.Option(help="Test samples.", min=1)] = 100,
    steps: Annotated[int, typer.Option(help="Steps of training for gola, about.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="Decides samples, points, initial weights.", min=0)] = 0,
    quick: Annotated[
        bool, typer.Option("--quick", help="Everything tiny, to see in seconds that it works; the errors mean nothing.")
    ] = False,
) -> None:
    """Solve Darcy flow, fit `linear` and `gola` to 30 samples, and compare them on 100 others and with the paper.

    Ctrl-C keeps what is finished; the same command then goes on where it stopped.
    """
    from gola.cli.demo_report import demo_report
    from gola.protocol import TrainingConfig
    from gola.runs import RunConfig  # PyTorch takes its time to import

    if quick:
        num_train, num_test, num_points, steps = 6, 4, 200, 12
    start = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    config = RunConfig(
        data=str(out / ("quick.h5" if quick else "darcy.h5")),
        training=TrainingConfig(num_steps=steps),
        num_train=num_train,
        num_test=num_test,
        num_points=num_points,
        seed=seed,
    )
    try:
        data = _generated(Path(config.data), quick=quick)
        entries, test = _compared(config, out)
    except KeyboardInterrupt:
        errors.print(f"Interrupted. What is finished is kept in {out}; run the same command to go on.", soft_wrap=True)
        raise typer.Exit(INTERRUPTED) from None
    command = f"gola demo --out {out} " + ("--quick" if quick else _options(config))
    seconds = time.perf_counter() - start
    demo_report(entries, data, test, command=command, seconds=seconds).save(out / "report.html")
    _print_result(entries, out / "report.html")


def _options(config: "RunConfig") -> str:
    return (
        f"--num-train {config.num_train} --num-points {config.num_points} --num-test {config.num_test}"
        f" --steps {config.training.num_steps} --seed {config.seed}"
    )


def _generated(file: Path, *, quick: bool) -> "Dataset":
    from gola.problems import make_problem
    from gola.problems.generation import generate

    problem = make_problem("darcy", **({"resolution": _QUICK_RESOLUTION} if quick else {}))
    num_samples = 10 if quick else _NUM_SAMPLES
    output.print(f"Data: {num_samples} solutions of {problem.title} at {problem.typical_size}", soft_wrap=True)
    with progress_bar() as progress:
        task = progress.add_task("Solving", total=num_samples)
        return generate(
            problem,
            file,
            num_samples=num_samples,
            seed=_DATA_SEED,
            num_workers=1 if quick else None,
            on_progress=lambda num_done: progress.update(task, completed=num_done),
        )


def _compared(config: "RunConfig", out: Path) -> "tuple[list[Entry], Dataset]":
    """Fit and evaluate every operator on the same samples."""
    from gola.cli.demo_result import Entry

    train, test = config.samples()
    assert test is not None
    entries = []
    for name in _OPERATORS:
        run = replace(config, operator=name)
        kept = _kept(run, train, out / f"{name}.gola")
        surrogate = _fitted(run, train, out) if kept is None else kept
        evaluation = _judged(surrogate, test)
        entries.append(Entry(config=run, surrogate=surrogate, evaluation=evaluation, reused=kept is not None))
    return entries, test


def _kept(run: "RunConfig", train: "Dataset", file: Path) -> "Surrogate | None":
    """Return the surrogate of an earlier call, if that had the same samples and settings."""
    from gola.fitting.configs import config_for
    from gola.surrogate.surrogate import Surrogate

    if not file.exists():
        return None
    surrogate = Surrogate.load(file)
    fitted, known = surrogate.provenance, surrogate.operator.config
    same = (
        known == config_for(train, run.operator)
        and fitted.get("training") == (run.training.to_dict() if run.heeds("training") else None)
        and (fitted["seed"], fitted["data"]["fingerprint"]) == (run.seed, train.fingerprint())
        and fitted["versions"]["gola"] == version("gola")
    )
    if same:
        output.print(f"{run.operator}: {file} was fitted by an earlier call with the same settings", soft_wrap=True)
    return surrogate if same else None


def _fitted(run: "RunConfig", train: "Dataset", out: Path) -> "Surrogate":
    output.print(f"{run.operator}: fit to {len(train)} samples at {run.num_points} points")
    if run.heeds("training"):
        return _trained(run, train, out)
    with waiting(f"Fitting {run.operator}"):
        surrogate = run.fit(train)
    surrogate.save(out / f"{run.operator}.gola")
    return surrogate


def _trained(run: "RunConfig", train: "Dataset", out: Path) -> "Surrogate":
    """Train, going on from where an earlier call was interrupted."""
    from gola.fitting.training import discard_checkpoint
    from gola.protocol import Session

    folder = out / run.name  # other settings have another name, and so another state
    folder.mkdir(exist_ok=True)
    with (
        TrainingBar(f"Training {run.operator}") as bar,
        stop_on_signals(lambda: errors.print("Stopping after this step; once more to stop at once.")) as stop,
    ):
        surrogate = run.fit(train, session=Session(folder=folder, resume=True, on_progress=bar.show, stop=stop))
    surrogate.save(out / f"{run.operator}.gola")
    discard_checkpoint(folder)
    folder.rmdir()
    return surrogate


def _judged(surrogate: "Surrogate", test: "Dataset") -> "Evaluation":
    from gola.surrogate.evaluation import evaluate

    with progress_bar() as progress:
        task = progress.add_task("Testing", total=len(test))
        return evaluate(surrogate, test, on_progress=lambda num_done: progress.update(task, completed=num_done))


def _print_result(entries: "list[Entry]", report: Path) -> None:
    from gola.cli.demo_result import HEADING, beside_the_paper, reason, result_rows, verdict

    title = f"Relative L2 error on {len(entries[0].evaluation.errors)} test samples"
    table = Table(title=title, title_justify="left", box=SIMPLE, padding=(0, 0, 0, 1), pad_edge=False)
    for number, name in enumerate(HEADING):
        table.add_column(Text(name), justify="right" if number else "left", no_wrap=True)
    for row in result_rows(entries):
        table.add_row(*map(Text, row))
    output.print(table)
    for text in (verdict(entries), reason(entries), beside_the_paper(entries)):
        output.print(text, markup=False)
    files = ", ".join(f"{entry.name}.gola" for entry in entries)
    output.print(f"The report: {report}. The surrogates, beside it: {files}.", markup=False, soft_wrap=True)
