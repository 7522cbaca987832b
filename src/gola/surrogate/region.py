"""The region that known points fill, and what lies outside it: in a hole, a notch, or beyond its edge."""

from typing import final

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import cKDTree

# A place lies outside if the nearest known point is this many times as far as known points are apart,
_GAPS = 2.0
# up to this share of them, which may lie alone.
_ALONE = 0.01
# Cells of the lattice along an axis, at most.
_MOST_CELLS = 256


@final
class Region:
    """Where known points are, made once and asked many times.

    A lattice has cells so small that all of a cell is near a known point in it. Most places lie in such a cell, and
    only the others are compared with the points one by one.

    Args:
        known: The known points.
    """

    def __init__(self, known: Float[np.ndarray, "known dim"]) -> None:
        # Points of several samples may coincide.
        self._points = np.unique(known, axis=0)
        self._tree = cKDTree(self._points)
        self._reach = np.inf
        if len(self._points) > 1:
            gaps = self._tree.query(self._points, k=[2])[0]
            self._reach = _GAPS * float(np.quantile(gaps, 1.0 - _ALONE))
            self._fill_lattice()

    def excludes(self, places: Float[np.ndarray, "place dim"]) -> Bool[np.ndarray, " place"]:
        """Tell which places are farther from known points than these are from each other."""
        outside = np.zeros(len(places), dtype=bool)
        if not np.isfinite(self._reach):
            return outside
        left = np.flatnonzero(~self._in_filled_cells(places))
        distances, _ = self._tree.query(places[left], distance_upper_bound=np.nextafter(self._reach, np.inf))
        outside[left] = distances > self._reach
        return outside

    def _fill_lattice(self) -> None:
        lower, upper = self._points.min(axis=0), self._points.max(axis=0)
        dim = self._points.shape[1]
        # The diagonal of a cell is as long as a place may be away from a point.
        side = np.maximum(self._reach / dim**0.5, (upper - lower).max() * np.finfo(float).eps)
        most = min(_MOST_CELLS, int(1e7 ** (1.0 / dim)))
        self._lower, self._side = lower, np.full(dim, side)
        self._shape = np.minimum(np.floor((upper - lower) / side).astype(np.int64) + 1, most)
        filled = np.zeros(int(self._shape.prod()) + 1, dtype=bool)
        filled[self._cells(self._points)] = True
        # What lies beyond the lattice is in its last cell, which is never filled.
        filled[-1] = False
        self._filled = filled

    def _in_filled_cells(self, places: Float[np.ndarray, "place dim"]) -> Bool[np.ndarray, " place"]:
        found: Bool[np.ndarray, " place"] = self._filled[self._cells(places)]
        return found

    def _cells(self, places: Float[np.ndarray, "place dim"]) -> Int[np.ndarray, " place"]:
        cells = np.zeros(len(places), dtype=np.int64)
        within = np.ones(len(places), dtype=bool)
        for axis, count in enumerate(self._shape):
            steps = (places[:, axis] - self._lower[axis]) / self._side[axis]
            within &= (steps >= 0.0) & (steps < count)
            cells = cells * count + np.clip(steps, 0.0, count - 1).astype(np.int64)
        return np.where(within, cells, int(self._shape.prod()))
