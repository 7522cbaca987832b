"""The automatic choice without what is trained: for studies that fit many times."""

from gola.data.dataset import Dataset
from gola.fitting.auto.auto import AutoConfig
from gola.fitting.configs import config_for
from gola.operators.operator import OperatorConfig
from gola.registry import OPERATORS


def quick_operator(data: Dataset) -> OperatorConfig:
    """Return the automatic choice among operators that need no training."""
    members = tuple(name for name in AutoConfig().members if OPERATORS[name].holds_out)
    return config_for(data, "auto", members=members)
