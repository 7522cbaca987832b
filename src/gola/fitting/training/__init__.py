"""Train network operators on samples: resumable, on one device or many."""

from gola.fitting.training.checkpoint import discard_checkpoint
from gola.fitting.training.loop import train

__all__ = ["discard_checkpoint", "train"]
