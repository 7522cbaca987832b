"""The operator that studies of many fits use: the quickest that suits the data."""

from gola.data.dataset import Dataset
from gola.protocol import FitTask
from gola.registry import OPERATORS


def quickest(data: Dataset) -> str:
    """Return the name of a Gaussian process: of parameters and moved nodes, or of input functions."""
    return "pod_gp" if OPERATORS["pod_gp"].is_worth_trying(FitTask.of(data)) else "kernel"
