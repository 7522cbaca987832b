"""Fit a network operator to a few samples."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gola.data.cloud import Cloud
from gola.data.normaliser import Normaliser
from gola.data.sample import Sample
from gola.geometry import spatial_order
from gola.metrics import relative_l2
from gola.operators.operator import Operator


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """How to train.

    Attributes:
        num_epochs: Passes over the training samples.
        batch_size: Samples per step.
        learning_rate: Peak of the schedule: a linear warm-up, then half a cosine down to zero.
        weight_decay: Decoupled, as in AdamW.
        warmup: Share of the steps that warm up.
        clip: Largest norm of a gradient; longer ones are shortened to it.
        seed: Decides the initial parameters and the order of the samples.
    """

    num_epochs: int = 100
    batch_size: int = 5
    learning_rate: float = 1e-3
    weight_decay: float = 1e-4
    warmup: float = 0.1
    clip: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("num_epochs", "batch_size", "learning_rate", "clip"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be greater than 0; got {getattr(self, name)}.")
        if not 0.0 <= self.warmup < 1.0:
            raise ValueError(f"warmup is a share of the steps, from 0 up to 1; got {self.warmup}.")

    def learning_rate_at(self, progress: float) -> float:
        """Return the learning rate after this share of the steps."""
        if progress < self.warmup:
            return self.learning_rate * progress / self.warmup
        return self.learning_rate * 0.5 * (1.0 + math.cos(math.pi * (progress - self.warmup) / (1.0 - self.warmup)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Prepared:
    """A sample as a network sees it.

    Attributes:
        cloud: Points, normalised input values and, for operators that need them, neighbours.
        targets: The true solution, normalised.
    """

    cloud: Cloud
    targets: Float[Tensor, "point channel"]


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """The normalisers of inputs and targets, fitted to training samples only."""

    inputs: Normaliser
    targets: Normaliser

    @staticmethod
    def fit(samples: Iterable[Sample]) -> "Scaling":
        """Compute the statistics of training samples."""
        read = list(samples)
        return Scaling(
            inputs=Normaliser.fit(sample.inputs for sample in read),
            targets=Normaliser.fit(sample.targets for sample in read),
        )

    def prepare(self, sample: Sample, radius: float | None) -> Prepared:
        """Normalise a sample, put its points into spatial order, and find neighbours where a radius is given."""
        order = spatial_order(sample.points)
        cloud = Cloud.of(
            torch.from_numpy(sample.points[order]).float(),
            self.inputs.encode(torch.from_numpy(sample.inputs[order])).float(),
        )
        targets = self.targets.encode(torch.from_numpy(sample.targets[order])).float()
        return Prepared(cloud=cloud if radius is None else cloud.with_neighbours(radius), targets=targets)

    def errors(self, operator: Operator, samples: Sequence[Prepared]) -> Float[Tensor, " sample"]:
        """Return the relative L2 error of each sample, in physical units."""
        with torch.no_grad():
            return torch.cat([self.batch_errors(operator, [sample]) for sample in samples])

    def batch_errors(self, operator: Operator, batch: Sequence[Prepared]) -> Float[Tensor, " sample"]:
        """Return the same for samples that the operator sees together, differentiable in its parameters."""
        cloud = Cloud.collate([one.cloud for one in batch])
        targets = torch.cat([one.targets for one in batch])
        return relative_l2(self.targets.decode(operator(cloud)), self.targets.decode(targets), cloud.sizes)


def train(
    operator: Operator,
    samples: Sequence[Prepared],
    scaling: Scaling,
    config: TrainingConfig,
    on_epoch: Callable[[int, float], object] = lambda _epoch, _loss: None,
) -> None:
    """Minimise the mean relative L2 error of decoded predictions over the training samples.

    Args:
        operator: Trained in place.
        samples: Training samples.
        scaling: How they were normalised.
        config: How to train.
        on_epoch: Called after each epoch with its number and mean training error.
    """
    order = np.random.default_rng(config.seed)
    num_batches = math.ceil(len(samples) / config.batch_size)
    optimiser = torch.optim.AdamW(operator.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)
    for epoch in range(config.num_epochs):
        total = 0.0
        for number, rows in enumerate(np.array_split(order.permutation(len(samples)), num_batches)):
            for group in optimiser.param_groups:
                group["lr"] = config.learning_rate_at((epoch + (number + 1) / num_batches) / config.num_epochs)
            errors = scaling.batch_errors(operator, [samples[row] for row in rows])
            optimiser.zero_grad()
            errors.mean().backward()
            torch.nn.utils.clip_grad_norm_(operator.parameters(), config.clip)
            optimiser.step()
            total += errors.detach().sum().item()
        on_epoch(epoch, total / len(samples))
