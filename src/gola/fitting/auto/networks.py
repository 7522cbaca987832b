"""Whether networks are worth their time beside the closed forms of a choice, and the ensemble that is kept of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from gola.data.mirror import Mirror
from gola.data.sample import Sample
from gola.fitting.auto.budget import OutOfTime
from gola.fitting.auto.ensemble import NetworkEnsemble
from gola.fitting.auto.preprocessed import Predictions, PreprocessedSamples
from gola.fitting.auto.training_plans import EnsembleTrainer, TrainingPlan
from gola.fitting.auto.trial import Trial
from gola.fitting.configs import config_for
from gola.geometry.symmetry import Symmetry, domain_symmetries, largest_group
from gola.operators.spectral.spectral import SpectralConfig
from gola.operators.spectral.unlabelled_inputs import share_domain
from gola.operators.symmetry_test import not_refuted
from gola.registry import OPERATORS

# Networks are looked at after a small share of the steps. They are hopeless if their error then is this many times that
# of a closed form, where they correct nothing, or where they correct one.
_GLANCE, _HOPELESS, _HOPELESS_CORRECTION = 0.05, 6.0, 1.5
# Ways to train a network are compared by training for this share of the steps. It is given up if its error then is this
# many times that of a closed form,
_PROBE, _FAR_BEHIND = 0.2, 3.0
# or if it gains less than this share in a blend with closed forms, or less than the standard error of its gain: after
# these steps where it corrects one, or fully trained, on the first folds of the samples.
_LEAST_GAIN = 0.02
# Fewer waves than the spectral operator has by default: as accurate on Eikonal in half the time.
_NETWORK_MODES = {1: 32, 2: 8, 3: 4, 4: 2}
# Errors below this are those of rounding, of networks in single precision at least.
_NOTHING_LEFT = 1e-5
# So many networks, each without another fold, are trained before it is decided whether the others are.
_JUDGED_NETWORKS = 2
# A symmetry is tested on copies of so many samples, and a group of symmetries has at most so many elements.
_TESTED_SAMPLES = 32
_MOST_SYMMETRIES = 48
# How many times as large errors on these copies may be. With 1.5 false symmetries of the cooled plate pass.
_TOLERANCE = 1.15


def add_networks(trial: Trial, name: str) -> None:
    """Train an ensemble of networks, if there is time and the first ones are worth it.

    The first network is trained for a moment, and then shortly, and given up if it is far behind the closed forms;
    another one corrects what the best closed form predicts for held-out samples, and is given up unless it helps. Then
    networks are trained as shortly with a learned PDE residual, and on samples augmented by symmetries that the closed
    forms do not refute. The best plan is followed for all folds, unless it gains nothing beside the closed forms on the
    first two.
    """
    if trial.operators and float(trial.candidates.best(trial.operators)[1].mean()) < _NOTHING_LEFT:
        trial.remarks.append(f"Nothing is left for networks ({name}) to learn.")
        return
    try:
        trial.announce(f"probing {name}")
        Networks(trial=trial, name=name).add()
    except OutOfTime:
        trial.remarks.append(f"Networks ({name}) were given up when the time was over; more of it may help.")


@dataclass(kw_only=True, eq=False)
class Networks:
    """Networks of one kind, each of which is trained without another fold of the samples.

    Attributes:
        trial: The choice that they are tried for.
        name: The operator.
    """

    trial: Trial
    name: str

    def __post_init__(self) -> None:
        trial = self.trial
        self.bases = self._bases()
        self.samples = {
            base: PreprocessedSamples.of(
                trial.task.samples, trial.scaling, trial.preprocessing, trial.candidates.held_out.get(base)
            )
            for base in self.bases
        }
        self.trainer = self._trainer()

    def add(self) -> None:
        """Find the best way to train them, train them all, and add the ensemble to the candidates."""
        num_steps = self._affordable_steps()
        best = self._best_plan(num_steps) if num_steps else None
        if best is None:
            return
        trial = self.trial
        plans = [
            replace(best, name=f"{self.name}-{fold + 1}", fold=fold, num_steps=num_steps)
            for fold in range(len(trial.folds))
        ]
        trial.announce(f"training {len(plans)} networks {best.how}")
        first = self.trainer.trained(*plans[:_JUDGED_NETWORKS])
        seen = {row: values for _, found in first for row, values in found.items()}
        if not self._is_worth_it(seen):
            self._give_up(seen)
            return
        trial.remarks.append(f"Networks were trained {best.how}.")
        trained = [*first, *self.trainer.trained(*plans[_JUDGED_NETWORKS:])]
        ensemble = NetworkEnsemble(
            [network for network, _ in trained], num_channels=trial.config.num_channels, base=best.base
        )
        ensemble.preprocessing = trial.preprocessing
        ensemble.set_units(self.samples[best.base].scaling)
        trial.ensembles[self.name] = ensemble
        trial.candidates.held_out[self.name] = {row: values for _, found in trained for row, values in found.items()}
        trial.candidates.methods[self.name] = f"{len(trial.folds)}-fold"

    def _best_plan(self, num_steps: int) -> TrainingPlan | None:
        """Compare ways to train a network by training one shortly in each; None if none is worth it."""
        probe_steps, bases = math.ceil(_PROBE * num_steps), self.bases
        tried: dict[TrainingPlan, Predictions] = {}
        for suffix, steps, passes in (
            ("glance", math.ceil(_GLANCE * num_steps), self._has_hope),
            ("probe", probe_steps, self._is_promising),
        ):
            plans = [
                TrainingPlan(name=f"{self.name}-{suffix}{_suffix(base)}", fold=0, num_steps=steps, base=base)
                for base in bases
            ]
            found = self._tried(plans)
            tried = {plan: values for plan, values in found.items() if passes(plan.base, values)}
            if not tried:
                self._give_up(min(found.values(), key=self.trial.candidates.mean_error))
                return None
            bases = [plan.base for plan in tried]
        further = [plan for plan in self._plans(bases, probe_steps) if plan not in tried]
        self.trial.announce(f"training {self.name} in different ways")
        tried |= self._tried(further)
        return min(tried, key=lambda plan: self.trial.candidates.mean_error(tried[plan]))

    def _tried(self, plans: Sequence[TrainingPlan]) -> dict[TrainingPlan, Predictions]:
        return {plan: found for plan, (_, found) in zip(plans, self.trainer.trained(*plans), strict=True)}

    def _affordable_steps(self) -> int:
        """Return for how many steps each network can be trained in the time that is left."""
        trial, wanted = self.trial, self.trial.config.num_steps
        if trial.config.time_limit is None:
            return wanted
        pace = self.trainer.seconds_per_step() if trial.budget.left > 0.0 else math.inf
        seconds = pace * self.trainer.num_steps
        steps = trial.budget.num_steps(wanted, seconds)
        if not steps:
            need = f"take about {seconds:.0f} s" if math.isfinite(seconds) else "take minutes"
            trial.remarks.append(f"There was no time for networks ({self.name}), which {need} and may lower the error.")
        elif steps < wanted:
            trial.remarks.append(
                f"Networks were trained for {steps} of {wanted} steps; all of them take about {seconds:.0f} s and may"
                " lower the error."
            )
        return steps

    def _bases(self) -> list[str]:
        """Return what networks may correct: nothing or the best closed form."""
        if self.trial.config.corrections and self.trial.operators:
            return ["", self.trial.candidates.best(self.trial.operators)[0]]
        return [""]

    def _plans(self, bases: Sequence[str], num_steps: int) -> list[TrainingPlan]:
        """Return the ways to train a network that are worth a try."""
        trial, config = self.trial, self.trial.config
        plain = TrainingPlan(name=f"{self.name}-probe", fold=0, num_steps=num_steps)
        plans = [replace(plain, name=f"{plain.name}{_suffix(base)}", base=base) for base in bases]
        if "" not in bases:
            return plans
        shares = share_domain([trial.scaling.frame.encode(one.points) for one in trial.data])
        if config.residual_weight and config.num_inputs and shares:
            plans.append(replace(plain, name=f"{plain.name}-residual", residual_weight=config.residual_weight))
        if symmetries := self._symmetries():
            plans.append(replace(plain, name=f"{plain.name}-augmented", symmetries=symmetries))
        return plans

    def _symmetries(self) -> tuple[str, ...]:
        """Return symmetries of the domain that the best closed form does not refute."""
        trial, task = self.trial, self.trial.task
        mirror = Mirror.of(trial.scaling.frame, task.inputs, task.targets, task.parameters)
        if not trial.config.symmetries or not self._are_scalars(mirror):
            return ()
        points = [mirror.frame.encode(sample.points) for sample in task.samples]
        of_domain = domain_symmetries(points, has_time_axis=task.has_time_axis)
        likely = [symmetry for symmetry in of_domain if mirror.allows(symmetry)]
        if trial.operators:
            best, held_out = trial.candidates.best(trial.operators)
            count = len(task.samples)
            rows = np.linspace(0, count - 1, min(_TESTED_SAMPLES, count)).astype(int)
            errors = {
                symmetry: np.array([self._error_on(mirror.image(task.samples[row], symmetry), best) for row in rows])
                for symmetry in likely
            }
            likely = not_refuted(errors, held_out[rows], tolerance=_TOLERANCE)
        return _as_texts(likely, trial.config.dim)

    @torch.no_grad()
    def _error_on(self, sample: Sample, name: str) -> float:
        """Return the error of a fitted operator on another sample."""
        trial = self.trial
        cloud = trial.scaling.cloud(sample.points, sample.inputs, torch.float64, parameters=sample.parameters)
        cloud = trial.operators[name].prepare(cloud)
        return trial.candidates.error(trial.operators[name](cloud).numpy(), sample)

    def _are_scalars(self, mirror: Mirror) -> bool:
        """Whether no component of a vector is seen as its reciprocal or logarithm, which does not turn."""
        preprocessing = self.trial.preprocessing
        changed = (preprocessing.reciprocal | preprocessing.logarithm).tolist()
        names = (*mirror.inputs.names, *mirror.parameters.names)
        return not any(is_changed and axes for is_changed, (_, axes) in zip(changed, names, strict=False))

    def _trainer(self) -> EnsembleTrainer:
        trial, config = self.trial, self.trial.config
        num_ways = (config.residual_weight > 0) + config.symmetries + len(self.samples)
        few = _PROBE * num_ways + _GLANCE * len(self.samples)
        network = config_for(trial.data, self.name)
        if isinstance(network, SpectralConfig):
            fewer = min(network.largest_wave, _NETWORK_MODES[config.dim])
            network = replace(network, num_modes=config.num_modes or fewer)
        return EnsembleTrainer(
            kind=OPERATORS[self.name],
            config=network,
            samples=self.samples,
            folds=trial.folds,
            task=trial.task,
            num_steps=math.ceil(config.num_steps * (len(trial.folds) + few)),
            budget=trial.budget,
        )

    def _give_up(self, found: Predictions) -> None:
        candidates = self.trial.candidates
        error, best = candidates.mean_error(found), candidates.best_error(sorted(found))
        self.trial.remarks.append(
            f"A network ({self.name}), tried on {len(found)} of {len(self.trial.task.samples)} samples, did not help"
            f" ({error:.4f} there, a closed form {best:.4f})."
        )

    def _has_hope(self, base: str, found: Predictions) -> bool:
        """Whether a network that was hardly trained may become as good as closed forms."""
        return self._is_below(_HOPELESS_CORRECTION if base else _HOPELESS, found)

    def _is_promising(self, base: str, found: Predictions) -> bool:
        """Whether a network that was trained shortly is not far behind closed forms, or helps if it corrects one."""
        return self._is_worth_it(found) if base else self._is_below(_FAR_BEHIND, found)

    def _is_below(self, factor: float, found: Predictions) -> bool:
        """Whether the error is below so many times that of the best candidate."""
        candidates = self.trial.candidates
        if not candidates.held_out:
            return True
        return candidates.mean_error(found) < factor * candidates.best_error(sorted(found))

    def _is_worth_it(self, found: Predictions) -> bool:
        candidates = self.trial.candidates
        if not candidates.held_out:
            return True
        least = _LEAST_GAIN * candidates.best_error(sorted(found))
        return candidates.are_clear(candidates.gains(found), least)


def _suffix(base: str) -> str:
    return f"-on-{base}" if base else ""


def _as_texts(symmetries: Sequence[Symmetry], dim: int) -> tuple[str, ...]:
    """Return a large group among some symmetries as training takes it, without the identity."""
    return tuple(str(symmetry) for symmetry in largest_group(symmetries, dim, at_most=_MOST_SYMMETRIES)[1:])
