"""Operator learning from few simulations on scattered points."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gola.data.cloud import Cloud
    from gola.data.dataset import Dataset
    from gola.data.sample import Channel, Sample
    from gola.evaluation import evaluate
    from gola.fitting import fit
    from gola.generation import generate
    from gola.problems import make_problem
    from gola.surrogate import Surrogate
    from gola.training import TrainingConfig

_HOMES = {
    "Channel": "gola.data.sample",
    "Cloud": "gola.data.cloud",
    "Dataset": "gola.data.dataset",
    "Sample": "gola.data.sample",
    "Surrogate": "gola.surrogate",
    "TrainingConfig": "gola.training",
    "evaluate": "gola.evaluation",
    "fit": "gola.fitting",
    "generate": "gola.generation",
    "make_problem": "gola.problems",
}

__all__ = [
    "Channel",
    "Cloud",
    "Dataset",
    "Sample",
    "Surrogate",
    "TrainingConfig",
    "evaluate",
    "fit",
    "generate",
    "make_problem",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: a worker that solves equations need not wait for PyTorch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'gola' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
