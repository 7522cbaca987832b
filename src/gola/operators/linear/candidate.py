"""A linear map in the making: what it is fitted to, and the candidates that compete."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.operators.closed_form.input_features import FittedInputs
from gola.operators.closed_form.samples import Samples
from gola.operators.closed_form.scores import Probes, errors_at_the_data
from gola.operators.linear.linear_map import GreenPrior, LinearMap, SpectralPrior
from gola.operators.linear.search import choose_green_prior, choose_spectral_prior
from gola.representation.function_space import FunctionSpace
from gola.representation.representatives import spread
from gola.representation.symmetry import Symmetries

Prior = GreenPrior | SpectralPrior
_Choose = Callable[[FittedInputs, FittedInputs, Symmetries], "Candidate"]

# Points of a sample that tell which of two maps is better: as many as tell one from the other by a percent.
_JUDGED_POINTS = 4000
# Places and samples that tell whether inputs seen otherwise are worth a fit: it would have to be better by 3 %.
_ASKED_PROBES, _ASKED_SAMPLES = 64, 100
# A kind of prior under which maps err this many times as much need not be tried with more samples.
_FAR_BEHIND = 3.0
# Numbers of a matrix that is no product of smaller ones: 400 MB. Inputs and solutions of six channels each take less.
_MOST_NUMBERS = 50_000_000


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Candidate:
    """A fitted map with all that was chosen for it.

    Attributes:
        error: Mean relative L2 error on held-out samples.
        near: Inputs in a space that hardly exceeds the domain.
        wide: Inputs continued far beyond it.
        is_wide: Which of them the map reads.
        prior: The prior; None where the map is that of a diffusion.
        symmetries: Symmetries by which the samples were augmented, the identity first.
        found: The map.
        noise: How far integrals that reciprocity gives were distrusted; None without reciprocity.
    """

    error: float
    near: FittedInputs
    wide: FittedInputs
    is_wide: bool
    prior: Prior | None
    symmetries: Symmetries
    found: LinearMap
    noise: float | None = None

    @property
    def read(self) -> FittedInputs:
        """The inputs that the map reads."""
        return self.wide if self.is_wide else self.near


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class LinearTask:
    """What a linear map is fitted to.

    Attributes:
        samples: The training samples.
        outputs: The space of the solutions.
        solutions: Coefficients of the solutions.
        errors: The error of the last map under each kind of prior.
        last: The last prior on Green's function, by its name.
    """

    samples: Samples
    outputs: FunctionSpace
    solutions: Float[Tensor, "sample mode channel"]
    errors: dict[str, float] = field(default_factory=dict)
    last: dict[str, GreenPrior] = field(default_factory=dict)

    def spectral(self, near: FittedInputs, wide: FittedInputs, symmetries: Symmetries) -> Candidate:
        """Choose a prior by frequency, and fit under it."""
        prior = choose_spectral_prior(wide.inputs.space, wide.features, self._probes(symmetries), symmetries)
        found = self._fitted(near, wide, prior, symmetries, is_wide=True)
        self.errors["spectral"] = found.error
        return found

    def green(self, near: FittedInputs, wide: FittedInputs, symmetries: Symmetries) -> Candidate:
        """Choose a prior on Green's function, starting from the last one, and fit under it."""
        prior = choose_green_prior(
            near.inputs.space,
            near.features,
            (symmetries.solutions(self.outputs, self.solutions) / self.samples.target_scales).mT,
            self._probes(symmetries),
            symmetries,
            error=min(self.errors.values(), default=0.0),
            start=self.last.get("green"),
        )
        self.last["green"] = prior
        found = self._fitted(near, wide, prior, symmetries, is_wide=False)
        self.errors["green"] = found.error
        return found

    def has_room_for(self, read: FittedInputs) -> bool:
        """Whether a matrix from these inputs to the solutions may be stored."""
        return self.solutions[0].numel() * read.features[0].numel() <= _MOST_NUMBERS

    def promising_priors(self, best: Candidate) -> list[_Choose]:
        """Return how priors are chosen, without those under which maps were far worse than the best one so far."""
        ways: dict[str, _Choose] = {"spectral": self.spectral}
        if self.has_room_for(best.near):
            ways["green"] = self.green
        return [way for name, way in ways.items() if self.errors.get(name, 0.0) <= _FAR_BEHIND * best.error]

    def is_promising(self, candidate: Candidate, near: FittedInputs) -> bool:
        """Whether a candidate predicts held-out samples better at a few places with inputs seen otherwise."""
        prior = candidate.prior
        if not isinstance(prior, GreenPrior) or len(candidate.symmetries) > 1:
            return True
        rows = spread(len(self.samples), _ASKED_SAMPLES)
        probes = self._probes(candidate.symmetries).part(rows, _ASKED_PROBES)
        before, after = (
            probes.error(prior.held_out_at(one.inputs.space, one.features[rows], probes))
            for one in (candidate.near, near)
        )
        return after < before

    def refitted(self, candidate: Candidate, near: FittedInputs, wide: FittedInputs) -> Candidate:
        """Fit under the prior of a candidate to inputs that are seen otherwise."""
        assert candidate.prior is not None
        return self._fitted(near, wide, candidate.prior, candidate.symmetries, is_wide=candidate.is_wide)

    def _fitted(
        self, near: FittedInputs, wide: FittedInputs, prior: Prior, symmetries: Symmetries, *, is_wide: bool
    ) -> Candidate:
        read = wide if is_wide else near
        found = prior.fit(read.inputs.space, read.features, self.outputs, self.solutions, symmetries)
        return Candidate(
            error=self.error_of(found),
            near=near,
            wide=wide,
            is_wide=is_wide,
            prior=prior,
            symmetries=symmetries,
            found=found,
        )

    def _probes(self, symmetries: Symmetries) -> Probes:
        return Probes.of(self.outputs, symmetries.solutions(self.outputs, self.solutions), self.samples)

    def error_of(self, found: LinearMap) -> float:
        """Return the mean relative L2 error of a map on held-out samples, at some of their points."""
        return self.errors_of([found])[0]

    def errors_of(self, maps: Sequence[LinearMap]) -> list[float]:
        """Return the errors of several maps: evaluating all of them takes little longer than one."""
        held_out = torch.stack([found.held_out for found in maps])
        return errors_at_the_data(self.outputs, held_out, self.samples, at_most=_JUDGED_POINTS)
