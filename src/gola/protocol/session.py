"""How a training run is carried out: this decides its speed and its reports and, up to rounding, not its result."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import torch

from gola.protocol.progress import Progress

Precision = Literal["32-true", "bf16-mixed", "16-mixed"]


@runtime_checkable
class Logger(Protocol):
    """What a logger has to offer; Lightning's loggers do."""

    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        """Record numbers."""


@dataclass(frozen=True, kw_only=True)
class Session:
    """Devices, checkpoints, loggers and callbacks of a training run.

    Attributes:
        folder: Where to save the state of the training run every few seconds; nowhere by default. The last state stays
            there, so that nothing is lost before the result is saved; :func:`discard_checkpoint` removes it.
        resume: Whether to continue from the state in the folder, if there is one.
        checkpoint_seconds: Time between two states.
        accelerator: ``"cpu"`` or ``"cuda"``; None for CUDA where there is any.
        devices: Processes per machine, each with a device of its own; they share the samples of every batch.
        num_nodes: Machines.
        num_workers: Processes on this machine that the automatic choice fits its candidates in, side by side.
        scheduler: Address of a Dask scheduler whose workers fit them instead, for instance ``tcp://host:8786``.
        precision: Of the arithmetic; None for ``"bf16-mixed"`` where the device is made for it, else ``"32-true"``.
        loggers: Lightning's, or anything with their ``log_metrics``; called after every epoch.
        on_progress: Called after every step, in the first process.
        on_stage: Called with a few words when a part of the fit begins: which operator is fitted, what is known so far.
        stop: Asked after every step, in every process. If any says yes, the state is saved, and all end with a
            ``KeyboardInterrupt``.
    """

    folder: Path | None = None
    resume: bool = False
    checkpoint_seconds: float = 10.0
    accelerator: Literal["cpu", "cuda"] | None = None
    devices: int = 1
    num_nodes: int = 1
    num_workers: int = 1
    scheduler: str | None = None
    precision: Precision | None = None
    loggers: Sequence[Logger] = ()
    on_progress: Callable[[Progress], object] = lambda _: None
    on_stage: Callable[[str], object] = lambda _: None
    stop: Callable[[], bool] = lambda: False

    def __post_init__(self) -> None:
        for name in ("devices", "num_nodes", "num_workers"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1; got {getattr(self, name)}.")
        if not self.checkpoint_seconds >= 0:
            raise ValueError(f"checkpoint_seconds must not be negative; got {self.checkpoint_seconds}.")
        if self.accelerator == "cuda" and not torch.cuda.is_available():
            raise ValueError("accelerator is 'cuda' and PyTorch finds no CUDA device; leave it out to use the CPU.")
        if self.precision == "16-mixed" and (self.accelerator == "cpu" or not torch.cuda.is_available()):
            raise ValueError("precision '16-mixed' needs a CUDA device; use 'bf16-mixed' on the CPU.")

    @property
    def has_workers(self) -> bool:
        """Whether there are other processes to fit candidates in."""
        return self.num_workers > 1 or self.scheduler is not None

    @property
    def is_first_process(self) -> bool:
        """Whether this process, of those that train together, is the one that writes files and reports."""
        if self.devices * self.num_nodes == 1:
            return True
        # torchrun numbers all processes, Lightning those of each machine, SLURM again all.
        if "RANK" in os.environ:
            return os.environ["RANK"] == "0"
        if "LOCAL_RANK" in os.environ or "NODE_RANK" in os.environ:
            return os.environ.get("LOCAL_RANK", "0") == "0" and os.environ.get("NODE_RANK", "0") == "0"
        return os.environ.get("SLURM_PROCID", "0") == "0"
