"""``gola train``: from a data set to a surrogate in a folder of its own."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gola.cli import training_options as options
from gola.cli.console import INTERRUPTED, errors, say, warn
from gola.cli.evaluating import evaluated
from gola.cli.loggers import LoggerName, chosen_logger, logging_to
from gola.cli.options import AsJson, DataFile, NumPoints, NumTest, NumTrain, Seed, completing_operators
from gola.cli.train_result import say_result
from gola.cli.training_progress import watched
from gola.cli.values import assignments
from gola.extras import require

if TYPE_CHECKING:
    from gola.data.dataset import Dataset
    from gola.protocol import Session
    from gola.runs import RunConfig
    from gola.runs.folder import RunFolder
    from gola.surrogate.surrogate import Surrogate

_OPERATOR, _MACHINES, _RUN = "Operator", "Devices", "Run"


def train(
    data: DataFile,
    out: Annotated[Path, typer.Option(help="The folder of the run.")],
    num_train: NumTrain = None,
    num_test: NumTest = None,
    num_points: NumPoints = None,
    seed: Seed = 0,
    operator: Annotated[
        str,
        typer.Option(
            help="Operator, or operator/preset; see `gola operators`.",
            rich_help_panel=_OPERATOR,
            autocompletion=completing_operators,
        ),
    ] = "auto",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of the operator, like width=32 or members=linear,kernel; see `gola info`. May be repeated.",
            rich_help_panel=_OPERATOR,
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            help="Seconds that the automatic choice may take; the best that was found by then is kept.",
            rich_help_panel=_OPERATOR,
        ),
    ] = None,
    num_epochs: options.NumEpochs = None,
    num_steps: options.NumSteps = None,
    batch_size: options.BatchSize = None,
    learning_rate: options.LearningRate = None,
    rates: options.Rates = None,
    weight_decay: options.WeightDecay = None,
    warmup: options.Warmup = None,
    clip: options.Clip = None,
    averaging: options.Averaging = None,
    residual_weight: options.ResidualWeight = None,
    symmetries: options.Symmetries = None,
    points_per_epoch: options.PointsPerEpoch = None,
    validation_share: options.ValidationShare = None,
    validation_from: options.ValidationFrom = None,
    patience: options.Patience = None,
    held_out_folds: options.HeldOutFolds = None,
    devices: Annotated[
        int, typer.Option(help="Processes per machine, one for each device.", rich_help_panel=_MACHINES, min=1)
    ] = 1,
    num_nodes: Annotated[int, typer.Option(help="Machines.", rich_help_panel=_MACHINES, min=1)] = 1,
    num_workers: Annotated[
        int,
        typer.Option(help="Processes that share the candidates of `auto`.", rich_help_panel=_MACHINES, min=1),
    ] = 1,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Workers of this Dask scheduler share the candidates of `auto`.",
            rich_help_panel=_MACHINES,
        ),
    ] = None,
    accelerator: Annotated[
        Literal["cpu", "cuda"] | None,
        typer.Option(help="CUDA where there is any, by default.", rich_help_panel=_MACHINES),
    ] = None,
    precision: Annotated[
        Literal["32-true", "bf16-mixed", "16-mixed"] | None,
        typer.Option(help="bf16-mixed where the device supports it, by default.", rich_help_panel=_MACHINES),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume the run in the folder, if there is one.", rich_help_panel=_RUN)
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the run in the folder, if there is one.", rich_help_panel=_RUN)
    ] = False,
    checkpoint_seconds: Annotated[
        float, typer.Option(help="Seconds between two checkpoints.", rich_help_panel=_RUN, min=0)
    ] = 10.0,
    logger: Annotated[
        LoggerName | None,
        typer.Option(
            help="Logger of every epoch; TensorBoard where it is installed, by default.", rich_help_panel=_RUN
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Fit an operator to samples of a data set, and evaluate it on others.

    The folder gets the surrogate, the history of the training, and the errors on the test samples. After Ctrl-C, a kill
    or a power cut the same command with --resume continues from the last checkpoint, and ends with the very same
    surrogate.
    """
    from gola.fitting.configs import preset  # PyTorch is slow to import
    from gola.protocol import Session
    from gola.runs import RunConfig
    from gola.runs.folder import RunFolder

    if resume and overwrite:
        raise ValueError("--resume continues a run and --overwrite removes it; choose one.")
    config = RunConfig(
        data=str(data.resolve()),
        operator=operator,
        settings=assignments([*(settings or []), *_limit(time_limit)], vars(preset(operator))),
        training=options.training_config(
            num_epochs=num_epochs,
            num_steps=num_steps,
            batch_size=batch_size,
            learning_rate=learning_rate,
            rates=rates,
            weight_decay=weight_decay,
            warmup=warmup,
            clip=clip,
            averaging=averaging,
            residual_weight=residual_weight,
            symmetries=symmetries,
            points_per_epoch=points_per_epoch,
            validation_share=validation_share,
            validation_from=validation_from,
            patience=patience,
            held_out_folds=held_out_folds,
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
        num_workers=num_workers,
        scheduler=scheduler,
        precision=precision,
    )
    logger = chosen_logger(logger)
    samples = _checked_samples(config)
    if session.has_workers and config.operator.partition("/")[0] != "auto":
        warn(f"{config.operator} ignores --num-workers and --scheduler: only auto has candidates to share.")
    if not (config.heeds("session") or session.is_first_process):
        return  # one process is enough for an operator that is not trained
    folder = RunFolder(out)
    if session.is_first_process:
        folder.begin(config, resume=resume, overwrite=overwrite)
    try:
        surrogate = _fitted(config, samples, session, folder, logger)
        if session.is_first_process:
            say_result(surrogate, _test_errors(surrogate, config, folder), folder, as_json=as_json)
    except KeyboardInterrupt:
        _say_how_to_resume(folder, session)


def _limit(seconds: float | None) -> list[str]:
    """Return the setting that limits the time."""
    return [] if seconds is None else [f"time_limit={seconds}"]


def _checked_samples(config: "RunConfig") -> "Dataset":
    """Return the training samples; mistakes are found here, before anything is written."""
    from gola.fitting.configs import config_for
    from gola.protocol import TrainingConfig

    samples, test = config.samples()
    if not samples.targets:
        known = ", ".join(map(str, [*samples.inputs, *samples.parameters])) or "points"
        raise ValueError(
            f"{config.data} has no target channels, only {known}: there is nothing to fit to. Import it again with"
            " --targets."
        )
    if test is None and config.num_test is not None:
        raise ValueError(
            f"All {len(samples)} samples are for training, and --num-test asks for {config.num_test} more."
        )
    training, usual = config.training, TrainingConfig()
    if training != usual and not config.heeds("training"):
        warn(f"{config.operator} ignores training settings.")
    elif training.validation_share != usual.validation_share and not training.num_validation(len(samples)):
        warn(
            f"No samples are set aside for validation: there are {len(samples)} for training, and --validation-from is"
            f" {training.validation_from}."
        )
    samples = samples.in_memory()
    config_for(samples, config.operator, num_points=training.points_per_epoch, **config.settings)
    return samples


def _fitted(
    config: "RunConfig", samples: "Dataset", session: "Session", folder: "RunFolder", logger: LoggerName
) -> "Surrogate":
    trained = config.heeds("session") and not (session.resume and folder.is_finished)
    name = logger if trained and session.is_first_process else "none"
    if session.devices * session.num_nodes > 1:
        _quieten_lightning()
    with (
        logging_to(name, folder.logs, folder.path.name, config.to_dict()) as loggers,
        watched(config, replace(session, loggers=loggers)) as shown,
    ):
        return folder.fit(config, samples, shown)


def _quieten_lightning() -> None:
    """Keep warnings, and drop messages about processes that start as they should."""
    require("lightning.fabric", extra="train", what="Training on several devices")  # sets these levels itself
    for name in ("lightning", "lightning.fabric", "lightning.pytorch"):
        logging.getLogger(name).setLevel(logging.WARNING)


def _test_errors(surrogate: "Surrogate", config: "RunConfig", folder: "RunFolder") -> dict[str, Any] | None:
    """Return the errors on the test samples, which a resumed run may know already; None where there are none."""
    _, test = config.whole_samples()
    if test is None:
        return None
    kept = folder.evaluation()
    for row in kept["evaluations"] if kept else ():
        if row["num_points"] == config.num_points:
            return row
    record = evaluated(surrogate, test, [config.num_points], seed=config.seed + 1, data=Path(config.data))
    if kept is None:
        folder.keep_evaluation(record)
    return record["evaluations"][0]


def _say_how_to_resume(folder: "RunFolder", session: "Session") -> None:
    if not session.is_first_process:
        raise typer.Exit  # a failure would make Lightning kill the first process before it has said how to resume
    say(f"Interrupted. The state is kept in {folder.path}; run the same command with --resume to continue.", to=errors)
    raise typer.Exit(INTERRUPTED)
