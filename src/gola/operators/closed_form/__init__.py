"""Operators that a few matrix decompositions fit: baselines that are hard to beat."""

from gola.operators.closed_form.closed_form import ClosedForm, ClosedFormConfig
from gola.operators.closed_form.kernel import Kernel, KernelConfig
from gola.operators.closed_form.linear import Linear, LinearConfig
from gola.operators.closed_form.mean import Mean, MeanConfig
from gola.operators.closed_form.nearest import Nearest, NearestConfig
from gola.operators.closed_form.pod_rbf import PodRbf, PodRbfConfig

__all__ = [
    "ClosedForm",
    "ClosedFormConfig",
    "Kernel",
    "KernelConfig",
    "Linear",
    "LinearConfig",
    "Mean",
    "MeanConfig",
    "Nearest",
    "NearestConfig",
    "PodRbf",
    "PodRbfConfig",
]
