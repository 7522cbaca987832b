"""A choice in the making: what was tried, how long it may take, and what is known of it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gola.data.dataset import Dataset
from gola.fitting.auto.budget import Budget
from gola.fitting.auto.candidates import Candidates
from gola.fitting.auto.ensemble import NetworkEnsemble
from gola.fitting.auto.kept_fit import KeptFit
from gola.fitting.auto.side_by_side import UNFIT, fit_candidate, fitted_side_by_side
from gola.fitting.configs import config_for
from gola.operators.closed_form.preprocessing import Preprocessing
from gola.operators.operator import FitResult, Operator, OperatorConfig
from gola.operators.scaling import Scaling
from gola.protocol import FitTask
from gola.registry import OPERATORS

if TYPE_CHECKING:
    from gola.fitting.auto.auto import AutoConfig


@dataclass(kw_only=True, eq=False)
class Trial:
    """What is tried, and what is known of it so far.

    Attributes:
        config: What to choose from.
        task: The training samples, and how to run.
        operators: Fitted operators by name.
        ensembles: Trained ensembles of networks by name.
        remarks: What to say of it in the end.
        failures: Why operators could not be fitted.
        representation_errors: How far off solutions are as operators express them, by name.
        slowest: Seconds that the slowest fit took, of those that were done one after the other.
    """

    config: "AutoConfig"
    task: FitTask
    operators: dict[str, Operator] = field(default_factory=dict)
    ensembles: dict[str, NetworkEnsemble] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    representation_errors: dict[str, float] = field(default_factory=dict)
    slowest: float = 0.0

    def __post_init__(self) -> None:
        self.budget = Budget(seconds=self.config.time_limit)
        samples = self.task.samples
        known = ("inputs", "targets", "parameters", "correspondence", "periods", "has_time_axis")
        about = {name: getattr(self.task, name) for name in known}
        self.data = Dataset(samples=tuple(samples), **about)
        self.scaling = Scaling.fit(samples, normalised=False)
        self.preprocessing = Preprocessing(self.config.num_channels)
        count = min(self.config.num_networks, len(samples))
        self.folds = np.array_split(np.random.default_rng(self.task.seed).permutation(len(samples)), count)
        self.candidates = Candidates(samples=samples, scale=np.array(self.scaling.targets.scale))

    def has_time_for(self, name: str) -> bool:
        """Whether another operator may be fitted; the first one always."""
        if not self.candidates.held_out or self.budget.allows_another_fit(self.slowest):
            return True
        self.remarks.append(f"There was no time left for {name}.")
        return False

    def try_operators(self, names: Sequence[str]) -> None:
        """Fit operators to all samples, one after the other or, where there are workers, side by side."""
        if self.task.session.has_workers and self.budget.seconds is None:
            fits = self._fitted_side_by_side(names)
            for name in names:
                self.try_operator(name, fits[name])
            return
        for name in names:
            if self.has_time_for(name):
                self.announce(f"fitting {name}")
                began = time.monotonic()
                self.try_operator(name, self._fitted(name))
                self.slowest = max(self.slowest, time.monotonic() - began)

    def try_operator(self, name: str, found: FitResult | Exception) -> None:
        """Add an operator; one that could not be fitted to the samples is left out, and the reason kept."""
        try:
            self.add_operator(name, found)
        except UNFIT as error:
            self.failures.append(error)
            self.remarks.append(f"{name} could not be fitted: {str(error).rstrip('.')}.")

    def add_operator(self, name: str, result: FitResult | Exception) -> None:
        """Add an operator that was fitted to all samples, with its held-out predictions."""
        if isinstance(result, Exception):
            raise result
        assert result.held_out is not None
        if not all(np.isfinite(found).all() for found in result.held_out.predictions):
            raise ValueError("its predictions of held-out samples are not finite")
        if result.operator.normalised:
            ensemble = NetworkEnsemble([result.operator], num_channels=self.config.num_channels)
            ensemble.set_units(result.scaling)
            self.ensembles[name] = ensemble
        else:
            self.operators[name] = result.operator
        self.candidates.held_out[name] = dict(enumerate(result.held_out.predictions))
        self.candidates.methods[name] = result.held_out.method
        self.representation_errors[name] = result.details.get("representation_error", 0.0)
        if isinstance(found := result.operator.preprocessing(), Preprocessing):
            self.preprocessing = found

    def _fitted(self, name: str) -> FitResult | Exception:
        """Fit an operator, or take it from an earlier call that was interrupted; return why it cannot be fitted."""
        try:
            known = self._known(name)
            return self._keep(name, fit_candidate(*self._candidate(name), self.task)) if known is None else known
        except UNFIT as error:
            return error

    def _fitted_side_by_side(self, names: Sequence[str]) -> dict[str, FitResult | Exception]:
        """Return the same for several operators."""
        found: dict[str, FitResult | Exception] = {}
        candidates = {}
        for name in names:
            try:
                if (known := self._known(name)) is None:
                    candidates[name] = self._candidate(name)
                else:
                    found[name] = known
            except UNFIT as error:
                found[name] = error
        self.announce(f"fitting {', '.join(candidates)}")
        for name, result in fitted_side_by_side(candidates, self.task):
            found[name] = self._keep(name, result) if isinstance(result, FitResult) else result
        return found

    def _candidate(self, name: str) -> tuple[type[Operator], OperatorConfig]:
        return OPERATORS[name], config_for(self.data, name)

    def _known(self, name: str) -> FitResult | None:
        """Return what an earlier call that was interrupted kept of an operator."""
        kind, config = self._candidate(name)
        return self._kept(name).load(kind(config)) if self.task.session.resume else None

    def _keep(self, name: str, result: FitResult) -> FitResult:
        self._kept(name).save(result)
        return result

    def _kept(self, name: str) -> KeptFit:
        folder, (_, config) = self.task.session.folder, self._candidate(name)
        return KeptFit(
            folder=None if folder is None else folder / name,
            settings={"operator": name, "seed": self.task.seed, **config.to_dict(), **self.task.provenance},
        )

    def announce(self, stage: str) -> None:
        """Say what begins, and the errors that are known so far."""
        known = [f"{name} {self.candidates.mean_error(found):.4f}" for name, found in self.candidates.held_out.items()]
        self.task.session.on_stage("; ".join([stage, *([f"held-out errors: {', '.join(known)}"] if known else [])]))
