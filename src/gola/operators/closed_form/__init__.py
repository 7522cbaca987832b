"""Operators that a few matrix decompositions fit: baselines that are hard to beat."""

from gola.operators.closed_form.closed_form import ClosedForm, ClosedFormConfig
from gola.operators.closed_form.kernel import Kernel, KernelConfig
from gola.operators.closed_form.linear import Linear, LinearConfig
from gola.operators.closed_form.mean import Mean
from gola.operators.closed_form.nearest import Nearest, NearestConfig
from gola.operators.closed_form.pod_rbf import PodRbf

CLOSED_FORM_OPERATORS: dict[str, type[ClosedForm]] = {
    operator.name: operator for operator in (Mean, Nearest, Linear, Kernel, PodRbf)
}

__all__ = [
    "CLOSED_FORM_OPERATORS",
    "ClosedForm",
    "ClosedFormConfig",
    "Kernel",
    "KernelConfig",
    "Linear",
    "LinearConfig",
    "Mean",
    "Nearest",
    "NearestConfig",
    "PodRbf",
]
