"""What an operator is fitted to and how: the task that every operator takes, whatever it is."""

from gola.protocol.progress import Epoch, Progress
from gola.protocol.session import Session
from gola.protocol.task import FitTask
from gola.protocol.training_config import TrainingConfig

__all__ = ["Epoch", "FitTask", "Progress", "Session", "TrainingConfig"]
