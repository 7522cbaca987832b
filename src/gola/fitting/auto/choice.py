"""Choose among closed forms, ensembles of networks and their blend, on the training samples alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from gola.data.dataset import Dataset
from gola.data.mirror import Mirror
from gola.data.sample import Sample
from gola.fitting.auto.budget import Budget, OutOfTime
from gola.fitting.auto.candidates import Candidates, Choice
from gola.fitting.auto.channel_groups import channel_groups
from gola.fitting.auto.ensemble import NetworkEnsemble
from gola.fitting.auto.kept_fit import KeptFit
from gola.fitting.auto.preprocessed import Predictions, PreprocessedSamples
from gola.fitting.auto.side_by_side import UNFIT, fit_candidate, fitted_side_by_side
from gola.fitting.auto.training_plans import EnsembleTrainer, TrainingPlan
from gola.fitting.configs import config_for
from gola.geometry.symmetry import Symmetry, domain_symmetries, largest_group
from gola.operators.closed_form.preprocessing import Preprocessing
from gola.operators.operator import FitResult, HeldOut, Operator, OperatorConfig
from gola.operators.scaling import Scaling
from gola.operators.spectral.unlabelled_inputs import share_domain
from gola.operators.symmetry_test import not_refuted
from gola.protocol import FitTask
from gola.registry import OPERATORS

if TYPE_CHECKING:
    from gola.fitting.auto.auto import AutoConfig

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
# Solutions that are expressed with a smaller error are expressed exactly.
_EXACT = 1e-6
# How many times as large errors on these copies may be. With 1.5 false symmetries of the cooled plate pass.
_TOLERANCE = 1.15


@dataclass(frozen=True, kw_only=True, eq=False)
class Chosen:
    """What an automatic choice keeps.

    Attributes:
        operators: Fitted operators by name: members, and those that ensembles correct.
        ensembles: Trained ensembles by name.
        weights: Of each member in the prediction.
        scaling: In the units of the data.
        held_out: Predictions of the training samples, each by members that have not seen it.
        choice: What was chosen, and why.
    """

    operators: dict[str, Operator]
    ensembles: dict[str, NetworkEnsemble]
    weights: dict[str, float]
    scaling: Scaling
    held_out: HeldOut
    choice: Choice


def choose(config: "AutoConfig", task: FitTask) -> Chosen | list[tuple[int, ...]]:
    """Fit all candidates, and keep what predicts held-out samples best.

    Where closed forms predict some target channels far better than others, groups of channels are returned instead:
    they had better be chosen for apart.

    A closed form gives its leave-one-out predictions by itself. Networks are trained without one fold of the samples
    each. The first is trained for a moment, and then shortly, and given up if it is far behind the closed forms;
    another one corrects what the best closed form predicts for held-out samples, and is given up unless it helps. Then
    networks are trained as shortly with a learned PDE residual, and on samples augmented by symmetries that the closed
    forms do not refute. The best plan is followed for all folds, unless it gains nothing beside the closed forms on the
    first two. Weights of a blend are judged on samples that had no say in them. The blend is taken if it is better than
    the best single candidate by more than the standard error of the difference.

    Where the time is limited, operators that do not fit in are left out, and networks are trained for fewer steps; the
    reason says what more time might bring.

    Args:
        config: What to choose from.
        task: The training samples, and how to run.
    """
    if task.session.devices * task.session.num_nodes > 1:
        raise ValueError("The automatic choice trains on one device; name an operator, like 'gola', to use several.")
    trial = _Trial(config=config, task=task)
    every = {name: OPERATORS[name] for name in config.members}
    fitting = {name: kind for name, kind in every.items() if config.dim <= kind.config_type.largest_dim} or every
    kinds = {name: kind for name, kind in fitting.items() if kind.is_worth_trying(task)} or fitting
    trial.try_operators([name for name, kind in kinds.items() if kind.holds_out])
    groups = trial.groups()
    if len(groups) > 1:
        return groups
    for name, kind in kinds.items():
        if not kind.holds_out:
            trial.add_networks(name)
    return trial.conclude()


@dataclass(kw_only=True, eq=False)
class _Trial:
    """A choice in the making: fits and trains what there is to choose from, and compares it."""

    config: "AutoConfig"
    task: FitTask
    operators: dict[str, Operator] = field(default_factory=dict)
    ensembles: dict[str, NetworkEnsemble] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)

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
        if not self.candidates.held_out or self.budget.allows_another_fit:
            return True
        self.remarks.append(f"There was no time left for {name}.")
        return False

    def try_operators(self, names: Sequence[str]) -> None:
        """Fit operators to all samples, one after the other or, where there are workers, side by side."""
        if self.task.session.has_workers:
            fits = self._fitted_side_by_side(names)
            for name in names:
                self.try_operator(name, fits[name])
            return
        for name in names:
            if self.has_time_for(name):
                self._announce(f"fitting {name}")
                self.try_operator(name, self._fitted(name))

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
        self._announce(f"fitting {', '.join(candidates)}")
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

    def groups(self) -> list[tuple[int, ...]]:
        """Return groups of target channels that are about as hard to predict."""
        if not self.operators or len(self.task.targets) == 1:
            return [tuple(range(len(self.task.targets)))]
        best, _ = self.candidates.best(self.operators)
        if self.operators[best].relates_targets:
            return [tuple(range(len(self.task.targets)))]
        return channel_groups(self.candidates.channel_errors(best), self.task.targets)

    def add_networks(self, name: str) -> None:
        """Train an ensemble, if there is time and its first network is worth it."""
        if self.operators and float(self.candidates.best(self.operators)[1].mean()) < _NOTHING_LEFT:
            self.remarks.append(f"Nothing is left for networks ({name}) to learn.")
            return
        try:
            self._add_networks(name)
        except OutOfTime:
            self.remarks.append(f"Networks ({name}) were given up when the time was over; more of it may help.")

    def _affordable_steps(self, name: str, trainer: EnsembleTrainer) -> int:
        """Return for how many steps each network can be trained in the time that is left."""
        wanted = self.config.num_steps
        if self.config.time_limit is None:
            return wanted
        pace = trainer.seconds_per_step() if self.budget.left > 0.0 else math.inf
        seconds = pace * trainer.num_steps
        steps = self.budget.num_steps(wanted, seconds)
        if not steps:
            need = f"take about {seconds:.0f} s" if math.isfinite(seconds) else "take minutes"
            self.remarks.append(f"There was no time for networks ({name}), which {need} and may lower the error.")
        elif steps < wanted:
            self.remarks.append(
                f"Networks were trained for {steps} of {wanted} steps; all of them take about {seconds:.0f} s and may"
                " lower the error."
            )
        return steps

    def _add_networks(self, name: str) -> None:
        self._announce(f"probing {name}")
        bases = self._bases()
        held_out = self.candidates.held_out
        samples = {
            base: PreprocessedSamples.of(self.task.samples, self.scaling, self.preprocessing, held_out.get(base))
            for base in bases
        }
        trainer = self._trainer(name, samples)
        num_steps = self._affordable_steps(name, trainer)
        if not num_steps:
            return
        probe_steps, trials = math.ceil(_PROBE * num_steps), {}
        for suffix, steps, passes in (
            ("glance", math.ceil(_GLANCE * num_steps), self._has_hope),
            ("probe", probe_steps, self._is_promising),
        ):
            plans = [
                TrainingPlan(name=f"{name}-{suffix}{_suffix(base)}", fold=0, num_steps=steps, base=base)
                for base in bases
            ]
            tried = {plan: found for plan, (_, found) in zip(plans, trainer.trained(*plans), strict=True)}
            trials = {plan: found for plan, found in tried.items() if passes(plan.base, found)}
            if not trials:
                self._give_up(name, min(tried.values(), key=self.candidates.mean_error))
                return
            bases = [plan.base for plan in trials]
        further = [plan for plan in self._plans(name, bases, probe_steps) if plan not in trials]
        self._announce(f"training {name} in different ways")
        trials |= {plan: found for plan, (_, found) in zip(further, trainer.trained(*further), strict=True)}
        best = min(trials, key=lambda plan: self.candidates.mean_error(trials[plan]))
        plans = [
            replace(best, name=f"{name}-{fold + 1}", fold=fold, num_steps=num_steps) for fold in range(len(self.folds))
        ]
        self._announce(f"training {len(plans)} networks {best.how}")
        first = trainer.trained(*plans[:_JUDGED_NETWORKS])
        seen = {row: values for _, found in first for row, values in found.items()}
        if not self._is_worth_it(seen):
            self._give_up(name, seen)
            return
        self.remarks.append(f"Networks were trained {best.how}.")
        trained = [*first, *trainer.trained(*plans[_JUDGED_NETWORKS:])]
        ensemble = NetworkEnsemble(
            [network for network, _ in trained], num_channels=self.config.num_channels, base=best.base
        )
        ensemble.preprocessing = self.preprocessing
        ensemble.set_units(samples[best.base].scaling)
        self.ensembles[name] = ensemble
        held_out[name] = {row: values for _, found in trained for row, values in found.items()}
        self.candidates.methods[name] = f"{len(self.folds)}-fold"

    def _announce(self, stage: str) -> None:
        """Say what begins, and the errors that are known so far."""
        known = [f"{name} {self.candidates.mean_error(found):.4f}" for name, found in self.candidates.held_out.items()]
        self.task.session.on_stage("; ".join([stage, *([f"held-out errors: {', '.join(known)}"] if known else [])]))

    def _bases(self) -> list[str]:
        """Return what networks may correct: nothing or the best closed form."""
        if self.config.corrections and self.operators:
            return ["", self.candidates.best(self.operators)[0]]
        return [""]

    def _plans(self, name: str, bases: Sequence[str], num_steps: int) -> list[TrainingPlan]:
        """Return the ways to train a network that are worth a try."""
        plain = TrainingPlan(name=f"{name}-probe", fold=0, num_steps=num_steps)
        plans = [replace(plain, name=f"{plain.name}{_suffix(base)}", base=base) for base in bases]
        if "" not in bases:
            return plans
        shares = share_domain([self.scaling.frame.encode(one.points) for one in self.data])
        if self.config.residual_weight and self.config.num_inputs and shares:
            plans.append(replace(plain, name=f"{plain.name}-residual", residual_weight=self.config.residual_weight))
        if symmetries := self._symmetries():
            plans.append(replace(plain, name=f"{plain.name}-augmented", symmetries=symmetries))
        return plans

    def _symmetries(self) -> tuple[str, ...]:
        """Return symmetries of the domain that the best closed form does not refute."""
        mirror = Mirror.of(self.scaling.frame, self.task.inputs, self.task.targets, self.task.parameters)
        if not self.config.symmetries or not self._are_scalars(mirror):
            return ()
        samples = self.task.samples
        points = [mirror.frame.encode(sample.points) for sample in samples]
        of_domain = domain_symmetries(points, has_time_axis=self.task.has_time_axis)
        likely = [symmetry for symmetry in of_domain if mirror.allows(symmetry)]
        if self.operators:
            best, held_out = self.candidates.best(self.operators)
            rows = np.linspace(0, len(samples) - 1, min(_TESTED_SAMPLES, len(samples))).astype(int)
            errors = {
                symmetry: np.array([self._error_on(mirror.image(samples[row], symmetry), best) for row in rows])
                for symmetry in likely
            }
            likely = not_refuted(errors, held_out[rows], tolerance=_TOLERANCE)
        return _as_texts(likely, self.config.dim)

    @torch.no_grad()
    def _error_on(self, sample: Sample, name: str) -> float:
        """Return the error of a fitted operator on another sample."""
        operator = self.operators[name]
        cloud = self.scaling.cloud(sample.points, sample.inputs, torch.float64, parameters=sample.parameters)
        cloud = operator.prepare(cloud)
        return self.candidates.error(operator(cloud).numpy(), sample)

    def _are_scalars(self, mirror: Mirror) -> bool:
        """Whether no component of a vector is seen as its reciprocal or logarithm, which does not turn."""
        changed = (self.preprocessing.reciprocal | self.preprocessing.logarithm).tolist()
        names = (*mirror.inputs.names, *mirror.parameters.names)
        return not any(is_changed and axes for is_changed, (_, axes) in zip(changed, names, strict=False))

    def conclude(self) -> Chosen:
        """Keep the best single candidate, or the blend of all if it is clearly better."""
        if not self.candidates.held_out:
            raise (
                self.failures[0]
                if self.failures
                else ValueError("There is nothing left to choose from; name an operator, like 'linear'.")
            )
        choice = self.candidates.choice(*self._amplitudes(), *self._representation(), *self.remarks)
        weights = dict(zip(choice.members, choice.weights, strict=True))
        ensembles = {name: self.ensembles[name] for name in choice.members if name in self.ensembles}
        needed = {*choice.members, *(ensemble.base for ensemble in ensembles.values())}
        return Chosen(
            operators={name: operator for name, operator in self.operators.items() if name in needed},
            ensembles=ensembles,
            weights=weights,
            scaling=self.scaling,
            held_out=self.candidates.blended(weights),
            choice=choice,
        )

    def _representation(self) -> list[str]:
        """Say how far off solutions are as the best closed form expresses them."""
        names = [name for name in self.operators if name in self.candidates.held_out]
        if not names:
            return []
        best, _ = self.candidates.best(names)
        error = getattr(self.operators[best], "representation_error", 0.0)
        return [f"The representation of solutions by {best} alone leaves {error:.2g}."] if error > _EXACT else []

    def _trainer(self, name: str, samples: dict[str, PreprocessedSamples]) -> EnsembleTrainer:
        num_ways = (self.config.residual_weight > 0) + self.config.symmetries + len(samples)
        few = _PROBE * num_ways + _GLANCE * len(samples)
        changes: dict[str, Any] = {}
        if name == "spectral":
            changes["num_modes"] = self.config.num_modes or _NETWORK_MODES[self.config.dim]
        return EnsembleTrainer(
            kind=OPERATORS[name],
            config=config_for(self.data, name, **changes),
            samples=samples,
            folds=self.folds,
            task=self.task,
            num_steps=math.ceil(self.config.num_steps * (len(self.folds) + few)),
            budget=self.budget,
        )

    def _give_up(self, name: str, found: Predictions) -> None:
        error, best = self.candidates.mean_error(found), self.candidates.best_error(sorted(found))
        self.remarks.append(
            f"A network ({name}), tried on {len(found)} of {len(self.task.samples)} samples, did not help"
            f" ({error:.4f} there, a closed form {best:.4f})."
        )

    def _has_hope(self, base: str, found: Predictions) -> bool:
        """Whether a network that was hardly trained may become as good as closed forms."""
        if not self.candidates.held_out:
            return True
        limit = _HOPELESS_CORRECTION if base else _HOPELESS
        return self.candidates.mean_error(found) < limit * self.candidates.best_error(sorted(found))

    def _is_promising(self, base: str, found: Predictions) -> bool:
        """Whether a network that was trained shortly is not far behind closed forms, or helps if it corrects one."""
        if base or not self.candidates.held_out:
            return self._is_worth_it(found)
        return self.candidates.mean_error(found) < _FAR_BEHIND * self.candidates.best_error(sorted(found))

    def _is_worth_it(self, found: Predictions) -> bool:
        if not self.candidates.held_out:
            return True
        least = _LEAST_GAIN * self.candidates.best_error(sorted(found))
        return self.candidates.are_clear(self.candidates.gains(found), least)

    def _amplitudes(self) -> list[str]:
        """Say with which inputs the operator was found to scale."""
        degrees = self.preprocessing.homogeneity.degrees.tolist()
        names = [channel.name for channel in (*self.task.inputs, *self.task.parameters)]
        # Where there are neither, the only channel is the domain, which has no name.
        sources, media = (
            " and ".join(name for name, degree in zip(names, degrees, strict=False) if degree == wanted)
            for wanted in (1, -1)
        )
        how = " and ".join(filter(None, [sources and f"like {sources}", media and f"inversely to {media}"]))
        return [f"Solutions scale {how}."] if how else []


def _suffix(base: str) -> str:
    return f"-on-{base}" if base else ""


def _as_texts(symmetries: Sequence[Symmetry], dim: int) -> tuple[str, ...]:
    """Return a large group among some symmetries as training takes it, without the identity."""
    return tuple(str(symmetry) for symmetry in largest_group(symmetries, dim, at_most=_MOST_SYMMETRIES)[1:])
