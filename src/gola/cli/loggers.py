"""Lightning's loggers by name."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

LoggerName = Literal["tensorboard", "csv", "wandb", "mlflow", "comet", "none"]


_PACKAGES = {"tensorboard": "tensorboard", "wandb": "wandb", "mlflow": "mlflow", "comet": "comet_ml"}


def require_logger(name: LoggerName) -> None:
    """Check that the package of a logger is installed."""
    package = _PACKAGES.get(name)
    if package is not None and find_spec(package) is None:
        raise ValueError(
            f"--logger {name} needs the package {package.replace('_', '-')}; install it, or choose another."
        )


def make_loggers(name: LoggerName, folder: Path, run: str, settings: Mapping[str, Any]) -> list[Any]:
    """Return the logger of a name, told of the settings where it keeps such; none for ``"none"``.

    Args:
        name: Which.
        folder: Where it may write files.
        run: What to call the run.
        settings: Of the run.
    """
    if name == "none":
        return []
    if name in ("tensorboard", "csv"):
        return [_local(name, folder)]
    logger = _tracker(name, folder, run)
    logger.log_hyperparams(dict(settings))
    return [logger]


def _local(name: str, folder: Path) -> Any:
    from lightning.fabric.loggers.csv_logs import CSVLogger  # takes its time to import
    from lightning.fabric.loggers.tensorboard import TensorBoardLogger

    if name == "csv":
        return CSVLogger(folder, name="")
    return TensorBoardLogger(folder, name="", version="")


def _tracker(name: str, folder: Path, run: str) -> Any:
    from lightning.pytorch import loggers  # takes its time to import

    if name == "wandb":
        return loggers.WandbLogger(name=run, save_dir=folder, project="gola")
    if name == "mlflow":
        return loggers.MLFlowLogger(experiment_name="gola", run_name=run)
    return loggers.CometLogger(project="gola", name=run)
