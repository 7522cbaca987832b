"""The training sample with the nearest input."""

from dataclasses import dataclass
from typing import ClassVar, final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.operators.closed_form.closed_form import ClosedForm, ComparingConfig
from gola.operators.closed_form.input_features import COMPARISON_PADDING, InputFeatures
from gola.operators.closed_form.samples import Samples
from gola.operators.cloud import Cloud
from gola.operators.operator import OperatorConfig


@final
@dataclass(frozen=True, kw_only=True)
class NearestConfig(ComparingConfig):
    """Settings of the nearest sample."""


@final
class Nearest(ClosedForm):
    """Solution of the training sample whose input is nearest, by the distance of functions."""

    name: ClassVar[str] = "nearest"
    title: ClassVar[str] = "nearest sample"
    config_type: ClassVar[type[OperatorConfig]] = NearestConfig
    presets: ClassVar[dict[str, NearestConfig]] = {"default": NearestConfig()}
    min_samples: ClassVar[int] = 2

    config: NearestConfig
    inputs: InputFeatures
    known_inputs: Float[Tensor, "sample feature"]
    known_solutions: Float[Tensor, "sample mode channel"]

    def __init__(self, config: NearestConfig) -> None:
        super().__init__(config)
        self.inputs = InputFeatures()
        self._register_empty("known_inputs", "known_solutions")

    def choose(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Choose how smooth inputs are."""
        space = self.space_for(samples, self.config.num_input_modes, COMPARISON_PADDING)
        self.inputs, features = InputFeatures.fitted(space, samples.points, samples.inputs)
        return self._remember(features, solutions)

    def solve(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Remember other samples."""
        return self._remember(self.inputs.of(samples.points, samples.inputs), solutions)

    def coefficients(self, cloud: Cloud) -> Float[Tensor, "sample mode channel"]:
        """Return the solution of the nearest training sample, for each sample."""
        distances = torch.cdist(self.inputs.of_cloud(cloud).flatten(1), self.known_inputs)
        return self.known_solutions[distances.argmin(dim=1)]

    def _remember(
        self,
        features: Float[Tensor, "sample input_channel input_mode"],
        solutions: Float[Tensor, "sample mode channel"],
    ) -> Float[Tensor, "sample mode channel"]:
        self.known_inputs, self.known_solutions = features.flatten(1), solutions
        distances = torch.cdist(self.known_inputs, self.known_inputs)
        distances.fill_diagonal_(torch.inf)
        return solutions[distances.argmin(dim=1)]
