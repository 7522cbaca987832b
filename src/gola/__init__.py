"""Operator learning from few simulations on scattered points."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gola.data.cloud import Cloud
    from gola.data.dataset import Dataset
    from gola.data.sample import Channel, Sample
    from gola.generation import generate
    from gola.problems import make_problem

_HOMES = {
    "Channel": "gola.data.sample",
    "Cloud": "gola.data.cloud",
    "Dataset": "gola.data.dataset",
    "Sample": "gola.data.sample",
    "generate": "gola.generation",
    "make_problem": "gola.problems",
}

__all__ = ["Channel", "Cloud", "Dataset", "Sample", "generate", "make_problem"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: a worker that solves equations need not wait for PyTorch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'gola' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
