"""Operators: maps between functions known at scattered points, all behind one interface."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gola.operators.baselines.deeponet import DeepONet, DeepONetConfig
    from gola.operators.baselines.fno import Fno, FnoConfig
    from gola.operators.baselines.gcn import Gcn, GcnConfig
    from gola.operators.baselines.gkn import Gkn, GknConfig
    from gola.operators.closed_form.closed_form import ClosedForm, ClosedFormConfig
    from gola.operators.closed_form.kernel import Kernel, KernelConfig
    from gola.operators.closed_form.mean import Mean, MeanConfig
    from gola.operators.closed_form.morphed_gp import MorphedGp, MorphedGpConfig
    from gola.operators.closed_form.nearest import Nearest, NearestConfig
    from gola.operators.closed_form.periodic_kernel import PeriodicKernel, PeriodicKernelConfig
    from gola.operators.closed_form.pod_gp import PodGp, PodGpConfig
    from gola.operators.closed_form.pod_rbf import PodRbf, PodRbfConfig
    from gola.operators.cloud import Cloud
    from gola.operators.fitted_evolution.fitted_evolution import FittedEvolution, FittedEvolutionConfig
    from gola.operators.fitted_pde.fitted_pde import FittedPde, FittedPdeConfig
    from gola.operators.gola.gola import Gola, GolaConfig
    from gola.operators.linear.linear import Linear, LinearConfig
    from gola.operators.multi_fidelity import MultiFidelity, MultiFidelityConfig
    from gola.operators.operator import FitResult, HeldOut, Network, Operator, OperatorConfig
    from gola.operators.queries import Queries
    from gola.operators.spectral.spectral import Spectral, SpectralConfig

_HOMES = {
    "ClosedForm": "closed_form.closed_form",
    "ClosedFormConfig": "closed_form.closed_form",
    "Cloud": "cloud",
    "DeepONet": "baselines.deeponet",
    "DeepONetConfig": "baselines.deeponet",
    "FitResult": "operator",
    "FittedEvolution": "fitted_evolution.fitted_evolution",
    "FittedEvolutionConfig": "fitted_evolution.fitted_evolution",
    "FittedPde": "fitted_pde.fitted_pde",
    "FittedPdeConfig": "fitted_pde.fitted_pde",
    "Fno": "baselines.fno",
    "FnoConfig": "baselines.fno",
    "Gcn": "baselines.gcn",
    "GcnConfig": "baselines.gcn",
    "Gkn": "baselines.gkn",
    "GknConfig": "baselines.gkn",
    "Gola": "gola.gola",
    "GolaConfig": "gola.gola",
    "HeldOut": "operator",
    "Kernel": "closed_form.kernel",
    "KernelConfig": "closed_form.kernel",
    "Linear": "linear.linear",
    "LinearConfig": "linear.linear",
    "Mean": "closed_form.mean",
    "MeanConfig": "closed_form.mean",
    "MorphedGp": "closed_form.morphed_gp",
    "MorphedGpConfig": "closed_form.morphed_gp",
    "MultiFidelity": "multi_fidelity",
    "MultiFidelityConfig": "multi_fidelity",
    "Nearest": "closed_form.nearest",
    "NearestConfig": "closed_form.nearest",
    "Network": "operator",
    "Operator": "operator",
    "OperatorConfig": "operator",
    "PeriodicKernel": "closed_form.periodic_kernel",
    "PeriodicKernelConfig": "closed_form.periodic_kernel",
    "PodGp": "closed_form.pod_gp",
    "PodGpConfig": "closed_form.pod_gp",
    "PodRbf": "closed_form.pod_rbf",
    "PodRbfConfig": "closed_form.pod_rbf",
    "Queries": "queries",
    "Spectral": "spectral.spectral",
    "SpectralConfig": "spectral.spectral",
}

__all__ = [
    "ClosedForm",
    "ClosedFormConfig",
    "Cloud",
    "DeepONet",
    "DeepONetConfig",
    "FitResult",
    "FittedEvolution",
    "FittedEvolutionConfig",
    "FittedPde",
    "FittedPdeConfig",
    "Fno",
    "FnoConfig",
    "Gcn",
    "GcnConfig",
    "Gkn",
    "GknConfig",
    "Gola",
    "GolaConfig",
    "HeldOut",
    "Kernel",
    "KernelConfig",
    "Linear",
    "LinearConfig",
    "Mean",
    "MeanConfig",
    "MorphedGp",
    "MorphedGpConfig",
    "MultiFidelity",
    "MultiFidelityConfig",
    "Nearest",
    "NearestConfig",
    "Network",
    "Operator",
    "OperatorConfig",
    "PeriodicKernel",
    "PeriodicKernelConfig",
    "PodGp",
    "PodGpConfig",
    "PodRbf",
    "PodRbfConfig",
    "Queries",
    "Spectral",
    "SpectralConfig",
]


def __getattr__(name: str) -> Any:
    """Import an operator when it is first asked for: each brings what it needs, and most programs need few."""
    if name not in _HOMES:
        raise AttributeError(f"module 'gola.operators' has no attribute {name!r}")
    return getattr(import_module(f"gola.operators.{_HOMES[name]}"), name)
