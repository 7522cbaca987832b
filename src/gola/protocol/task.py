"""The task of fitting an operator: samples, what is known of them, and how to go about it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from gola.data.correspondence import Correspondence
from gola.data.dataset import Dataset
from gola.data.periods import Periods
from gola.data.sample import Channel, Sample
from gola.protocol.progress import Epoch
from gola.protocol.session import Session
from gola.protocol.training_config import TrainingConfig

TrainFunction = Callable[..., list[Epoch]]


def _no_training(*_arguments: Any, **_options: Any) -> list[Epoch]:
    raise ValueError("This task offers no training; make it with gola.fitting.task_for, or fit with gola.fit.")


@dataclass(frozen=True, kw_only=True, eq=False)
class FitTask:
    """All that an operator may want to know when it is fitted.

    Attributes:
        samples: The training samples.
        inputs: Channels of the inputs.
        targets: Channels of the targets.
        parameters: Name and unit of each parameter.
        correspondence: How the points of one sample correspond to those of another.
        periods: The period along each axis in the units of the points, None for an axis that is not periodic; None
            where none is.
        has_time_axis: Whether the last coordinate of points is the time.
        training: How to train, for operators that are trained.
        seed: Random seed of everything that is random.
        session: How to run: devices, checkpoints, progress.
        provenance: Further facts that a state to resume from must agree with, for instance a fingerprint of the data.
        train: Trains an operator: ``train(operator, task, scaling)`` returns the finished epochs. The training loop
            lies above operators, so it is handed to them.
    """

    samples: Sequence[Sample]
    inputs: tuple[Channel, ...]
    targets: tuple[Channel, ...]
    parameters: tuple[Channel, ...] = ()
    correspondence: Correspondence = "none"
    periods: Periods | None = None
    has_time_axis: bool = False
    training: TrainingConfig = field(default_factory=TrainingConfig)
    seed: int = 0
    session: Session = field(default_factory=Session)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    train: TrainFunction = _no_training

    @staticmethod
    def of(data: Dataset, **settings: Any) -> "FitTask":
        """Make the task of fitting to all samples of a data set."""
        known = ("inputs", "targets", "parameters", "correspondence", "periods", "has_time_axis")
        about = {name: getattr(data, name) for name in known}
        return FitTask(samples=tuple(data), **about, **settings)

    @cached_property
    def num_fields(self) -> int:
        """Number of input channels that are functions: not constant within every sample."""
        varies = [np.ptp(sample.inputs, axis=0) > 0 for sample in self.samples]
        return int(np.any(varies, axis=0).sum())

    def select(self, rows: Sequence[int]) -> "FitTask":
        """Return the task of fitting to some of the samples."""
        return replace(self, samples=[self.samples[row] for row in rows])
