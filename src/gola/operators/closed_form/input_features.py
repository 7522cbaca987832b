"""Input functions as vectors that can be compared, whatever points they are known at."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from gola.data.cloud import Cloud
from gola.operators.closed_form.fitted import Fitted
from gola.operators.closed_form.function_space import FunctionSpace, MeanPrior
from gola.operators.closed_form.periodicity import repeating_axes, with_copies
from gola.operators.closed_form.samples import spread
from gola.operators.closed_form.smoothness import with_chosen_penalties

COMPARISON_PADDING = 1.0
"""On the bounding box itself the cosines are orthonormal: distances of coefficients are distances on the domain, and
what a fit does beyond it does not count."""

# Samples whose means tell how far those of others scatter, at most.
_SAMPLES = 30


class InputFeatures(Fitted):
    """Coefficients of the input functions, each channel in units of its spread over the training samples.

    Attributes:
        space: The space of the input functions.
        scales: The unit of each channel; 1 for a channel that is the same in all samples.
        mean: Mean of each channel over the training samples.
        mean_variance: Variance of the means of single samples.
        noise: Variance of the noise in the values.
        repeats: Whether the input functions repeat along each axis.
    """

    space: FunctionSpace
    scales: Float[Tensor, " channel"]
    mean: Float[Tensor, " channel"]
    mean_variance: Float[Tensor, " channel"]
    noise: Float[Tensor, " channel"]
    repeats: Bool[Tensor, " dim"]

    def __init__(self) -> None:
        super().__init__()
        self.space = FunctionSpace()
        self._register_empty("scales", "mean", "mean_variance", "noise")
        self.register_buffer("repeats", torch.empty(0, dtype=torch.bool))

    @staticmethod
    def fitted(
        space: FunctionSpace, points: Sequence[Float[Tensor, "_ dim"]], values: Sequence[Float[Tensor, "_ channel"]]
    ) -> tuple["InputFeatures", Float[Tensor, "sample channel mode"]]:
        """Choose the penalties of the space and the units; return the features of the training samples as well."""
        features = InputFeatures()
        features.space = with_chosen_penalties(space, points, values)
        repeating = repeating_axes(features.space, points, values)
        features.repeats = torch.tensor([axis in repeating for axis in range(space.dim)], device=space.lower.device)
        if repeating:
            points, values = features._with_copies(points, values)
            features.space = with_chosen_penalties(space, points, values)
        some = spread(len(points), at_most=_SAMPLES)
        prior = features.space.mean_prior([points[row] for row in some], [values[row] for row in some])
        features.mean, features.mean_variance, features.noise = prior.mean, prior.variance, prior.noise
        coefficients = features.space.coefficients(points, values, prior)
        scales = (coefficients - coefficients.mean(dim=0)).square().sum(dim=1).mean(dim=0).sqrt()
        features.scales = torch.where(scales > 0.0, scales, 1.0)
        return features, (coefficients / features.scales).mT

    def of(
        self, points: Sequence[Float[Tensor, "_ dim"]], values: Sequence[Float[Tensor, "_ channel"]]
    ) -> Float[Tensor, "sample channel mode"]:
        """Return the features of other samples."""
        prior = MeanPrior(mean=self.mean, variance=self.mean_variance, noise=self.noise)
        points, values = self._with_copies(points, values)
        return (self.space.coefficients(points, values, prior) / self.scales).mT

    def of_cloud(self, cloud: Cloud) -> Float[Tensor, "sample channel mode"]:
        """Return the features of each sample of a cloud."""
        return self.of(torch.split(cloud.points, cloud.sizes), torch.split(cloud.values, cloud.sizes))

    def _with_copies(
        self, points: Sequence[Float[Tensor, "_ dim"]], values: Sequence[Float[Tensor, "_ channel"]]
    ) -> tuple[list[Float[Tensor, "_ dim"]], list[Float[Tensor, "_ channel"]]]:
        # On the meta device nothing has a value.
        axes = [] if self.repeats.is_meta else self.repeats.nonzero()[:, 0].tolist()
        both = [with_copies(self.space, axes, *sample) for sample in zip(points, values, strict=True)]
        return [places for places, _ in both], [sample_values for _, sample_values in both]
