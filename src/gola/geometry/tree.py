"""Trees of points, periodic or not, that find neighbours; and the radius at which there are as many as wanted."""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

Points = Float[np.ndarray, "point dim"]
Periods = Sequence[float | None]
"""The period along each axis, None where the axis is not periodic."""

# Points whose neighbours are counted to find a radius.
_NUM_PROBES = 2000


def radius_for(points: Points, num_neighbours: float, *, periods: Periods | None = None) -> float:
    """Return the radius at which the points of one sample have ``num_neighbours`` neighbours on average.

    At most 2000 evenly chosen points are asked, so the answer is quick for large samples too.
    """
    tree, own = periodic_tree(points, periods, 0)
    check_count(num_neighbours, len(own) - 1, "other points", 0)
    probes = own[np.linspace(0, len(own) - 1, min(len(own), _NUM_PROBES)).astype(int)]
    probe_tree, _ = periodic_tree(probes, periods, 0)
    # Within the largest of these distances every probe has enough neighbours; itself is one of those found.
    low, high = 0.0, float(np.max(tree.query(probes, k=[math.ceil(num_neighbours) + 1])[0]))
    wanted = (num_neighbours + 1.0) * len(probes)
    # Each round keeps the one of 32 slices of the bracket in which the count passes the wanted one.
    while high - low > 1e-6 * high:
        radii = np.linspace(low, high, 33)
        reached = int(np.searchsorted(probe_tree.count_neighbors(tree, radii), wanted))
        low, high = float(radii[max(reached - 1, 0)]), float(radii[min(reached, 32)])
    return high


def periodic_tree(points: Points, periods: Periods | None, sample: int) -> tuple[cKDTree, Points]:
    """Return the tree of one sample and its points in float64, moved into the first period."""
    points = points.astype(np.float64)
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        row = int(np.flatnonzero(~finite)[0])
        raise ValueError(
            f"Sample {sample}: point {row} has a NaN or infinite coordinate, {points[row].tolist()};"
            " remove or repair it."
        )
    box = _box_size(points.shape[1], periods)
    if box is not None:
        wraps = box > 0
        points[:, wraps] %= box[wraps]
        # The remainder of a tiny negative number rounds to the period itself.
        points[:, wraps] = np.where(points[:, wraps] >= box[wraps], 0.0, points[:, wraps])
    # An unbalanced tree is built in half the time and answers as fast.
    return cKDTree(points, boxsize=box, balanced_tree=False, compact_nodes=False), points


def _box_size(dim: int, periods: Periods | None) -> Float[np.ndarray, " dim"] | None:
    if periods is None:
        return None
    if len(periods) != dim or any(period is not None and not 0 < period < np.inf for period in periods):
        raise ValueError(
            f"periods must give one positive number, or None, for each of the {dim} axes; got {tuple(periods)}."
        )
    return np.array([period or 0.0 for period in periods])


def check_count(num_neighbours: float, available: int, what: str, sample: int) -> None:
    """Refuse a number of neighbours that a sample cannot give."""
    if not 0 < num_neighbours <= available:
        raise ValueError(
            f"Sample {sample}: cannot have {num_neighbours} neighbours; there are {available} {what}."
            f" Ask for 1 to {available}."
        )
