"""Input functions as vectors that can be compared, whatever points they are known at."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from gola.data.cloud import Cloud
from gola.operators.closed_form.fitted import Fitted
from gola.operators.closed_form.function_space import FunctionSpace
from gola.operators.closed_form.smoothness import with_chosen_penalties

COMPARISON_PADDING = 1.0
"""On the bounding box itself the cosines are orthonormal: distances of coefficients are distances on the domain, and
what a fit does beyond it does not count."""


class InputFeatures(Fitted):
    """Coefficients of the input functions, each channel in units of its spread over the training samples.

    Attributes:
        space: The space of the input functions.
        scales: The unit of each channel; 1 for a channel that is the same in all samples.
    """

    space: FunctionSpace
    scales: Float[Tensor, " channel"]

    def __init__(self) -> None:
        super().__init__()
        self.space = FunctionSpace()
        self._register_empty("scales")

    @staticmethod
    def fitted(
        space: FunctionSpace, points: Sequence[Float[Tensor, "_ dim"]], values: Sequence[Float[Tensor, "_ channel"]]
    ) -> tuple["InputFeatures", Float[Tensor, "sample channel mode"]]:
        """Choose the penalties of the space and the units; return the features of the training samples as well."""
        features = InputFeatures()
        features.space = with_chosen_penalties(space, points, values)
        coefficients = features.space.coefficients(points, values)
        spread = (coefficients - coefficients.mean(dim=0)).square().sum(dim=1).mean(dim=0).sqrt()
        features.scales = torch.where(spread > 0.0, spread, 1.0)
        return features, (coefficients / features.scales).mT

    def of(
        self, points: Sequence[Float[Tensor, "_ dim"]], values: Sequence[Float[Tensor, "_ channel"]]
    ) -> Float[Tensor, "sample channel mode"]:
        """Return the features of other samples."""
        return (self.space.coefficients(points, values) / self.scales).mT

    def of_cloud(self, cloud: Cloud) -> Float[Tensor, "sample channel mode"]:
        """Return the features of each sample of a cloud."""
        return self.of(torch.split(cloud.points, cloud.sizes), torch.split(cloud.values, cloud.sizes))
