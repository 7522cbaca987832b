"""Axes that look periodic, so that a user can say whether they are."""

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

from gola.data.dataset import Dataset
from gola.data.sample import Sample

# Samples that are looked at, at most; one that contradicts is enough.
_MOST_SAMPLES = 10
# Coordinates that differ by this share of the extent are equal; values, by this share of their spread.
_SAME_PLACE, _SAME_VALUE = 1e-6, 1e-6
# Values that vary by less than this share of their spread are a boundary condition.
_VARIES = 0.01
# The step from the last point of a grid to the first may be this many times an ordinary step, on average; so may the
# change from one step to the next there: a bump in the middle of a box ends flat on both sides, at different slopes.
_LARGEST_STEP = 2.0
# A grid needs so many points along an axis to tell.
_FEWEST_STEPS = 8


def suggested_periods(dataset: Dataset) -> Iterator[str]:
    """Yield a sentence for each axis that looks periodic and was not declared so.

    Either values at opposite sides of the box agree wherever they are known at both, or the points are a grid that ends
    one step before everything repeats: 0, 1/n, …, (n − 1)/n.
    """
    rows = np.unique(np.linspace(0, len(dataset) - 1, _MOST_SAMPLES).astype(int))
    samples = [dataset[int(row)] for row in rows]
    if not all(np.isfinite(sample.points).all() for sample in samples):
        return
    for axis in range(dataset.dim):
        if dataset.periods is None or dataset.periods[axis] is None:
            period = _period_of_sides(samples, axis) or _period_of_grid(samples, axis)
            if period is not None:
                name = "xyz"[axis]
                yield (
                    f"The data may be periodic along {name} with the period {period:.6g}; if they are, say so:"
                    f" `gola import --period {name}={period:.6g}`, or periods=... in Dataset.from_arrays."
                )


def _period_of_sides(samples: Sequence[Sample], axis: int) -> float | None:
    """Return the extent of the box if values agree at its sides, and are not the same all over them."""
    lower, extent = _box(samples, axis)
    if not extent > 0:
        return None
    known = []
    for sample in samples:
        pairs = _opposite(sample, axis, lower, extent)
        if pairs is None:
            return None
        values = _values(sample)
        near, far = values[pairs[0]], values[pairs[1]]
        if (np.abs(near - far) > _SAME_VALUE * np.ptp(values, axis=0)).any():
            return None
        known.append(near)
    return extent if _tells(np.concatenate(known), samples) else None


def _tells(at_side: Float[np.ndarray, "place channel"], samples: Sequence[Sample]) -> bool:
    """Whether solutions at a side of the box vary; a boundary value, u = 0 for instance, agrees on all sides."""
    varies = np.ptp(at_side, axis=0) > _VARIES * np.ptp(np.concatenate([_values(one) for one in samples]), axis=0)
    num_inputs = _columns(samples[0].inputs).shape[1]
    return bool(varies[num_inputs:].any() if len(varies) > num_inputs else varies.any())


def _opposite(sample: Sample, axis: int, lower: float, extent: float) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the points on one side and those opposite; None if not all have one, or there are none."""
    along = sample.points[:, axis]
    first, last = (np.flatnonzero(np.abs(along - end) <= _SAME_PLACE * extent) for end in (lower, lower + extent))
    if not len(first) or len(first) != len(last):
        return None
    others = np.delete(sample.points, axis, axis=1)
    if not others.shape[1]:
        return first, last
    distances, rows = cKDTree(others[last]).query(others[first])
    reach = _SAME_PLACE * max(float(np.ptp(others, axis=0).max()), extent)
    return (first, last[rows]) if (np.asarray(distances) <= reach).all() else None


def _period_of_grid(samples: Sequence[Sample], axis: int) -> float | None:
    """Return the extent and one step more if points are a grid and values go on from its last points to its first."""
    lower, extent = _box(samples, axis)
    places = np.unique(np.round((samples[0].points[:, axis] - lower) / (extent or 1.0), 9))
    count = len(places)
    if count < _FEWEST_STEPS or not np.allclose(np.diff(places), 1.0 / (count - 1), rtol=1e-5):
        return None
    steps, bends, at_side = [], [], []
    for sample in samples:
        on_grid = _as_grid(sample, axis, lower, extent, count)
        if on_grid is None:
            return None
        around = np.concatenate([on_grid[-2:], on_grid[:2]])
        steps.append(_relative(np.diff(around[1:3], axis=0), np.diff(on_grid, axis=0)))
        bends.append(_relative(np.diff(around, n=2, axis=0), np.diff(on_grid, n=2, axis=0)))
        at_side.append(on_grid[0])
    goes_on = np.maximum(np.mean(steps, axis=0), np.mean(bends, axis=0)) <= _LARGEST_STEP
    if not goes_on.all() or not _tells(np.concatenate(at_side), samples):
        return None
    return extent * count / (count - 1)


def _relative(
    some: Float[np.ndarray, "_some other channel"], every: Float[np.ndarray, "_every other channel"]
) -> Float[np.ndarray, " channel"]:
    """Return the mean size of some differences in units of that of all of them, so that large samples count alike."""
    size, unit = (np.abs(differences).mean(axis=(0, 1)) for differences in (some, every))
    return np.where(size > 0.0, size / np.where(unit > 0.0, unit, 1.0), 0.0)


def _as_grid(
    sample: Sample, axis: int, lower: float, extent: float, count: int
) -> Float[np.ndarray, "place other channel"] | None:
    """Return values by place along an axis; None if the points are no grid along it."""
    places = np.round((sample.points[:, axis] - lower) / extent * (count - 1)).astype(int)
    others = np.delete(sample.points, axis, axis=1)
    order = np.lexsort((*np.round(others / (extent or 1.0), 9).T, places))
    if len(order) % count or not np.array_equal(np.sort(places), np.repeat(np.arange(count), len(order) // count)):
        return None
    return _values(sample)[order].reshape(count, len(order) // count, -1)


def _values(sample: Sample) -> Float[np.ndarray, "point channel"]:
    return np.concatenate([_columns(sample.inputs), _columns(sample.targets)], axis=1)


def _columns(values: Float[np.ndarray, "*time point channel"]) -> Float[np.ndarray, "point column"]:
    """Return a column for each channel, and for each time of a trajectory."""
    return values if values.ndim == 2 else np.moveaxis(values, 0, 1).reshape(values.shape[1], -1)


def _box(samples: Sequence[Sample], axis: int) -> tuple[float, float]:
    lower = min(float(sample.points[:, axis].min()) for sample in samples)
    upper = max(float(sample.points[:, axis].max()) for sample in samples)
    return lower, upper - lower
