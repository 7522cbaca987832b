"""Operators: maps between functions known at scattered points, all behind one interface."""

from gola.operators.auto import Auto, AutoConfig
from gola.operators.closed_form import (
    ClosedForm,
    ClosedFormConfig,
    Kernel,
    KernelConfig,
    Linear,
    LinearConfig,
    Mean,
    MeanConfig,
    Nearest,
    NearestConfig,
    PodRbf,
    PodRbfConfig,
)
from gola.operators.deeponet import DeepONet, DeepONetConfig
from gola.operators.fno import Fno, FnoConfig
from gola.operators.gcn import Gcn, GcnConfig
from gola.operators.gkn import Gkn, GknConfig
from gola.operators.gola import Gola, GolaConfig
from gola.operators.operator import Operator, OperatorConfig
from gola.operators.queries import Queries
from gola.operators.spectral import Spectral, SpectralConfig

OPERATORS: dict[str, type[Operator]] = {
    operator.name: operator
    for operator in (Auto, Gola, Spectral, Gkn, Gcn, Fno, DeepONet, Linear, Kernel, PodRbf, Nearest, Mean)
}

__all__ = [
    "OPERATORS",
    "Auto",
    "AutoConfig",
    "ClosedForm",
    "ClosedFormConfig",
    "DeepONet",
    "DeepONetConfig",
    "Fno",
    "FnoConfig",
    "Gcn",
    "GcnConfig",
    "Gkn",
    "GknConfig",
    "Gola",
    "GolaConfig",
    "Kernel",
    "KernelConfig",
    "Linear",
    "LinearConfig",
    "Mean",
    "MeanConfig",
    "Nearest",
    "NearestConfig",
    "Operator",
    "OperatorConfig",
    "PodRbf",
    "PodRbfConfig",
    "Queries",
    "Spectral",
    "SpectralConfig",
]
