"""All training samples at once, as a closed-form operator sees them."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from gola.operators.cloud import Cloud


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """Points, inputs and targets of each training sample, in float64.

    Attributes:
        points: Coordinates.
        inputs: The input function at the points.
        targets: The solution at the points.
        parameters: Numbers of each sample; none for an operator that sees them as channels of the inputs.
    """

    points: Sequence[Float[Tensor, "_ dim"]]
    inputs: Sequence[Float[Tensor, "_ input_channel"]]
    targets: Sequence[Float[Tensor, "_ target_channel"]]
    parameters: Float[Tensor, "sample parameter"]

    @staticmethod
    def of(cloud: Cloud, targets: Float[Tensor, "point target_channel"]) -> "Samples":
        """Take the samples of a cloud apart."""
        if len(targets) != cloud.num_points:
            raise ValueError(
                f"There are targets for {len(targets)} points and the cloud has {cloud.num_points}; give one row of"
                " targets for each point of the cloud."
            )
        checked = {"points": cloud.points, "inputs": cloud.values, "targets": targets, "parameters": cloud.parameters}
        for what, values in checked.items():
            if not values.isfinite().all():
                raise ValueError(f"The {what} of the training samples must be finite; remove NaN and infinite values.")
        parts = (torch.split(values.detach().double(), cloud.sizes) for values in (cloud.points, cloud.values, targets))
        points, inputs, solutions = parts
        parameters = cloud.parameters.detach().double()
        return Samples(points=points, inputs=inputs, targets=solutions, parameters=parameters)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def share_points(self) -> bool:
        """Whether all samples have the same points, in the same order."""
        first = self.points[0]
        return all(points.shape == first.shape and torch.equal(points, first) for points in self.points)

    @property
    def target_scales(self) -> Float[Tensor, " target_channel"]:
        """Root mean square of each target channel, each sample counting equally; 1 for a channel that is zero."""
        squares = torch.stack([values.square().mean(dim=0) for values in self.targets]).mean(dim=0)
        return torch.where(squares > 0.0, squares.sqrt(), 1.0)

    def probes(self, count: int) -> Float[Tensor, "probe dim"]:
        """Draw places where the data are from the points of all samples, always the same ones."""
        everywhere = torch.cat(list(self.points))
        order = torch.randperm(len(everywhere), generator=torch.Generator().manual_seed(0))
        return everywhere[order[:count].to(everywhere.device)]
