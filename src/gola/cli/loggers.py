"""Loggers of Lightning by name, which record every epoch of a training."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from gola.extras import require

LoggerName = Literal["tensorboard", "csv", "wandb", "mlflow", "comet", "none"]

_PACKAGES = {"tensorboard": "tensorboard", "wandb": "wandb", "mlflow": "mlflow", "comet": "comet_ml"}


def chosen_logger(name: LoggerName | None) -> LoggerName:
    """Check that the package of a logger is installed; None stands for TensorBoard where there is one."""
    if name is None:
        return "tensorboard" if all(map(find_spec, ("tensorboard", "lightning"))) else "none"
    package = _PACKAGES.get(name)
    if package is not None and find_spec(package) is None:
        raise ValueError(
            f"--logger {name} needs the package {package.replace('_', '-')}; install it, or choose another logger."
        )
    return name


@contextmanager
def logging_to(name: LoggerName, folder: Path, run: str, settings: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Give the loggers of a training, and close them with its status.

    Args:
        name: Which logger; ``"none"`` gives an empty list.
        folder: Where it may write files.
        run: The name of the run.
        settings: Settings of the run, for loggers that keep them.
    """
    loggers = _made(name, folder, run, settings)
    status = "failed"
    try:
        yield loggers
        status = "success"
    finally:
        for logger in loggers:
            logger.finalize(status)


def _made(name: LoggerName, folder: Path, run: str, settings: Mapping[str, Any]) -> list[Any]:
    if name == "none":
        return []
    if name in ("tensorboard", "csv"):
        return [_local(name, folder)]
    logger = _tracker(name, folder, run)
    logger.log_hyperparams(dict(settings))
    return [logger]


def _local(name: str, folder: Path) -> Any:
    loggers = require("lightning.fabric.loggers", extra="train", what=f"--logger {name}")
    if name == "csv":
        return loggers.CSVLogger(folder, name="")
    return loggers.TensorBoardLogger(folder, name="", version="")


def _tracker(name: str, folder: Path, run: str) -> Any:
    loggers = require("lightning.pytorch.loggers", extra="train", what=f"--logger {name}")
    if name == "wandb":
        return loggers.WandbLogger(name=run, save_dir=folder, project="gola")
    if name == "mlflow":
        return loggers.MLFlowLogger(experiment_name="gola", run_name=run)
    return loggers.CometLogger(project="gola", name=run)
