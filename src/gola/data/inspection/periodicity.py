"""Axes that look periodic, so that a user can say whether they are."""

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import cKDTree

from gola.data.dataset import Dataset
from gola.data.sample import Sample

# Samples that are looked at, at most; one that contradicts is enough.
_MOST_SAMPLES = 10
# Coordinates that differ by this share of the extent are equal; values, by this share of their spread.
_SAME_PLACE, _SAME_VALUE = 1e-6, 1e-6
# Values that vary along a side by less than this share of their spread are a boundary condition; so are, in cells at a
# wall, those that vary by less than that share of how they vary along other lines.
_VARIES, _VARIES_LIKE_OTHERS = 0.01, 0.5
# Slopes at opposite sides of what repeats agree at least so well; those of a mirror image are opposite.
_SAME_SLOPE, _OPPOSITE_SLOPE = 0.5, -0.5
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
            sides = _sides(samples, axis)
            period = _period_of_grid(samples, axis) if sides is None else _period_of_sides(samples, axis, sides)
            if period is not None:
                name = "xyz"[axis]
                yield (
                    f"The data may be periodic along {name} with the period {period:.6g}; if they are, say so:"
                    f" `gola import --period {name}={period:.6g}`, or periods=... in Dataset.from_arrays."
                )


def _sides(samples: Sequence[Sample], axis: int) -> list[tuple[np.ndarray, np.ndarray]] | None:
    """Return the points of each sample on one side of the box and those opposite, if values there agree."""
    lower, extent = _box(samples, axis)
    found = []
    for sample in samples:
        pairs = _opposite(sample, axis, lower, extent) if extent > 0 else None
        if pairs is None:
            return None
        values = _values(sample)
        if (np.abs(values[pairs[0]] - values[pairs[1]]) > _SAME_VALUE * np.ptp(values, axis=0)).any():
            return None
        found.append(pairs)
    return found


def _period_of_sides(
    samples: Sequence[Sample], axis: int, sides: Sequence[tuple[np.ndarray, np.ndarray]]
) -> float | None:
    """Return the extent of the box if values at its sides are not the same all over them, and go on across them."""
    at_side = [_values(sample)[near] for sample, (near, _) in zip(samples, sides, strict=True)]
    varies = _varies(at_side, [_values(sample) for sample in samples], _VARIES)
    # Single points do not vary along a side.
    known = varies if any(len(values) > 1 for values in at_side) else np.zeros_like(varies)
    near, far = (
        np.concatenate([_slopes(sample, axis, rows) for sample, rows in zip(samples, one, strict=True)])
        for one in zip(*sides, strict=True)
    )
    return _box(samples, axis)[1] if _tells(varies, samples) and _go_on(near, far, known) else None


def _tells(varies: Bool[np.ndarray, " channel"], samples: Sequence[Sample]) -> bool:
    """Whether solutions at a side of the box vary; a boundary value, u = 0 for instance, agrees on all sides."""
    num_inputs = _columns(samples[0].inputs).shape[1]
    return bool(varies[num_inputs:].any() if len(varies) > num_inputs else varies.any())


def _varies(
    some: Sequence[Float[np.ndarray, "_ channel"]], others: Sequence[Float[np.ndarray, "_ channel"]], share: float
) -> Bool[np.ndarray, " channel"]:
    """Whether values of each sample vary more than by a share of how others do; single ones, from sample to sample."""
    if all(len(values) == 1 for values in some):
        some, others = [np.concatenate(some)], [np.concatenate(others)]
    spread, whole = (np.mean([np.ptp(values, axis=0) for values in parts], axis=0) for parts in (some, others))
    return np.asarray(spread > share * whole)


def _go_on(
    near: Float[np.ndarray, "place channel"],
    far: Float[np.ndarray, "place channel"],
    varies: Bool[np.ndarray, " channel"],
) -> bool:
    """Whether slopes at one side are those at the other: they are not where a channel bends back, as at a wall.

    Slopes of rough functions have little in common even where they repeat, so of channels that vary along the side only
    mirror images are refused. Of the others, which are the same all over the side, slopes have to tell.
    """
    sizes = np.sqrt((near**2).sum(axis=0) * (far**2).sum(axis=0))
    alike = (near * far).sum(axis=0) / np.where(sizes > 0.0, sizes, 1.0)
    are_flat = (near**2 + far**2).sum(axis=0) == 0.0
    return bool((are_flat | (alike >= np.where(varies, _OPPOSITE_SLOPE, _SAME_SLOPE))).all())


def _slopes(sample: Sample, axis: int, rows: Int[np.ndarray, " place"]) -> Float[np.ndarray, "place channel"]:
    """Return derivatives along an axis at points of a side, from the nearest points inside and those next to them."""
    points, values = sample.points, _values(sample)
    along = points[:, axis]
    inside = np.flatnonzero(np.abs(along - along[rows[0]]) > _SAME_PLACE * np.ptp(along))
    tree = cKDTree(points[inside])
    first = inside[np.asarray(tree.query(points[rows])[1])]
    second = inside[np.asarray(tree.query(2.0 * points[first] - points[rows])[1])]
    slopes = [(values[some] - values[rows]) / (along[some] - along[rows])[:, None] for some in (first, second)]
    near, far = ((along[some] - along[rows])[:, None] for some in (first, second))
    is_farther = np.abs(far) > (1.0 + _SAME_PLACE) * np.abs(near)
    # To second order: on coarse grids slopes change from one step to the next.
    return slopes[0] + np.where(is_farther, (slopes[0] - slopes[1]) * near / np.where(is_farther, far - near, 1.0), 0.0)


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
    steps, bends, grids = [], [], []
    for sample in samples:
        on_grid = _as_grid(sample, axis, lower, extent, count)
        if on_grid is None:
            return None
        around = np.concatenate([on_grid[-2:], on_grid[:2]])
        steps.append(_relative(np.diff(around[1:3], axis=0), np.diff(on_grid, axis=0)))
        bends.append(_relative(np.diff(around, n=2, axis=0), np.diff(on_grid, n=2, axis=0)))
        grids.append(on_grid)
    goes_on = np.maximum(np.mean(steps, axis=0), np.mean(bends, axis=0)) <= _LARGEST_STEP
    if not goes_on.all() or not _tells(_varies_like_others(grids), samples):
        return None
    return extent * count / (count - 1)


def _varies_like_others(grids: Sequence[Float[np.ndarray, "place other channel"]]) -> Bool[np.ndarray, " channel"]:
    """Whether values vary along the first line of a grid as they do along others; nothing is at a wall then."""
    lines = list(zip(*grids, strict=True))
    first = _varies(lines[0], [on_grid.reshape(-1, on_grid.shape[2]) for on_grid in grids], _VARIES)
    alike = np.mean([_varies(lines[0], line, _VARIES_LIKE_OTHERS) for line in lines[1:]], axis=0) > 0.5
    return np.asarray(first & alike)


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
