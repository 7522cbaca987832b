"""Input functions as vectors that can be compared, whatever points they are known at."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from gola.operators.cloud import Cloud
from gola.representation.fitted import Fitted
from gola.representation.function_space import FunctionFit, FunctionSpace, MeanPrior
from gola.representation.periodicity import repeating_axes, with_copies
from gola.representation.representatives import spread
from gola.representation.smoothness import with_chosen_penalties

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
        mean_variance: Variance of the means of single samples; infinite where nothing is assumed of them.
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
        """Fit inputs as periodic where they look it and with what is known of their means; return the features too."""
        found = FittedInputs.periodic(space, points, values)
        return found.inputs, found.features

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


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class FittedInputs:
    """Input functions of the training samples, as features.

    Attributes:
        inputs: How they become features.
        features: The features.
        points: Points of each sample.
        values: Values there.
        fits: The fitted function of each sample.
    """

    inputs: InputFeatures
    features: Float[Tensor, "sample channel mode"]
    points: Sequence[Float[Tensor, "_ dim"]]
    values: Sequence[Float[Tensor, "_ channel"]]
    fits: Sequence[FunctionFit]

    @staticmethod
    def of(
        space: FunctionSpace,
        points: Sequence[Float[Tensor, "_ dim"]],
        values: Sequence[Float[Tensor, "_ channel"]],
        axes: Sequence[int] = (),
    ) -> "FittedInputs":
        """Choose the penalties of the space and the units.

        Args:
            space: Where input functions are expressed.
            points: Points of each sample.
            values: Values there.
            axes: Axes along which the functions repeat.
        """
        inputs = InputFeatures()
        inputs.space = space
        inputs.repeats = torch.tensor([axis in axes for axis in range(space.dim)], device=space.lower.device)
        copies = inputs._with_copies(points, values)
        inputs.space = with_chosen_penalties(space, *copies)
        fits = list(inputs.space.fits(*copies))
        return _with_means(
            inputs, MeanPrior.of([fits[row] for row in spread(len(fits), at_most=_SAMPLES)]), points, values, fits
        )

    @staticmethod
    def periodic(
        space: FunctionSpace, points: Sequence[Float[Tensor, "_ dim"]], values: Sequence[Float[Tensor, "_ channel"]]
    ) -> "FittedInputs":
        """Fit inputs as periodic along the axes where they look it, and plainly along the others."""
        plain = FittedInputs.of(space, points, values)
        axes = repeating_axes(plain.inputs.space, points, values)
        return FittedInputs.of(space, points, values, axes) if axes else plain

    @property
    def is_periodic(self) -> bool:
        """Whether the inputs are fitted as periodic along any axis."""
        return bool(self.inputs.repeats.any())

    def with_free_mean(self) -> "FittedInputs":
        """Return the inputs fitted without what the samples have in common in their means."""
        inputs = InputFeatures()
        inputs.space, inputs.repeats = self.inputs.space, self.inputs.repeats
        return _with_means(inputs, MeanPrior.free(self.fits[0].mean), self.points, self.values, self.fits)

    def with_free_ends(self) -> "FittedInputs":
        """Return the inputs fitted as if they did not repeat."""
        if not self.is_periodic:
            return self
        found = FittedInputs.of(self.inputs.space, self.points, self.values)
        return found if bool(self.inputs.mean_variance.isfinite().all()) else found.with_free_mean()


def _with_means(
    inputs: InputFeatures,
    prior: MeanPrior,
    points: Sequence[Float[Tensor, "_ dim"]],
    values: Sequence[Float[Tensor, "_ channel"]],
    fits: Sequence[FunctionFit],
) -> FittedInputs:
    """Fit the functions with what is known of their means, and bring them to units of their spread over the samples."""
    inputs.mean, inputs.mean_variance, inputs.noise = prior.mean, prior.variance, prior.noise
    coefficients = torch.stack([fit.with_mean(prior) for fit in fits])
    scales = (coefficients - coefficients.mean(dim=0)).square().sum(dim=1).mean(dim=0).sqrt()
    inputs.scales = torch.where(scales > 0.0, scales, 1.0)
    features = (coefficients / inputs.scales).mT
    return FittedInputs(inputs=inputs, features=features, points=points, values=values, fits=fits)
