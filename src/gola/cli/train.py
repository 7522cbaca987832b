"""``gola train``: from a data set to a surrogate in a folder of its own."""

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Table
from rich.text import Text

from gola.cli.console import INTERRUPTED, errors, output, warn
from gola.cli.interruption import stop_on_signals
from gola.cli.loggers import LoggerName, make_loggers, require_logger
from gola.cli.options import assignments
from gola.cli.training_progress import TrainingBar, waiting

if TYPE_CHECKING:
    from gola.data.dataset import Dataset
    from gola.protocol import Session
    from gola.runs import RunConfig
    from gola.runs.folder import RunFolder
    from gola.surrogate.surrogate import Surrogate

_OPERATOR, _TRAINING, _MACHINES, _RUN = "Operator", "Training, for networks", "Machines", "Run"


def train(
    data: Annotated[Path, typer.Argument(help="A data set, as `gola generate` and `gola import` write it.")],
    out: Annotated[Path, typer.Option(help="The folder of the run.")],
    num_train: Annotated[int | None, typer.Option(help="Training samples; all by default.", min=1)] = None,
    num_test: Annotated[int | None, typer.Option(help="Test samples; all others by default.", min=1)] = None,
    num_points: Annotated[int | None, typer.Option(help="Points to keep of each sample; all by default.")] = None,
    seed: Annotated[int, typer.Option(help="Decides samples, points, initial weights.", min=0)] = 0,
    operator: Annotated[str, typer.Option(help="See `gola operators`.", rich_help_panel=_OPERATOR)] = "auto",
    preset: Annotated[str, typer.Option(help="See `gola operators`.", rich_help_panel=_OPERATOR)] = "default",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A change to the preset; see `gola info`. May be repeated.",
            rich_help_panel=_OPERATOR,
        ),
    ] = None,
    steps: Annotated[
        int | None, typer.Option(help="Steps, about; 1000 by default.", rich_help_panel=_TRAINING, min=1)
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(help="Passes over the samples, instead of steps.", rich_help_panel=_TRAINING, min=1)
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(help="Samples per step; 5 by default.", rich_help_panel=_TRAINING, min=1)
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="Peak of the schedule; 0.001 by default.", rich_help_panel=_TRAINING)
    ] = None,
    averaging: Annotated[
        float | None,
        typer.Option(
            help="Decay of a running mean of the weights, like 0.99; 0.0 by default.", rich_help_panel=_TRAINING
        ),
    ] = None,
    resample: Annotated[
        int | None,
        typer.Option(metavar="N", help="Points to draw anew in every epoch.", rich_help_panel=_TRAINING, min=1),
    ] = None,
    symmetries: Annotated[
        str | None,
        typer.Option(
            metavar="MAPS",
            help="Reflections and turns that the operator is known to have, like '-xy yx': learn from images too.",
            rich_help_panel=_TRAINING,
        ),
    ] = None,
    validation_share: Annotated[
        float | None,
        typer.Option(
            help="Training samples set aside to choose the best epoch; 0.1 by default, of 50 samples or more.",
            rich_help_panel=_TRAINING,
        ),
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(
            help="Epochs without improvement on those before stopping; 50 by default.",
            rich_help_panel=_TRAINING,
            min=1,
        ),
    ] = None,
    devices: Annotated[
        int, typer.Option(help="Processes per machine, one for each device.", rich_help_panel=_MACHINES, min=1)
    ] = 1,
    num_nodes: Annotated[int, typer.Option(help="Machines.", rich_help_panel=_MACHINES, min=1)] = 1,
    accelerator: Annotated[
        Literal["cpu", "cuda"] | None,
        typer.Option(help="CUDA where there is any, by default.", rich_help_panel=_MACHINES),
    ] = None,
    precision: Annotated[
        Literal["32-true", "bf16-mixed", "16-mixed"] | None,
        typer.Option(help="bf16-mixed where the device is made for it, by default.", rich_help_panel=_MACHINES),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in the folder, if there is one.", rich_help_panel=_RUN)
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the run in the folder, if there is one.", rich_help_panel=_RUN)
    ] = False,
    checkpoint_seconds: Annotated[
        float, typer.Option(help="Time between two checkpoints.", rich_help_panel=_RUN, min=0)
    ] = 10.0,
    logger: Annotated[LoggerName, typer.Option(help="Who records every epoch.", rich_help_panel=_RUN)] = "tensorboard",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for scripts.", rich_help_panel=_RUN)] = False,
) -> None:
    """Fit an operator to samples of a data set, and judge it on others.

    The folder gets the surrogate, the history of the training, and the errors on the test samples. Ctrl-C or a kill
    costs no more than the time between two checkpoints: the same command with --resume goes on, and ends with the very
    same surrogate.
    """
    from gola.protocol import Session
    from gola.runs import RunConfig  # PyTorch takes its time to import
    from gola.runs.folder import RunFolder

    if resume and overwrite:
        raise ValueError("--resume goes on with a run and --overwrite removes it; choose one.")
    require_logger(logger)
    config = RunConfig(
        data=str(data.resolve()),
        operator=f"{operator}/{preset}",
        settings=assignments(settings or []),
        training=_training_config(
            num_steps=steps,
            num_epochs=epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            averaging=averaging,
            num_points=resample,
            symmetries=symmetries,
            validation_share=validation_share,
            patience=patience,
        ),
        num_train=num_train,
        num_test=num_test,
        num_points=num_points,
        seed=seed,
    )
    session = Session(
        folder=out,
        resume=resume,
        checkpoint_seconds=checkpoint_seconds,
        accelerator=accelerator,
        devices=devices,
        num_nodes=num_nodes,
        precision=precision,
    )
    folder = RunFolder(out)
    samples, test = _samples(config)
    if not (config.heeds("session") or session.is_first_process):
        return  # one process is enough where nothing is trained
    if session.is_first_process:
        folder.begin(config, resume=resume, overwrite=overwrite)
    try:
        surrogate = _fitted(config, samples, session, folder, logger)
        if session.is_first_process:
            _report(surrogate, _judged(surrogate, test, config, folder), folder, as_json=as_json)
    except KeyboardInterrupt:
        _say_how_to_go_on(folder, session)


def _training_config(**given: Any) -> Any:
    from gola.protocol import TrainingConfig

    chosen = {name: value for name, value in given.items() if value is not None}
    if "validation_share" in chosen:
        chosen["validation_from"] = 1  # who asks for a share means it, however few samples there are
    return TrainingConfig(**chosen)


def _samples(config: "RunConfig") -> "tuple[Dataset, Dataset | None]":
    """Read the samples and look for mistakes, before anything is written."""
    from gola.fitting.configs import config_for

    samples, test = config.samples()
    if test is None and config.num_test is not None:
        raise ValueError(
            f"All {len(samples)} samples are for training, and --num-test asks for {config.num_test} more."
        )
    if not config.heeds("training") and config.training != type(config.training)():
        warn(f"{config.operator} decides by itself how it is fitted; what is said about training has no effect.")
    samples = samples.in_memory()
    config_for(samples, config.operator, num_points=config.training.num_points, **config.settings)
    return samples, test


def _fitted(
    config: "RunConfig", samples: "Dataset", session: "Session", folder: "RunFolder", logger: LoggerName
) -> "Surrogate":
    from gola.surrogate.surrogate import Surrogate

    if session.resume and folder.is_finished:
        return Surrogate.load(folder.surrogate_file)
    if config.heeds("session"):
        surrogate = _trained(config, samples, session, folder, logger)
    else:
        with waiting(f"Fitting {config.operator} to {len(samples)} samples"):
            surrogate = config.fit(samples)
    if session.is_first_process:
        folder.keep(surrogate)
    return surrogate


def _trained(
    config: "RunConfig", samples: "Dataset", session: "Session", folder: "RunFolder", logger: LoggerName
) -> "Surrogate":
    _quieten_lightning()
    first = session.is_first_process
    loggers = make_loggers(logger, folder.logs, folder.path.name, config.to_dict()) if first else []
    status = "failed"
    try:
        with (
            TrainingBar(f"Training {config.operator}", disabled=not first) as bar,
            stop_on_signals(_say_that_it_stops if first else _say_nothing) as stop,
        ):
            surrogate = config.fit(samples, session=replace(session, loggers=loggers, on_progress=bar.show, stop=stop))
        status = "success"
    finally:
        for one in loggers:
            one.finalize(status)
    return surrogate


def _quieten_lightning() -> None:
    """Keep warnings, and drop news of processes that start as they should."""
    import lightning.fabric  # noqa: F401  # sets these levels

    for name in ("lightning", "lightning.fabric", "lightning.pytorch"):
        logging.getLogger(name).setLevel(logging.WARNING)


def _judged(
    surrogate: "Surrogate", test: "Dataset | None", config: "RunConfig", folder: "RunFolder"
) -> dict[str, Any] | None:
    """Return the errors on the test samples, which a run that goes on may know already."""
    from gola.cli.evaluate import evaluated

    if test is None:
        return None
    kept = folder.evaluation()
    for row in kept["evaluations"] if kept else ():
        if row["num_points"] == config.num_points:
            return row
    evaluation = evaluated(surrogate, test, [None], seed=config.seed + 1, data=Path(config.data))
    evaluation["evaluations"][0]["num_points"] = config.num_points
    if kept is None:
        folder.keep_evaluation(evaluation)
    return evaluation["evaluations"][0]


def _report(surrogate: "Surrogate", test: dict[str, Any] | None, folder: "RunFolder", *, as_json: bool) -> None:
    history = surrogate.provenance.get("history", [])
    facts = {
        "operator": surrogate.operator.name,
        "num_parameters": surrogate.operator.num_parameters,
        "seconds": history[-1]["seconds"] if history else surrogate.provenance["seconds"],
        "scores": surrogate.scores,
        "choice": surrogate.provenance.get("choice"),
        "test": test,
        "surrogate": str(folder.surrogate_file),
    }
    if as_json:
        output.print_json(json.dumps(facts))
        return
    output.print(_table(facts, num_epochs=len(history)))
    output.print("Next:")
    for command in (f"gola evaluate {folder.path}", f"gola predict {folder.path} INPUT --out prediction.vtu"):
        output.print(f"  {command}", markup=False, soft_wrap=True)


def _table(facts: dict[str, Any], *, num_epochs: int) -> Table:
    errors = {name.removesuffix("_error").replace("_", "-"): error for name, error in facts["scores"].items()}
    rows = {f"{kind} error": f"{error:.4f}" for kind, error in errors.items()}
    if choice := facts["choice"]:
        parts = zip(choice["members"], choice["weights"], strict=True)
        rows["choice"] = " + ".join(f"{weight:.2f} {name}" for name, weight in parts)
        rows["why"] = choice["why"]
    if test := facts["test"]:
        rows["test error"] = f"{test['mean']:.4f} ± {test['std']:.4f} (mean ± std of {test['num_samples']} samples)"
    rows["time to fit"] = f"{facts['seconds']:.1f} s" + (f", {num_epochs} epochs" if num_epochs else "")
    rows["parameters"] = f"{facts['num_parameters']:,}"
    rows["surrogate"] = facts["surrogate"]
    table = Table(title=f"{facts['operator']} (relative L2 errors)", show_header=False, title_justify="left")
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(name, Text(value))
    return table


def _say_that_it_stops() -> None:
    errors.print("Stopping after this step; once more to stop at once.")


def _say_nothing() -> None:
    pass


def _say_how_to_go_on(folder: "RunFolder", session: "Session") -> None:
    if not session.is_first_process:
        raise typer.Exit  # a failure would make Lightning kill the first process, which has still to tell what to do
    errors.print(
        f"Interrupted. The state is kept in {folder.path}; run the same command with --resume to go on.",
        markup=False,
        soft_wrap=True,
    )
    raise typer.Exit(INTERRUPTED)
