"""The linear operator: ridge regression under a prior that knows how Green's functions look."""

from dataclasses import asdict, dataclass
from typing import ClassVar, final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.data.cloud import Cloud
from gola.operators.closed_form.closed_form import ClosedForm, ClosedFormConfig
from gola.operators.closed_form.green import Component
from gola.operators.closed_form.input_features import InputFeatures
from gola.operators.closed_form.linear_map import GreenPrior, LinearMap, SpectralPrior
from gola.operators.closed_form.samples import Samples
from gola.operators.closed_form.scores import Probes, error_at_the_data
from gola.operators.closed_form.search import choose_green_prior, choose_spectral_prior
from gola.operators.operator import OperatorConfig


@final
@dataclass(frozen=True, kw_only=True)
class LinearConfig(ClosedFormConfig):
    """Settings of the linear operator.

    Attributes:
        wide_padding: Size of the box in which inputs are continued beyond the domain, in units of the bounding box.
        num_wide_modes: The largest number of functions that inputs are expressed in there.
    """

    wide_padding: float = 3.0
    num_wide_modes: int = 600

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
    samples.
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
    def prior(self) -> GreenPrior | SpectralPrior:
        """The prior that was chosen."""
        self._require_fit()
        if "components" not in self.choice:
            return SpectralPrior(**self.choice)
        components = tuple(
            Component(**{**component, "widths": tuple(component["widths"])}) for component in self.choice["components"]
        )
        return GreenPrior(components=components, penalty=self.choice["penalty"])

    def choose(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Fit under the best prior of each kind, and keep the one with the smaller leave-one-out error."""
        config, probes = self.config, Probes.of(self.solutions, solutions, samples)
        near = self.space_for(samples, config.num_modes, config.padding)
        wide = self.space_for(samples, config.num_wide_modes, config.wide_padding)
        candidates = []
        for choose_prior, space in ((choose_green_prior, near), (choose_spectral_prior, wide)):
            inputs, features = InputFeatures.fitted(space, samples.points, samples.inputs)
            prior = choose_prior(inputs.space, features, probes)
            found = prior.fit(inputs.space, features, self.solutions, solutions)
            error = error_at_the_data(self.solutions, found.left_out, samples)
            candidates.append((error, inputs, prior, found))
        _, inputs, prior, found = min(candidates, key=lambda candidate: candidate[0])
        self._keep(inputs, prior, found)
        return found.left_out

    def solve(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Fit under the prior chosen before."""
        features = self.inputs.of(samples.points, samples.inputs)
        found = self.prior.fit(self.inputs.space, features, self.solutions, solutions)
        self._keep(self.inputs, self.prior, found)
        return found.left_out

    def coefficients(self, cloud: Cloud) -> Float[Tensor, "sample mode channel"]:
        """Predict the coefficients of the solution of each sample."""
        features = self.inputs.of_cloud(cloud).flatten(1)
        return torch.einsum("mcf,sf->smc", self.weights, features) + self.offset

    def _keep(self, inputs: InputFeatures, prior: GreenPrior | SpectralPrior, found: LinearMap) -> None:
        self.inputs, self.choice = inputs, asdict(prior)
        self.weights, self.offset = found.weights, found.offset
