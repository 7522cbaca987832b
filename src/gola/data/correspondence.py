"""How the points of one sample correspond to those of another: the same points, the same nodes moved, or not at all."""

from collections.abc import Callable, Iterable
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import cKDTree

from gola.data.sample import Sample

Correspondence = Literal["same points", "moved nodes", "none"]
"""``"same points"``: all samples have the same points in the same order. ``"moved nodes"``: row i is the same node of a
mesh in every sample, at another place. ``"none"``: each sample has points of its own."""

# Nodes that neighbours are looked up for, at most, spread over all of them.
_MOST_NODES = 1000
# Nodes were moved if this share of the pairs of nearest neighbours in one sample are near in another, that is among
# three times as many nearest ones,
_STILL_NEAR, _NEAR = 0.9, 3
# and their distances, in units of the domain, change by less than this factor: points drawn again along a line stay
# neighbours if they are sorted, but keep no distances.
_LARGEST_STRETCH = 4.0


class CorrespondenceSearch:
    """Looks at samples one by one, and tells what they have in common; reads no further once that is nothing."""

    def __init__(self) -> None:
        self.found: Correspondence = "same points"
        self._first: Sample | None = None
        self._is_moved: Callable[[Float[np.ndarray, "point dim"]], bool] | None = None

    def add(self, sample: Sample) -> None:
        """Compare one more sample with the first."""
        if self._first is None:
            self._first = sample
        elif self.found != "none" and not _same_points(sample, self._first):
            self.found = "moved nodes" if self._has_moved(sample) else "none"

    def _has_moved(self, sample: Sample) -> bool:
        first = self._first
        assert first is not None
        if sample.points.shape != first.points.shape or not np.isfinite([sample.points, first.points]).all():
            return False
        if sample.cells is not None and first.cells is not None:
            return np.array_equal(sample.cells, first.cells)
        if self._is_moved is None:
            self._is_moved = _motion_from(first.points)
        return self._is_moved(sample.points)


def correspondence_of(samples: Iterable[Sample]) -> Correspondence:
    """Return how the points of samples correspond."""
    search = CorrespondenceSearch()
    for sample in samples:
        search.add(sample)
        if search.found == "none":
            break
    return search.found


def require_correspondence(samples: Iterable[Sample], declared: Correspondence) -> None:
    """Check that samples can correspond in the way that a user says.

    Raises:
        ValueError: If there is no such way, or a sample contradicts it.
    """
    if declared not in get_args(Correspondence):
        raise ValueError(f"correspondence must be one of {', '.join(get_args(Correspondence))}; got {declared!r}.")
    first: Sample | None = None
    for number, sample in enumerate(samples):
        first = first or sample
        if declared == "same points" and not _same_points(sample, first):
            raise ValueError(f"Sample {number} does not have the points of sample 0, as declared by 'same points'.")
        if declared == "moved nodes" and (
            sample.num_points != first.num_points or not _equal(sample.cells, first.cells)
        ):
            raise ValueError(
                f"Sample {number} has {sample.num_points} points where sample 0 has {first.num_points}, or other cells;"
                " 'moved nodes' needs the same number and equal cells in all samples."
            )


def _same_points(sample: Sample, other: Sample) -> bool:
    return sample.points is other.points or np.array_equal(sample.points, other.points)


def _equal(cells: Int[np.ndarray, "cell vertex"] | None, others: Int[np.ndarray, "cell vertex"] | None) -> bool:
    return cells is others or (cells is not None and others is not None and np.array_equal(cells, others))


def _motion_from(first: Float[np.ndarray, "point dim"]) -> Callable[[Float[np.ndarray, "point dim"]], bool]:
    """Return a test of whether points are those of the first sample moved, without folding or tearing them apart."""
    first, count = _in_units_of_the_domain(first), len(first)
    num_neighbours = min(2 * first.shape[1], count - 1)
    if num_neighbours < 1:
        return lambda _points: True
    nodes = np.unique(np.linspace(0, count - 1, _MOST_NODES).astype(int))
    # The nearest of all is the node itself.
    found = cKDTree(first).query(first[nodes], k=list(range(2, num_neighbours + 2)))
    gaps, neighbours = np.asarray(found[0]), np.asarray(found[1])
    num_near = max(num_neighbours, min(_NEAR * num_neighbours, count // 3))

    def is_moved(points: Float[np.ndarray, "point dim"]) -> bool:
        points = _in_units_of_the_domain(points)
        reach = cKDTree(points).query(points[nodes], k=[num_near + 1])[0]
        apart = np.linalg.norm(points[neighbours] - points[nodes][:, None], axis=2)
        if (apart <= reach).mean() < _STILL_NEAR:
            return False
        # Nodes that coincide in both have no distance to compare.
        stretches = apart[gaps > 0] / gaps[gaps > 0]
        kept = (stretches > 1.0 / _LARGEST_STRETCH) & (stretches < _LARGEST_STRETCH)
        return bool(kept.mean() >= _STILL_NEAR) if len(kept) else True

    return is_moved


def _in_units_of_the_domain(points: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, "point dim"]:
    # Divided first: squares of very large numbers are infinite, and of very small ones zero.
    fractions = points / (float(np.abs(points).max()) or 1.0)
    return fractions / (float(np.linalg.norm(np.ptp(fractions, axis=0))) or 1.0)
