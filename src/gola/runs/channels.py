"""Errors of the target channels, one by one: an error of all channels together can hide that of one."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

# Below this share of the error relative to the variation, an error relative to the size looks better than it is.
_NOTABLE = 0.5


@dataclass(frozen=True, kw_only=True)
class ChannelError:
    """Mean errors of a target channel.

    Attributes:
        name: Of the channel.
        error: Relative to the size of the target (relative L2 error).
        variation: Relative to how the target varies over the points; None where it was not computed.
    """

    name: str
    error: float
    variation: float | None = None

    @property
    def hides_variation(self) -> bool:
        """Whether a constant part of the target makes the error look far smaller than that of what varies."""
        return self.variation is not None and self.error < _NOTABLE * self.variation

    def __str__(self) -> str:
        """Return the error as text, with that relative to the variation where this differs notably.

        >>> str(ChannelError(name="u", error=0.01, variation=0.4))
        '0.0100 (0.4000 of its variation)'
        >>> str(ChannelError(name="u", error=0.1, variation=0.11))
        '0.1000'
        """
        return f"{self.error:.4f}" + (f" ({self.variation:.4f} of its variation)" if self.hides_variation else "")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)


def channel_errors(
    names: Sequence[str], errors: Sequence[float], variations: Sequence[float] | None = None
) -> tuple[ChannelError, ...]:
    """Return the errors of each channel.

    Args:
        names: Of the channels.
        errors: Mean relative L2 errors.
        variations: Mean errors relative to the variation, where they are known.
    """
    known = [None] * len(names) if variations is None else variations
    return tuple(
        ChannelError(name=name, error=error, variation=variation)
        for name, error, variation in zip(names, errors, known, strict=True)
    )


def mean_channel_errors(several: Sequence[Sequence[ChannelError]]) -> tuple[ChannelError, ...]:
    """Return the mean over runs or samples; none where there are none, or where some do not know theirs."""
    if not several or not all(several):
        return ()
    columns = list(zip(*several, strict=True))
    variations = [[one.variation for one in column] for column in columns]
    known = not any(None in column for column in variations)
    return channel_errors(
        [column[0].name for column in columns],
        [float(np.mean([one.error for one in column])) for column in columns],
        [float(np.mean(column)) for column in variations] if known else None,
    )


def worth_showing(channels: Sequence[ChannelError]) -> bool:
    """Whether errors by channel say more than the overall error does."""
    return len(channels) > 1 or any(channel.hides_variation for channel in channels)
