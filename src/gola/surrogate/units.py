"""Numbers far from 1 are brought near it before anything is squared: units of channels that are powers of two."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gola.data.sample import Sample

# Within this range of sizes all arithmetic is safe, and numbers stay as they are.
_SAFE = 1e60


def units_of(columns: Sequence[np.ndarray]) -> tuple[float, ...]:
    """Return the unit of each channel: 1 for ordinary sizes, else a power of two, by which dividing is exact.

    Args:
        columns: Values of each sample, (points, channels).

    >>> units_of([np.array([[3.0, 1.5 * 2.0**300, 0.0]])]) == (1.0, 2.0**300, 1.0)
    True
    """
    largest = np.max([np.abs(values).max(axis=0, initial=0.0) for values in columns], axis=0)
    return tuple(_unit(float(size)) for size in largest)


def in_units(
    sample: Sample, inputs: Sequence[float], targets: Sequence[float], parameters: Sequence[float] = ()
) -> Sample:
    """Return a sample with values in these units."""
    units = {"inputs": inputs, "targets": targets, "parameters": parameters}
    return replace(sample, **{name: getattr(sample, name) / np.array(given) for name, given in units.items()})


def _unit(size: float) -> float:
    if size == 0.0 or 1.0 / _SAFE < size < _SAFE:
        return 1.0
    return 2.0 ** max(math.floor(math.log2(size)), -1022)
