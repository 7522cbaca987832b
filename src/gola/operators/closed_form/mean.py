"""The mean solution, whatever the input: what every other operator has to beat."""

from dataclasses import dataclass
from typing import ClassVar, final

from jaxtyping import Float
from torch import Tensor

from gola.operators.closed_form.closed_form import ClosedForm, ClosedFormConfig
from gola.operators.closed_form.samples import Samples
from gola.operators.cloud import Cloud
from gola.operators.operator import OperatorConfig


@final
@dataclass(frozen=True, kw_only=True)
class MeanConfig(ClosedFormConfig):
    """Settings of the mean solution, which has none of its own."""


@final
class Mean(ClosedForm):
    """Mean of the training solutions, whatever the input."""

    name: ClassVar[str] = "mean"
    title: ClassVar[str] = "mean solution"
    config_type: ClassVar[type[OperatorConfig]] = MeanConfig
    presets: ClassVar[dict[str, MeanConfig]] = {"default": MeanConfig()}
    min_samples: ClassVar[int] = 2

    average: Float[Tensor, "mode channel"]

    def __init__(self, config: MeanConfig) -> None:
        super().__init__(config)
        self._register_empty("average")

    def choose(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """There is nothing to choose."""
        return self.solve(samples, solutions)

    def solve(
        self,
        samples: Samples,
        solutions: Float[Tensor, "sample mode channel"],
    ) -> Float[Tensor, "sample mode channel"]:
        """Take the mean of all solutions, and the mean of all others for each."""
        count = len(samples)
        self.average = solutions.mean(dim=0)
        return (count * self.average - solutions) / (count - 1)

    def coefficients(self, cloud: Cloud) -> Float[Tensor, "sample mode channel"]:
        """Return the mean for each sample."""
        return self.average.expand(cloud.num_samples, *self.average.shape)
