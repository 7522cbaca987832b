"""Periodic axes: where a domain ends on one side, it begins on the other."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from gola.data.sample import Sample
from gola.registry import unknown

Periods = tuple[float | None, ...]
"""The period along each axis, in the units of the points; None for an axis that is not periodic."""

_AXES = "xyz"
# Points may exceed a period by rounding, as a share of it.
_ROUNDING = 1e-6


def parse_periods(texts: Iterable[str]) -> dict[str, float]:
    """Read periods as a command line gives them.

    >>> parse_periods(["x=1.0"])
    {'x': 1.0}
    """
    by_axis: dict[str, float] = {}
    for text in texts:
        axis, _, number = (part.strip() for part in text.partition("="))
        try:
            by_axis[axis] = float(number)
        except ValueError:
            raise ValueError(f"A period is an axis and a length, like x=1.0; got {text!r}.") from None
    return by_axis


def from_axes(by_axis: Mapping[str, float], dim: int) -> Periods | None:
    """Return periods in the order of the axes from those by name; None for none.

    >>> from_axes({"x": 1.0}, dim=2)
    (1.0, None)
    """
    for axis in by_axis:
        if axis not in list(_AXES[:dim]):
            raise ValueError(unknown("axis", axis, _AXES[:dim]))
    return tuple(by_axis.get(axis) for axis in _AXES[:dim]) if by_axis else None


def checked_periods(periods: Sequence[float | None] | None, samples: Sequence[Sample]) -> Periods | None:
    """Check that periods are positive numbers, one or None per axis, and that points lie within one period."""
    if periods is None or all(period is None for period in periods):
        return None
    dim = samples[0].dim
    if len(periods) != dim:
        raise ValueError(f"periods needs a length or None for each of {dim} axes; got {tuple(periods)}.")
    lower = np.min([sample.points.min(axis=0) for sample in samples], axis=0)
    upper = np.max([sample.points.max(axis=0) for sample in samples], axis=0)
    for axis, period in enumerate(periods):
        if period is None:
            continue
        if not (isinstance(period, int | float | np.number) and math.isfinite(period) and period > 0):
            raise ValueError(f"The period along {_AXES[axis]} must be a positive number; got {period!r}.")
        if upper[axis] - lower[axis] > (1.0 + _ROUNDING) * period:
            raise ValueError(
                f"The points go from {lower[axis]:.6g} to {upper[axis]:.6g} along {_AXES[axis]}, further than the"
                f" period {period:.6g}; give the whole length after which everything repeats."
            )
    return tuple(None if period is None else float(period) for period in periods)


def in_words(periods: Periods | None) -> str:
    """Say which axes are periodic.

    >>> in_words((1.0, None))
    'x with period 1'
    """
    named = zip(_AXES, periods or (), strict=False)
    return ", ".join(f"{axis} with period {period:.6g}" for axis, period in named if period is not None)
