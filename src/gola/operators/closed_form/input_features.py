"""Input functions as vectors that can be compared, whatever points they are known at."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
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

# Inputs that differ by a smaller share lead to the same predictions, for all that can be told from few samples.
_SMALL_DIFFERENCE = 1e-3
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
        found = FittedInputs.of(space, points, values)
        return found.inputs, found.features

    def of(
        self, points: Sequence[Float[Tensor, "_ dim"]], values: Sequence[Float[Tensor, "_ channel"]]
    ) -> Float[Tensor, "sample channel mode"]:
        """Return the features of other samples."""
        prior = MeanPrior(mean=self.mean, variance=self.mean_variance, noise=self.noise)
        # On the meta device nothing has a value.
        axes = [] if self.repeats.is_meta else self.repeats.nonzero()[:, 0].tolist()
        return (self.space.coefficients(*_copied(self.space, axes, points, values), prior) / self.scales).mT

    def of_cloud(self, cloud: Cloud) -> Float[Tensor, "sample channel mode"]:
        """Return the features of each sample of a cloud."""
        return self.of(torch.split(cloud.points, cloud.sizes), torch.split(cloud.values, cloud.sizes))


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class SampleFits:
    """The fitted input function of each training sample, fitted when first asked for.

    Attributes:
        bare: Where input functions are expressed, without penalties.
        axes: Axes along which the functions repeat.
        points: Points of each sample.
        values: Values there.
        with_free_ends: The same samples, fitted as if they did not repeat, if they do.
    """

    bare: FunctionSpace
    axes: Sequence[int]
    points: Sequence[Float[Tensor, "_ dim"]]
    values: Sequence[Float[Tensor, "_ channel"]]
    with_free_ends: "SampleFits | None" = None

    @staticmethod
    def of(
        space: FunctionSpace,
        points: Sequence[Float[Tensor, "_ dim"]],
        values: Sequence[Float[Tensor, "_ channel"]],
        axes: Sequence[int] | None = None,
    ) -> "SampleFits":
        """Tell along which axes functions repeat.

        Args:
            space: Where input functions are expressed.
            points: Points of each sample.
            values: Values there.
            axes: Axes along which the functions repeat; by default those along which they look it.
        """
        free = SampleFits(bare=space, axes=(), points=points, values=values)
        axes = repeating_axes(free.space, points, values) if axes is None else axes
        return replace(free, axes=axes, with_free_ends=free) if axes else free

    @cached_property
    def space(self) -> FunctionSpace:
        """The space with the penalties that suit the functions."""
        return with_chosen_penalties(self.bare, *_copied(self.bare, self.axes, self.points, self.values))

    @cached_property
    def fits(self) -> list[FunctionFit]:
        """The fitted functions."""
        return self.space.fits(*_copied(self.space, self.axes, self.points, self.values))

    @cached_property
    def means(self) -> MeanPrior:
        """What the samples have in common in their means."""
        return MeanPrior.of([self.fits[row] for row in spread(len(self.fits), at_most=_SAMPLES)])


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class FittedInputs:
    """Input functions of the training samples, as features.

    Attributes:
        samples: The function of each sample.
        has_free_mean: Whether functions are fitted without what the samples have in common in their means.
    """

    samples: SampleFits
    has_free_mean: bool = False

    @staticmethod
    def of(
        space: FunctionSpace,
        points: Sequence[Float[Tensor, "_ dim"]],
        values: Sequence[Float[Tensor, "_ channel"]],
        axes: Sequence[int] | None = None,
    ) -> "FittedInputs":
        """Fit inputs as periodic along some axes, by default along those where they look it."""
        return FittedInputs(samples=SampleFits.of(space, points, values, axes))

    @property
    def is_periodic(self) -> bool:
        """Whether the inputs are fitted as periodic along any axis."""
        return bool(self.samples.axes)

    def with_free_mean(self) -> "FittedInputs":
        """Return the inputs fitted without what the samples have in common in their means."""
        return replace(self, has_free_mean=True)

    def with_free_ends(self) -> "FittedInputs":
        """Return the inputs fitted as if they did not repeat."""
        free = self.samples.with_free_ends
        return self if free is None else replace(self, samples=free)

    def differs_from(self, other: "FittedInputs") -> bool:
        """Whether features differ by more than a small share of how they vary, so that it may matter which are used."""
        varying = self.features - self.features.mean(dim=0)
        return float((self.features - other.features).norm()) > _SMALL_DIFFERENCE * float(varying.norm())

    @cached_property
    def features(self) -> Float[Tensor, "sample channel mode"]:
        """The coefficients of the functions, in units of their spread over the samples."""
        return (self._coefficients / self.inputs.scales).mT

    @cached_property
    def inputs(self) -> InputFeatures:
        """How input functions become features."""
        space, coefficients = self.samples.space, self._coefficients
        found = InputFeatures()
        found.space = space
        found.repeats = torch.tensor([axis in self.samples.axes for axis in range(space.dim)]).to(space.lower.device)
        found.mean, found.mean_variance, found.noise = self._means.mean, self._means.variance, self._means.noise
        scales = (coefficients - coefficients.mean(dim=0)).square().sum(dim=1).mean(dim=0).sqrt()
        found.scales = torch.where(scales > 0.0, scales, 1.0)
        return found

    @cached_property
    def _coefficients(self) -> Float[Tensor, "sample mode channel"]:
        return torch.stack([fit.with_mean(self._means) for fit in self.samples.fits])

    @property
    def _means(self) -> MeanPrior:
        return MeanPrior.free(self.samples.fits[0].mean) if self.has_free_mean else self.samples.means


def _copied(
    space: FunctionSpace,
    axes: Sequence[int],
    points: Sequence[Float[Tensor, "_ dim"]],
    values: Sequence[Float[Tensor, "_ channel"]],
) -> tuple[list[Float[Tensor, "_ dim"]], list[Float[Tensor, "_ channel"]]]:
    """Return the points and values of samples that repeat along some axes, with copies beyond the ends."""
    both = [with_copies(space, axes, *sample) for sample in zip(points, values, strict=True)]
    return [places for places, _ in both], [sample_values for _, sample_values in both]
