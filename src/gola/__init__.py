"""Operator learning from few simulations on points and meshes."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gola.data.dataset import Dataset
    from gola.data.sample import Channel, Sample
    from gola.operators.cloud import Cloud
    from gola.problems import make_problem
    from gola.problems.generation import generate
    from gola.protocol import TrainingConfig
    from gola.registry import (
        register_metric,
        register_operator,
        register_problem,
        register_reader,
        register_writer,
    )
    from gola.surrogate.calibration_study import calibration
    from gola.surrogate.evaluation import evaluate
    from gola.surrogate.fit import fit
    from gola.surrogate.learning_curve import learning_curve
    from gola.surrogate.surrogate import Surrogate

_HOMES = {
    "Channel": "gola.data.sample",
    "Cloud": "gola.operators.cloud",
    "Dataset": "gola.data.dataset",
    "Sample": "gola.data.sample",
    "Surrogate": "gola.surrogate.surrogate",
    "TrainingConfig": "gola.protocol",
    "calibration": "gola.surrogate.calibration_study",
    "evaluate": "gola.surrogate.evaluation",
    "fit": "gola.surrogate.fit",
    "generate": "gola.problems.generation",
    "learning_curve": "gola.surrogate.learning_curve",
    "make_problem": "gola.problems",
    "register_metric": "gola.registry",
    "register_operator": "gola.registry",
    "register_problem": "gola.registry",
    "register_reader": "gola.registry",
    "register_writer": "gola.registry",
}

__all__ = [
    "Channel",
    "Cloud",
    "Dataset",
    "Sample",
    "Surrogate",
    "TrainingConfig",
    "calibration",
    "evaluate",
    "fit",
    "generate",
    "learning_curve",
    "make_problem",
    "register_metric",
    "register_operator",
    "register_problem",
    "register_reader",
    "register_writer",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: a worker that solves equations need not wait for PyTorch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'gola' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
