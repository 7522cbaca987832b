"""Fit network operators to samples: resumable, on one device or many."""

from gola.training.compute import Compute, is_first_process
from gola.training.config import TrainingConfig
from gola.training.loop import Logger, train
from gola.training.progress import Epoch, Progress

__all__ = ["Compute", "Epoch", "Logger", "Progress", "TrainingConfig", "is_first_process", "train"]
