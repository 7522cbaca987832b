"""What inputs may do in an equation: features of its coefficients, and loads."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, final

import torch
from jaxtyping import Float
from torch import Tensor

# Inputs that are never a smaller share of others have a logarithm.
_LEAST_POSITIVE = 1e-6


@final
@dataclass(frozen=True, kw_only=True)
class Feature:
    """What the logarithm of the medium may be proportional to: an input channel, or its logarithm.

    Attributes:
        channel: Which input.
        is_log: Whether its logarithm is meant.
        centre: What is subtracted.
        scale: What it is divided by then.
    """

    channel: int
    is_log: bool
    centre: float
    scale: float

    def of(self, values: Float[Tensor, "row channel"]) -> Float[Tensor, " row"]:
        """Return the feature of input values."""
        column = values[:, self.channel]
        # Inputs of new samples may be smaller than all that were seen.
        floor = _LEAST_POSITIVE * math.exp(self.centre) if self.is_log else -torch.inf
        return ((column.clamp(min=floor).log() if self.is_log else column) - self.centre) / self.scale


@final
@dataclass(frozen=True, kw_only=True)
class Load:
    """What may drive the solution: a constant, or input channels.

    Attributes:
        kind: A constant or a scalar (one channel), a vector (a channel for each axis), or a symmetric tensor (a channel
            for each pair of axes, row by row, those below the diagonal repeated).
        channels: Which inputs; none for the constant.
        scale: What they are divided by.
        factors: Axes of the coordinates that it is multiplied by: loads may vary along a boundary, or across a domain.
        axis: Of a boundary load, along which axis a vector is driven; along the normal where there is none.
    """

    kind: Literal["constant", "scalar", "vector", "tensor"]
    channels: tuple[int, ...]
    scale: float
    factors: tuple[int, ...] = ()
    axis: int | None = None

    def of(
        self, values: Float[Tensor, "row channel"], points: Float[Tensor, "row dim"]
    ) -> Float[Tensor, "row component"]:
        """Return the load of input values at some points."""
        found = torch.ones_like(points[:, :1]) if not self.channels else values[:, list(self.channels)] / self.scale
        return found * points[:, list(self.factors)].prod(dim=1, keepdim=True) if self.factors else found


def features_of(values: Float[Tensor, "row channel"], channels: Sequence[int]) -> tuple[Feature, ...]:
    """Return what a medium may depend on: channels that vary, and logarithms of those that are positive."""
    found = []
    for channel in channels:
        column = values[:, channel]
        if not column.std() > 1e-9 * column.abs().max():
            continue
        if column.min() > _LEAST_POSITIVE * column.max():
            logs = column.log()
            found.append(Feature(channel=channel, is_log=True, centre=float(logs.mean()), scale=1.0))
        found.append(Feature(channel=channel, is_log=False, centre=float(column.mean()), scale=float(column.std())))
    return tuple(found)
