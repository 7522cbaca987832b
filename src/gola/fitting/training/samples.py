"""Training samples as a network sees them, prepared once."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gola.data.sample import Sample
from gola.geometry import spatial_order
from gola.geometry.points import draw_rows
from gola.metrics import relative_l2_errors
from gola.operators.cloud import Cloud
from gola.operators.operator import Operator
from gola.operators.scaling import Scaling
from gola.operators.spectral.pde_residual import ResidualRegulariser

Batch = tuple[Cloud, Float[Tensor, "point channel"]]
SampleErrors = tuple[Float[Tensor, " sample"], Float[Tensor, " sample"] | None]
"""The errors of some samples, and penalties for as many other inputs where there is a regulariser."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PreparedSamples:
    """Samples with their clouds, which are built when first asked for and kept.

    Attributes:
        samples: The samples.
        operator: Decides what structure a cloud gets.
        scaling: Fitted to the training samples.
        num_points: Points to draw again in every epoch; None for all points of a sample.
        seed: Decides which.
    """

    samples: Sequence[Sample]
    operator: Operator
    scaling: Scaling
    num_points: int | None = None
    seed: int = 0
    kept: dict[int, Batch] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.samples)

    def batch(self, rows: Sequence[int], epoch: int) -> Batch:
        """Return the samples with these numbers as one cloud, and their targets in the units of the operator."""
        parts = [self._one(row, epoch) for row in rows]
        return Cloud.collate([cloud for cloud, _ in parts]), torch.cat([targets for _, targets in parts])

    def _one(self, row: int, epoch: int) -> Batch:
        sample = self.samples[row]
        if self.num_points is not None and self.num_points < sample.num_points:
            rng = np.random.default_rng([self.seed, epoch, row])
            return self._prepared(sample, draw_rows(sample.num_points, self.num_points, rng))
        if row not in self.kept:
            self.kept[row] = self._prepared(sample, np.arange(sample.num_points))
        return self.kept[row]

    def _prepared(self, sample: Sample, rows: np.ndarray) -> Batch:
        # Neighbours in space become neighbours in memory.
        rows = rows[spatial_order(sample.points[rows])]
        cloud = self.scaling.cloud(sample.points[rows], sample.inputs[rows], parameters=sample.parameters)
        return self.operator.prepare(cloud), self.scaling.encode(sample.targets[rows])


class Objective(torch.nn.Module):
    """The relative L2 error of an operator on each of some samples, in physical units, all channels counting alike.

    Args:
        operator: The operator.
        samples: The samples.
        regulariser: A learned PDE residual for other inputs, if there is one.
    """

    def __init__(
        self, operator: Operator, samples: PreparedSamples, regulariser: ResidualRegulariser | None = None
    ) -> None:
        super().__init__()
        self.operator = operator
        self.samples = samples
        self._regulariser = regulariser

    # Samples go by their numbers: whatever wraps this module for several devices need not know what a cloud is.
    def forward(self, rows: Sequence[int], epoch: int) -> SampleErrors:
        """Return the errors of the samples with these numbers, differentiable in the operator's parameters.

        The second part are penalties for as many other inputs, by the PDE residual of their predictions; or None.
        """
        cloud, targets = self.samples.batch(rows, epoch)
        others = [] if self._regulariser is None else self._regulariser.drawn(len(rows), epoch, *rows)
        device = next(self.operator.parameters()).device
        together = (
            Cloud.collate([cloud, *(self._regulariser.clouds[row] for row in others)]) if self._regulariser else cloud
        )
        predictions = self.operator(together.to(device)).float()
        scaling = self.samples.scaling
        errors = relative_l2_errors(
            scaling.decode(predictions[: cloud.num_points]),
            scaling.decode(targets.to(device)),
            cloud.sizes,
            scaling.targets.scale,
        )
        if self._regulariser is None:
            return errors, None
        return errors, self._regulariser.penalties(torch.split(predictions, together.sizes)[len(rows) :], others)
