"""Kernel ridge regression on whole input functions, with the true symmetries and shifts of the problem as copies."""

import itertools
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import cho_factor, cho_solve, lapack
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from benchmarks.engineering.cases import Split
from benchmarks.engineering.rasters import from_raster, on_raster
from gola.data.dataset import Dataset
from gola.data.frame import Frame
from gola.data.mirror import Mirror
from gola.geometry.symmetry import Symmetry, generated_group

# Copies of all training samples together: for the prediction, and for the choice of length-scale and penalty.
MOST, MOST_TO_CHOOSE = 6000, 700
# Length-scales in units of the median distance of samples, and penalties.
LENGTHS = (0.5, 1.0, 2.0, 4.0, 16.0)
PENALTIES = (1e-10, 1e-8, 1e-6, 1e-4, 1e-2)
# The choice looks at so many values of a solution.
NUM_JUDGED = 300

Table = Float[np.ndarray, "sample _"]


def kernel_with_copies(split: Split) -> list[np.ndarray]:
    """Predict the test samples; samples with points of their own are brought to a raster, and back."""
    train, test = (split.train, split.test) if split.train.shares_points else on_raster(split.train, split.test)
    spread = np.concatenate([sample.inputs for sample in train]).std(axis=0)
    units = np.where(spread > 0.0, spread, 1.0)
    seen, values, groups = copied(split, train, units, MOST_TO_CHOOSE)
    mean = values.mean(axis=0)
    unit = float(np.median(cdist(seen, seen)[np.triu_indices(len(seen), 1)]))
    length, penalty = chosen(seen / unit, values - mean, groups)
    seen, values, _ = copied(split, train, units, MOST)
    asked = np.stack([(sample.inputs / units).ravel() for sample in test])
    gram = matern(cdist(seen, seen) / (unit * length)) + penalty * np.eye(len(seen))
    weights = matern(cdist(asked, seen) / (unit * length)) @ cho_solve(cho_factor(gram), values - mean)
    found = [row.reshape(test[0].targets.shape) * split.scales for row in mean + weights]
    return found if split.train.shares_points else from_raster(found, test, split.test)


def copied(
    split: Split, data: Dataset, units: Float[np.ndarray, " channel"], most: int
) -> tuple[Table, Table, Int[np.ndarray, " row"]]:
    """Return input and solution of each copy as rows in units of their spread, and the sample that it is a copy of."""
    group = generated_group([Symmetry.parse(text) for text in split.problem.symmetries], data.dim)
    shifts = lattice(split, data, most // (len(data) * len(group)))
    frame = Frame.around(data)
    if (periods := split.problem.periods) is not None:
        # Nothing marks the place where a periodic box begins, so it is as long as its period.
        sides = tuple(period or side for period, side in zip(periods, frame.sides, strict=True))
        frame = replace(frame, sides=sides)
    mirror = Mirror.of(frame, data.inputs, data.targets)
    points = data[0].points
    rows = []
    for symmetry, shift in itertools.product(group, shifts):
        moved = mirror.image(data[0], symmetry).points + shift
        order = nearest(moved, points, periods)
        for number, sample in enumerate(data):
            image = mirror.image(sample, symmetry)
            rows.append(((image.inputs[order] / units).ravel(), (image.targets[order] / split.scales).ravel(), number))
    seen, values, groups = zip(*rows, strict=True)
    return np.stack(seen), np.stack(values), np.array(groups)


def lattice(split: Split, data: Dataset, most: int) -> Float[np.ndarray, "shift dim"]:
    """Return shifts by multiples of the grid spacing along periodic axes, evenly spread, not more than so many."""
    periods = split.problem.periods or (None,) * data.dim
    num_periodic = sum(period is not None for period in periods)
    axes = []
    for axis, period in enumerate(periods):
        places = np.unique(data[0].points[:, axis])
        count = 1 if period is None else max(1, min(len(places), int(most ** (1.0 / num_periodic) + 1e-9)))
        steps = np.round(np.linspace(0.0, len(places), count, endpoint=False))
        axes.append(steps * (period or 0.0) / len(places))
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, data.dim)


def nearest(
    moved: Float[np.ndarray, "point dim"],
    points: Float[np.ndarray, "point dim"],
    periods: tuple[float | None, ...] | None,
) -> Int[np.ndarray, " point"]:
    """Return for each point the row that moved there; both are the same set."""
    sizes = [period or 0.0 for period in periods or (None,) * points.shape[1]]
    wrapped = np.stack([np.mod(x, size) if size else x for x, size in zip(moved.T, sizes, strict=True)], axis=1)
    # The remainder of a division may round up to the divisor.
    wrapped = np.where(wrapped >= np.where(np.array(sizes) > 0.0, sizes, np.inf), 0.0, wrapped)
    distances, order = cKDTree(wrapped, boxsize=sizes if any(sizes) else None).query(points)
    if distances.max() > 1e-6 * np.ptp(points):
        raise ValueError("The points are not symmetric, so copies do not lie on them.")
    return order


def chosen(seen: Table, values: Table, groups: Int[np.ndarray, " row"]) -> tuple[float, float]:
    """Return the length-scale and the penalty with the smallest error when each sample is held out with its copies."""
    judged = values[:, :: max(1, values.shape[1] // NUM_JUDGED)]
    distances, tried = cdist(seen, seen), {}
    for length, penalty in itertools.product(LENGTHS, PENALTIES):
        factor, failed = lapack.dpotrf(matern(distances / length) + penalty * np.eye(len(seen)), lower=True)
        if failed:
            continue
        inverse = lapack.dpotri(factor, lower=True)[0]
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        weights, errors = inverse @ judged, []
        for sample in np.unique(groups):
            rows = np.flatnonzero(groups == sample)
            left = np.linalg.solve(inverse[np.ix_(rows, rows)], weights[rows])
            errors.append(np.linalg.norm(left) / np.linalg.norm(judged[rows]))
        tried[length, penalty] = float(np.mean(errors))
    return min(tried, key=tried.__getitem__)


def matern(distances: Float[np.ndarray, "row column"]) -> Float[np.ndarray, "row column"]:
    """Return Matérn's covariance with smoothness 5/2."""
    scaled = 5.0**0.5 * distances
    return (1.0 + scaled + scaled**2 / 3.0) * np.exp(-scaled)
