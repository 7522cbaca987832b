"""The linear operator: ridge regression under a prior that knows how Green's functions look."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar, NamedTuple, final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.data.cloud import Cloud
from gola.geometry.symmetry import Symmetry
from gola.operators.closed_form.closed_form import ClosedForm, ClosedFormConfig
from gola.operators.closed_form.diffusion import Diffusion
from gola.operators.closed_form.function_space import FunctionSpace
from gola.operators.closed_form.green import Component
from gola.operators.closed_form.input_features import InputFeatures
from gola.operators.closed_form.linear_map import GreenPrior, LinearMap, SpectralPrior
from gola.operators.closed_form.reciprocity import Reciprocity
from gola.operators.closed_form.samples import Samples
from gola.operators.closed_form.scores import Probes, error_at_the_data
from gola.operators.closed_form.search import choose_green_prior, choose_spectral_prior, choose_symmetries
from gola.operators.closed_form.symmetry import Symmetries, whole_shells
from gola.operators.operator import OperatorConfig

_PriorSearch = Callable[[FunctionSpace, Tensor, Probes, Symmetries], GreenPrior | SpectralPrior]
_PRIOR_SEARCHES: tuple[_PriorSearch, ...] = (choose_green_prior, choose_spectral_prior)
# Symmetries and reciprocity have to pay: what differs by less differs by chance.
_CLEARLY_BETTER = 0.97
# A copy by a true symmetry is predicted like any other sample, up to chance and to what choosing settings by errors of
# samples left out makes of these. Symmetries that only a looser limit lets pass are tried after the others.
_TOLERANCES = (1.5, 2.5)
# How far to doubt integrals that reciprocity tells: of samples not seen they err more than those of training samples.
_DOUBTS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)


@final
@dataclass(frozen=True, kw_only=True)
class LinearConfig(ClosedFormConfig):
    """Settings of the linear operator.

    Attributes:
        wide_padding: Size of the box in which inputs are continued beyond the domain, in units of the bounding box.
        num_wide_modes: The largest number of functions that inputs are expressed in there.
        symmetries: Whether to look for symmetries of the map, and to learn from mirrored samples where there are any.
        reciprocity: Whether to look if the map is its own adjoint, and to use what that tells.
        diffusion: Whether to look if solutions are steady states of a diffusion, and to find its medium.
    """

    wide_padding: float = 3.0
    num_wide_modes: int = 600
    symmetries: bool = True
    reciprocity: bool = True
    diffusion: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_positive("num_wide_modes")
        if not self.wide_padding >= 1.0:
            raise ValueError(f"wide_padding must be at least 1, the bounding box itself; got {self.wide_padding}.")


@final
class Linear(ClosedForm):
    r"""Linear operator: ridge regression with a smoothness prior, chosen by leave-one-out.

    .. math:: u(x) = \int G(x, y) f(y)\, dy + c(x)

    No prior holds c back. Two kinds of prior on G compete: Green's function is smooth and concentrated near x
    (:class:`GreenPrior`), or the same inner product of the inputs, continued beyond the domain, counts everywhere
    (:class:`SpectralPrior`). Their settings and the better of the two are chosen by exact leave-one-out on the training
    samples. So is whether the map has symmetries, and whether it is its own adjoint (:class:`Reciprocity`). Where the
    medium of a diffusion explains the samples (:class:`Diffusion`), G follows from that, and samples are left out in
    fifths instead of one by one.
    """

    name: ClassVar[str] = "linear"
    title: ClassVar[str] = "linear operator"
    config_type: ClassVar[type[OperatorConfig]] = LinearConfig
    presets: ClassVar[dict[str, LinearConfig]] = {"default": LinearConfig()}

    config: LinearConfig
    inputs: InputFeatures
    weights: Float[Tensor, "mode channel feature"]
    offset: Float[Tensor, "mode channel"]

    def __init__(self, config: LinearConfig) -> None:
        super().__init__(config)
        self.inputs = InputFeatures()
        self._register_empty("weights", "offset")

    @property
    def prior(self) -> GreenPrior | SpectralPrior | None:
        """The prior that was chosen; None where the map is that of a diffusion."""
        self._require_fit()
        if self.choice.get("diffusion"):
            return None
        settings = {name: value for name, value in self.choice.items() if name not in ("symmetries", "reciprocity")}
        if "components" not in settings:
            return SpectralPrior(**settings)
        components = tuple(
            Component(**{**component, "widths": tuple(component["widths"])}) for component in settings["components"]
        )
        return GreenPrior(components=components, penalty=settings["penalty"])

    @property
    def symmetries(self) -> Symmetries:
        """The symmetries that were found, the identity first."""
        self._require_fit()
        # Operators that were saved before there were symmetries have none.
        found = [Symmetry.from_dict(one) for one in self.choice.get("symmetries", [])]
        return Symmetries((Symmetry.identity(self.config.dim), *found))

    def choose(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Fit under the best prior of each kind, and keep the one with the smaller leave-one-out error."""
        config = self.config
        near = self.space_for(samples, config.num_modes, config.padding)
        wide = self.space_for(samples, config.num_wide_modes, config.wide_padding)
        fitted = [InputFeatures.fitted(space, samples.points, samples.inputs) for space in (near, wide)]
        best = self._best(fitted, solutions, samples, Symmetries.none(config.dim))
        if config.symmetries:
            best = self._symmetric(best, fitted, solutions, samples)
        if config.reciprocity:
            best = self._informed(best, solutions, samples)
        if config.diffusion:
            best = self._diffusive(best, fitted[0], solutions, samples)
        self._keep(best)
        return best.found.left_out

    def solve(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Fit under the prior chosen before, with the symmetries found before."""
        features = self.inputs.of(samples.points, samples.inputs)
        found = self._map(samples, features, solutions)
        self.weights, self.offset = found.weights, found.offset
        return found.left_out

    def _map(
        self,
        samples: Samples,
        features: Float[Tensor, "sample input_channel input_mode"],
        solutions: Float[Tensor, "sample mode channel"],
    ) -> LinearMap:
        """Fit the map with all that was chosen before."""
        prior = self.prior
        if prior is None:
            return self._diffusion(self.inputs, features, solutions, samples).map()
        found = prior.fit(self.inputs.space, features, self.solutions, solutions, self.symmetries)
        doubt = self.choice.get("reciprocity")
        if doubt is None:
            return found
        pairs = Reciprocity.found(self.inputs, features, self.solutions, solutions)
        return found if pairs is None else pairs.informed(found, doubt)

    @staticmethod
    def space_for(samples: Samples, num_modes: int, padding: float) -> FunctionSpace:
        """Make a space that symmetries of the bounding box map to itself, which costs it a few functions."""
        space = ClosedForm.space_for(samples, num_modes, padding)
        return space.with_penalties(space.penalties[: whole_shells(space.num_modes, space.dim)])

    def coefficients(self, cloud: Cloud) -> Float[Tensor, "sample mode channel"]:
        """Predict the coefficients of the solution of each sample."""
        features = self.inputs.of_cloud(cloud).flatten(1)
        return torch.einsum("mcf,sf->smc", self.weights, features) + self.offset

    def _best(
        self,
        fitted: Sequence[tuple[InputFeatures, Tensor]],
        solutions: Float[Tensor, "sample mode channel"],
        samples: Samples,
        symmetries: Symmetries,
    ) -> "_Candidate":
        probes = Probes.of(self.solutions, symmetries.solutions(self.solutions, solutions), samples)
        tried = []
        for choose_prior, (inputs, features) in zip(_PRIOR_SEARCHES, fitted, strict=True):
            prior = choose_prior(inputs.space, features, probes, symmetries)
            found = prior.fit(inputs.space, features, self.solutions, solutions, symmetries)
            error = error_at_the_data(self.solutions, found.left_out, samples)
            tried.append(_Candidate(error, inputs, features, prior, symmetries, found))
        return min(tried, key=lambda candidate: candidate.error)

    def _symmetric(
        self,
        best: "_Candidate",
        fitted: Sequence[tuple[InputFeatures, Tensor]],
        solutions: Float[Tensor, "sample mode channel"],
        samples: Samples,
    ) -> "_Candidate":
        """Choose and fit again with copies of the samples by symmetries of the map, if that is better.

        From few samples a map shows some of its symmetries only, or shows them faintly. Learned from copies by these it
        is better, and may show the others.
        """
        most = len(best.symmetries)
        for tolerance in _TOLERANCES:
            symmetries = choose_symmetries(
                best.inputs.space, best.features, self.solutions, best.found, samples, tolerance=tolerance
            )
            if len(symmetries) > most:
                most = len(symmetries)
                symmetric = self._best(fitted, solutions, samples, symmetries)
                best = symmetric if symmetric.error < _CLEARLY_BETTER * best.error else best
        return best

    def _informed(
        self, plain: "_Candidate", solutions: Float[Tensor, "sample mode channel"], samples: Samples
    ) -> "_Candidate":
        """Let pairs of samples tell integrals of solutions, if that is better."""
        pairs = Reciprocity.found(plain.inputs, plain.features, self.solutions, solutions)
        if pairs is None:
            return plain
        tried = []
        for doubt in _DOUBTS:
            found = pairs.informed(plain.found, doubt)
            error = error_at_the_data(self.solutions, found.left_out, samples)
            tried.append(plain._replace(error=error, found=found, reciprocity=doubt))
        best = min(tried, key=lambda candidate: candidate.error)
        return best if best.error < _CLEARLY_BETTER * plain.error else plain

    def _diffusive(
        self,
        best: "_Candidate",
        fitted: tuple[InputFeatures, Float[Tensor, "sample input_channel input_mode"]],
        solutions: Float[Tensor, "sample mode channel"],
        samples: Samples,
    ) -> "_Candidate":
        """Take solutions for steady states of a diffusion, if that is better."""
        inputs, features = fitted
        if features.shape[1] > 1 or solutions.shape[2] > 1:
            return best
        diffusion = self._diffusion(inputs, features, solutions, samples)
        # A medium that explains the samples worse than they are predicted anyway need not be tried on others.
        if diffusion.misfit > best.error:
            return best
        found = diffusion.map()
        error = error_at_the_data(self.solutions, found.left_out, samples)
        none = Symmetries.none(self.config.dim)
        return best if error > best.error else _Candidate(error, inputs, features, None, none, found)

    def _diffusion(
        self,
        inputs: InputFeatures,
        features: Float[Tensor, "sample 1 input_mode"],
        solutions: Float[Tensor, "sample mode 1"],
        samples: Samples,
    ) -> Diffusion:
        return Diffusion(
            inputs=inputs.space, features=features, outputs=self.solutions, solutions=solutions, samples=samples
        )

    def _keep(self, chosen: "_Candidate") -> None:
        settings = {"diffusion": True} if chosen.prior is None else asdict(chosen.prior)
        symmetries = [asdict(one) for one in chosen.symmetries.elements[1:]]
        self.inputs = chosen.inputs
        self.choice = {**settings, "symmetries": symmetries, "reciprocity": chosen.reciprocity}
        self.weights, self.offset = chosen.found.weights, chosen.found.offset


class _Candidate(NamedTuple):
    """A fitted map with all that was chosen for it, and its leave-one-out error."""

    error: float
    inputs: InputFeatures
    features: Float[Tensor, "sample channel mode"]
    prior: GreenPrior | SpectralPrior | None
    symmetries: Symmetries
    found: LinearMap
    reciprocity: float | None = None
