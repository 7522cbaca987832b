"""Choose among closed forms, an ensemble of networks and their blend, on the training samples alone."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from gola.choosing.blend import relative_error
from gola.choosing.candidates import Candidates, Choice
from gola.choosing.networks import Course, Ensemble
from gola.choosing.symmetries import domain_group, not_refuted, written
from gola.choosing.views import Predictions, View
from gola.data.cloud import Cloud
from gola.data.mirror import Mirror
from gola.data.sample import Channel, Sample
from gola.data.scaling import Scaling
from gola.operators import Auto, AutoConfig, Spectral, SpectralConfig
from gola.operators.auto import NETWORK
from gola.operators.closed_form import ClosedForm, Kernel
from gola.training import Session

# A network is given up if, trained for this share of the steps, its error is this many times that of a closed form, or
# not below it where it starts from there,
_PROBE, _FAR_BEHIND = 0.2, 3.0
# or if, fully trained, it gains less than this share on the first part of the samples in a blend with closed forms.
_LEAST_GAIN = 0.02
_FEWEST_SAMPLES = 4


def choose(
    config: AutoConfig,
    samples: Sequence[Sample],
    scaling: Scaling,
    *,
    seed: int = 0,
    session: Session | None = None,
    provenance: Mapping[str, Any] | None = None,
    inputs: Sequence[Channel] = (),
    targets: Sequence[Channel] = (),
) -> tuple[Auto, Choice]:
    """Fit all candidates, and keep what predicts samples best that it was not fitted to.

    A closed form tells its leave-one-out predictions exactly. Networks are trained without one part of the samples
    each. The first is trained shortly, and given up if it is far behind the closed forms; then plainly, with a local
    law, and on images of the samples under symmetries that the closed forms do not refute. Another one starts from what
    the best closed form predicts for samples left out, to learn what it misses. The best way goes on, unless it gains
    nothing beside the closed forms. Weights of a blend are judged on samples that had no say in them. The blend is
    taken if it is better than the best single candidate by more than the standard error of the difference.

    Args:
        config: What to choose from.
        samples: The training samples.
        scaling: In the units of the data, fitted to the samples.
        seed: Decides the parts and the initial weights of networks.
        session: How to run the trainings.
        provenance: Further facts that states to resume from must agree with, for instance the fingerprint of the data.
        inputs: Channels of the inputs; their names tell components of vectors, which symmetries turn.
        targets: Channels of the targets, likewise.
    """
    if len(samples) < _FEWEST_SAMPLES:
        raise ValueError(
            f"The automatic choice leaves samples out, and needs at least {_FEWEST_SAMPLES}; got {len(samples)}. Name"
            " an operator, like 'linear'."
        )
    if config.start and config.start not in config.names:
        raise ValueError(f"Networks can start from a member only; add {config.start} to the members {config.members}.")
    session = session or Session()
    if session.devices * session.num_nodes > 1:
        raise ValueError("The automatic choice trains on one device; name an operator, like 'gola', to use several.")
    trial = _Trial(
        config=config,
        samples=samples,
        scaling=scaling,
        seed=seed,
        session=session,
        provenance=provenance or {},
        inputs=inputs,
        targets=targets,
    )
    for name, closed_form in trial.auto.closed_forms.items():
        assert isinstance(closed_form, ClosedForm)
        trial.add_closed_form(name, closed_form)
    if NETWORK in config.names:
        trial.add_networks()
    return trial.conclude()


@dataclass(kw_only=True, eq=False)
class _Trial:
    """A choice in the making: fits and trains what there is to choose from, and looks how it does."""

    config: AutoConfig
    samples: Sequence[Sample]
    scaling: Scaling
    seed: int
    session: Session
    provenance: Mapping[str, Any] = field(default_factory=dict)
    inputs: Sequence[Channel] = ()
    targets: Sequence[Channel] = ()
    remark: str = ""
    views: dict[str, View] = field(default_factory=dict)
    start: str = ""

    def __post_init__(self) -> None:
        count = min(self.config.num_networks, len(self.samples))
        torch.manual_seed(self.seed)
        self.auto = Auto(replace(self.config, num_networks=count, start=""))
        self.parts = np.array_split(np.random.default_rng(self.seed).permutation(len(self.samples)), count)
        self.candidates = Candidates(samples=self.samples, scale=np.array(self.scaling.targets.scale))

    def add_closed_form(self, name: str, operator: ClosedForm) -> None:
        """Fit to all samples; the predictions of samples left out come along."""
        clouds = [self.scaling.cloud(one.points, one.inputs, torch.float64) for one in self.samples]
        targets = torch.cat([torch.from_numpy(one.targets).double() for one in self.samples])
        cloud = Cloud.collate(clouds)
        operator.fit(cloud, targets)
        found = torch.split(operator.leave_one_out(), cloud.sizes)
        self.candidates.left_out[name] = {row: values.numpy() for row, values in enumerate(found)}
        if isinstance(operator, Kernel):
            self.auto.see_like(operator)

    def add_networks(self) -> None:
        """Train the ensemble, if the first network is worth it."""
        starts = self._starts()
        left_out = self.candidates.left_out
        self.views = {start: View.of(self.samples, self.scaling, self.auto, left_out.get(start)) for start in starts}
        ensemble = self._ensemble()
        num_steps = math.ceil(_PROBE * self.config.num_steps)
        probes = [Course(name=f"probe{_suffix(start)}", part=0, num_steps=num_steps, start=start) for start in starts]
        probed = [found for _, found in ensemble.trained(*probes)]
        promising = [start for start, found in zip(starts, probed, strict=True) if self._is_promising(start, found)]
        if not promising:
            self._give_up(min(probed, key=self.candidates.mean_error))
            return
        courses = self._courses(promising)
        trials = dict(zip(courses, ensemble.trained(*courses), strict=True))
        course = min(courses, key=lambda course: self.candidates.mean_error(trials[course][1]))
        if not self._is_worth_it(trials[course][1]):
            self._give_up(trials[course][1])
            return
        self.start = course.start
        self.remark = f"Networks were trained {course.how}."
        others = [replace(course, name=f"network-{part + 1}", part=part) for part in range(1, len(self.parts))]
        trained = [trials[course], *ensemble.trained(*others)]
        self.auto.networks = torch.nn.ModuleList(network for network, _ in trained)
        left_out[NETWORK] = {row: values for _, found in trained for row, values in found.items()}

    def _starts(self) -> list[str]:
        """Return what networks may start from: what the config says, or else nothing and the best closed form."""
        if self.config.start is not None:
            return [self.config.start]
        return ["", self.candidates.best()[0]] if self.candidates.left_out else [""]

    def _courses(self, starts: Sequence[str]) -> list[Course]:
        """Return the ways to train a network that are worth a try, from what networks may start from."""
        plain = Course(name="network-1", part=0, num_steps=self.config.num_steps)
        courses = [replace(plain, name=f"{plain.name}{_suffix(start)}", start=start) for start in starts]
        if "" not in starts:
            return courses
        if self.config.law and self._share_domain():
            courses.append(replace(plain, name="network-1-with-law", law=self.config.law))
        if symmetries := self._symmetries():
            courses.append(replace(plain, name="network-1-with-images", symmetries=symmetries))
        return courses

    def _symmetries(self) -> str:
        """Return symmetries of the domain that the best closed form does not refute."""
        mirror = Mirror.of(self.scaling.frame, self.inputs, self.targets)
        if not self.config.symmetries or not self._are_scalars(mirror):
            return ""
        likely = domain_group(self.samples, mirror)
        if self.candidates.left_out:
            best, errors = self.candidates.best()
            operator = self.auto.closed_forms[best]

            def error_of(image: Sample) -> float:
                with torch.no_grad():
                    found = operator(self.scaling.cloud(image.points, image.inputs, torch.float64)).numpy()
                return relative_error(found, image.targets, self.candidates.scale)

            likely = not_refuted(likely, self.samples, mirror, error_of, errors)
        return written(likely, self.config.dim)

    def _are_scalars(self, mirror: Mirror) -> bool:
        """Whether no component of a vector is seen as its reciprocal or logarithm, which does not turn."""
        changed = (self.auto.reciprocal | self.auto.logarithm).tolist()
        return not any(is_changed and axes for is_changed, (_, axes) in zip(changed, mirror.inputs.names, strict=False))

    def conclude(self) -> tuple[Auto, Choice]:
        """Keep the best single candidate, or the blend of all if it is clearly better."""
        if not self.candidates.left_out:
            raise ValueError("There is nothing left to choose from; name an operator, like 'linear'.")
        choice = self.candidates.choice(self._scales(), self.remark)
        return self._kept(choice), choice

    def _kept(self, choice: Choice) -> Auto:
        """Return an operator with the chosen members only."""
        fitted = self.auto
        start = self.start if NETWORK in choice.members else ""
        auto = Auto(replace(fitted.config, members=",".join(choice.members), start=start))
        auto.closed_forms = torch.nn.ModuleDict({name: fitted.closed_forms[name] for name in auto.closed_forms})
        if NETWORK in choice.members:
            auto.networks = fitted.networks
            auto.reciprocal, auto.logarithm = fitted.reciprocal, fitted.logarithm
            auto.homogeneity = fitted.homogeneity
            scaling = self.views[start].scaling
            auto.set_units(scaling.inputs, scaling.targets)
        auto.weights = torch.tensor(choice.weights, dtype=torch.float64)
        return auto

    def _ensemble(self) -> Ensemble:
        further_courses = (self.config.law > 0) + self.config.symmetries + (1 + _PROBE) * (len(self.views) - 1)
        return Ensemble(
            config=self._network_config(),
            views=self.views,
            inputs=self.inputs,
            targets=self.targets,
            parts=self.parts,
            seed=self.seed,
            session=self.session,
            provenance=self.provenance,
            num_steps=math.ceil(self.config.num_steps * (_PROBE + len(self.parts) + further_courses)),
        )

    def _network_config(self) -> SpectralConfig:
        network = self.auto.networks[0]
        assert isinstance(network, Spectral)
        return network.settings

    def _share_domain(self) -> bool:
        """Whether samples lie in the same box: a local law mixes the inputs of one at the points of another."""
        network = Spectral(self._network_config())
        clouds = [network.prepare(self.scaling.cloud(one.points, one.inputs)) for one in self.samples]
        bases = {id(cloud.spectra[0].basis) for cloud in clouds if cloud.spectra}
        return len(bases) == 1

    def _give_up(self, found: Predictions) -> None:
        errors = self.candidates.mean_error(found), self.candidates.best_error(sorted(found))
        self.remark = (
            f"A network, tried on {len(found)} of {len(self.samples)} samples, did not help"
            f" ({errors[0]:.4f} there, a closed form {errors[1]:.4f})."
        )

    def _is_promising(self, start: str, found: Predictions) -> bool:
        """Whether a network that was trained shortly is not far behind closed forms, or better if it starts there."""
        if not self.candidates.left_out:
            return True
        limit = (1.0 if start else _FAR_BEHIND) * self.candidates.best_error(sorted(found))
        return self.candidates.mean_error(found) < limit

    def _is_worth_it(self, found: Predictions) -> bool:
        if not self.candidates.left_out:
            return True
        return self.candidates.blended_error(found) < (1.0 - _LEAST_GAIN) * self.candidates.best_error(sorted(found))

    def _scales(self) -> str:
        """Say with which inputs the operator was found to scale."""
        degrees = self.auto.homogeneity.degrees.tolist()
        names = [channel.name for channel in self.inputs] or [f"input {number + 1}" for number in range(len(degrees))]
        sources, media = (
            " and ".join(name for name, degree in zip(names, degrees, strict=True) if degree == wanted)
            for wanted in (1, -1)
        )
        how = " and ".join(filter(None, [sources and f"like {sources}", media and f"inversely to {media}"]))
        return f"Solutions scale {how}." if how else ""


def _suffix(start: str) -> str:
    return f"-from-{start}" if start else ""
