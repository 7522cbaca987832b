"""Parameters of samples that are drawn from a range."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import final

import numpy as np
from jaxtyping import Float

from gola.data.sample import Channel


@final
@dataclass(frozen=True, kw_only=True)
class ParameterRange:
    """A named number that samples differ in, and the values that it takes.

    Attributes:
        channel: Name and unit.
        lower: The smallest value.
        upper: The largest value.
        logarithmic: Whether the logarithm is uniform, as for numbers that span decades, and not the value itself.
    """

    channel: Channel
    lower: float
    upper: float
    logarithmic: bool = False

    def __post_init__(self) -> None:
        if not -inf < self.lower < self.upper < inf:
            raise ValueError(f"A range needs lower < upper, both finite; got {self.lower} and {self.upper}.")
        if self.logarithmic and self.lower <= 0.0:
            raise ValueError(f"A logarithmic range needs positive values; got lower={self.lower}.")

    def __str__(self) -> str:
        scale = ", logarithmic" if self.logarithmic else ""
        return f"{self.channel} from {self.lower:g} to {self.upper:g}{scale}"

    def at(self, share: float) -> float:
        """Return the value at a share of the range, from 0 at the lower to 1 at the upper end.

        >>> ParameterRange(channel=Channel(name="speed"), lower=1.0, upper=100.0, logarithmic=True).at(0.5)
        10.0
        """
        if self.logarithmic:
            return float(self.lower ** (1.0 - share) * self.upper**share)
        return float(self.lower * (1.0 - share) + self.upper * share)


def draw_parameters(ranges: Sequence[ParameterRange], rng: np.random.Generator) -> Float[np.ndarray, " parameter"]:
    """Draw every parameter from its range, independently of the others."""
    return np.array([one.at(share) for one, share in zip(ranges, rng.random(len(ranges)), strict=True)])


def channels_of(ranges: Sequence[ParameterRange]) -> tuple[Channel, ...]:
    """Return names and units of the parameters."""
    return tuple(one.channel for one in ranges)
