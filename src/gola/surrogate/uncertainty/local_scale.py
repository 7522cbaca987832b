"""Where in the domain held-out predictions are off by more and where by less."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import cKDTree

from gola.mapped import picked_rows

# Places that the scale is kept at, at most; between them it is interpolated from so many nearest ones.
_MOST_ANCHORS, _NEAREST = 400, 4
# Residuals are smoothed over this share of the domain, the standard deviation of a Gaussian.
_WIDTH = 0.07
# Errors of few samples tell little of where new ones will be: it counts like so many samples with the same errors
# everywhere. Held-out errors of one sample are large where another is peculiar that was fitted to, so a scale that
# trusts them all would fit training samples better than new ones.
_PRIOR_SAMPLES = 10.0
# No place is trusted more than this share of the root mean square over the domain.
_FLOOR = 0.05
# Points that are smoothed, of all samples together and of one.
_MOST_POINTS, _MOST_PER_SAMPLE, _FEWEST_PER_SAMPLE = 60_000, 3000, 100


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalScale:
    """Typical size of errors over the domain, relative to their root mean square.

    Attributes:
        anchors: Places where it is known, in the unit box.
        rows: The points of the first sample, or of all samples one after the other, that the anchors are. Where the
            nodes of a mesh move, the same rows lie elsewhere in a new sample.
        num_nodes: Nodes of that mesh; 0 where none moves.
        values: The size of errors in each channel there.
    """

    anchors: Float[np.ndarray, "anchor dim"]
    rows: Int[np.ndarray, " anchor"]
    num_nodes: int
    values: Float[np.ndarray, "anchor channel"]
    _known: dict[bytes, Float[np.ndarray, "place channel"]] = field(default_factory=dict, init=False, repr=False)

    def at(
        self, places: Float[np.ndarray, "place dim"], points: Float[np.ndarray, "point dim"]
    ) -> Float[np.ndarray, "place channel"]:
        """Return the size of errors at places of a sample that has these points."""
        moves = bool(self.num_nodes) and self.num_nodes == len(points)
        if moves:
            return _interpolated(points[self.rows], places, self.values)
        # Most often many samples are asked for at the same places; those last asked for are kept.
        if (key := places.tobytes()) not in self._known:
            self._known.clear()
            self._known[key] = _interpolated(self.anchors, places, self.values)
        return self._known[key]


@dataclass(frozen=True, kw_only=True, eq=False)
class SmoothedSquares:
    """Squares of the errors of each sample, averaged around anchors.

    Attributes:
        places: Where the errors of each sample are known; the same for all whose nodes correspond.
        anchors: Where the averages are.
        rows: Which points these are, of the first sample where nodes correspond, else of all.
        sums: Weighted sums of the squares of each sample around each anchor.
        weights: Sums of the weights.
    """

    places: Sequence[Float[np.ndarray, "_ dim"]]
    anchors: Float[np.ndarray, "anchor dim"]
    rows: Int[np.ndarray, " anchor"]
    sums: Float[np.ndarray, "sample anchor channel"]
    weights: Float[np.ndarray, "sample anchor"]

    @staticmethod
    def of(
        points: Sequence[Float[np.ndarray, "_ dim"]],
        errors: Sequence[Float[np.ndarray, "_ channel"]],
        *,
        nodes_correspond: bool,
    ) -> "SmoothedSquares":
        """Average the squares of errors, each sample in units of its own root mean square.

        Args:
            points: Of each sample, in the unit box.
            errors: There.
            nodes_correspond: Whether row i is the same node in all samples; then averages are over the first mesh.
        """
        rng = np.random.default_rng(0)
        places = [points[0]] * len(points) if nodes_correspond else points
        sources = places[:1] if nodes_correspond else places
        rows = np.sort(rng.permutation(sum(len(one) for one in sources))[:_MOST_ANCHORS])
        anchors = picked_rows(sources, rows)
        most = int(np.clip(_MOST_POINTS // len(points), _FEWEST_PER_SAMPLE, _MOST_PER_SAMPLE))
        sums, weights, kept, near = [], [], None, None
        for where, error in zip(places, errors, strict=True):
            if near is None or not nodes_correspond:
                kept = rng.permutation(len(where))[:most]
                near = _gaussian(anchors, where[kept])
            assert kept is not None
            squares = error**2
            mean = squares.mean()
            sums.append(near @ (squares[kept] / mean if mean > 0.0 else squares[kept]))
            # A sample without any error says nothing about where errors are.
            weights.append(near.sum(axis=1) * (mean > 0.0))
        return SmoothedSquares(
            places=places,
            anchors=anchors,
            rows=rows,
            sums=np.stack(sums),
            weights=np.stack(weights),
        )

    def scale(self, num_nodes: int) -> LocalScale:
        """Return the scale that all samples tell together.

        Args:
            num_nodes: Nodes of a mesh that moves; 0 where none does.
        """
        values = _sizes(self.sums.sum(axis=0), self.weights.sum(axis=0), len(self.sums))
        return LocalScale(anchors=self.anchors, rows=self.rows, num_nodes=num_nodes, values=values)

    def without(self, sample: int, places: Float[np.ndarray, "place dim"]) -> Float[np.ndarray, "place channel"]:
        """Return what the other samples say, at places of this one."""
        sums = self.sums.sum(axis=0) - self.sums[sample]
        weights = self.weights.sum(axis=0) - self.weights[sample]
        return _interpolated(self.anchors, places, _sizes(sums, weights, len(self.sums) - 1))


def _sizes(
    sums: Float[np.ndarray, "anchor channel"], weights: Float[np.ndarray, " anchor"], count: int
) -> Float[np.ndarray, "anchor channel"]:
    """Return root mean squares of so many samples with a floor; the mean over all where nothing is near."""
    total = weights.sum()
    if not total > 0.0:
        return np.ones_like(sums)
    mean = np.maximum(sums.sum(axis=0), 0.0) / total
    # What is far from all other samples would be a quotient of two roundings.
    is_known = (weights > 1e-6 * weights.max())[:, None]
    squares = np.where(is_known, np.maximum(sums, 0.0) / np.where(is_known, weights[:, None], 1.0), mean)
    squares = (count * squares + _PRIOR_SAMPLES * mean) / (count + _PRIOR_SAMPLES)
    return np.sqrt(np.maximum(squares, np.where(mean > 0.0, _FLOOR**2 * mean, 1.0)))


def _gaussian(
    anchors: Float[np.ndarray, "anchor dim"], places: Float[np.ndarray, "place dim"]
) -> Float[np.ndarray, "anchor place"]:
    squares = (anchors**2).sum(axis=1)[:, None] + (places**2).sum(axis=1) - 2.0 * anchors @ places.T
    return np.asarray(np.exp(-np.maximum(squares, 0.0) / (2.0 * _WIDTH**2)))


def _interpolated(
    anchors: Float[np.ndarray, "anchor dim"],
    places: Float[np.ndarray, "place dim"],
    values: Float[np.ndarray, "anchor channel"],
) -> Float[np.ndarray, "place channel"]:
    distances, rows = cKDTree(anchors).query(places, k=np.arange(1, min(_NEAREST, len(anchors)) + 1))
    weights = 1.0 / (np.asarray(distances) ** 2 + 1e-12)
    weights /= weights.sum(axis=1, keepdims=True)
    return np.asarray(np.einsum("pk,pkc->pc", weights, values[np.asarray(rows)]))
