"""Fit network operators to samples: resumable, on one device or many."""

from gola.training.checkpoint import discard_checkpoint
from gola.training.config import TrainingConfig
from gola.training.loop import train
from gola.training.progress import Epoch, Progress
from gola.training.session import Session

__all__ = ["Epoch", "Progress", "Session", "TrainingConfig", "discard_checkpoint", "train"]
