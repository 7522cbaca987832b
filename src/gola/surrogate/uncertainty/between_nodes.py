"""How far solutions may be from what is interpolated between nodes.

Where all samples are known at the nodes of one mesh, held-out errors are known there only. What a solution does between
two nodes is told from nodes: each of some is held out and interpolated from those around. At a distance d from a node,
with the distance h between nodes, errors are taken to be the share :math:`d / 2h` of that: a quarter in the middle, as
those of linear interpolation are. Splines are off by less, so bands are rather too wide there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import cKDTree

from gola.geometry.interpolation import interpolation_weights
from gola.surrogate.uncertainty.levels import pooled, pooled_quantile, upper_quantile
from gola.surrogate.uncertainty.local_scale import LocalScale, SmoothedSquares
from gola.surrogate.uncertainty.prediction import Kind

# Nodes that are held out, at most, and the share of all that is held out together: the others around stay.
_MOST_HELD_OUT, _TOGETHER = 400, 0.1
# Fewer nodes for each coordinate cannot be interpolated between.
_FEWEST = 8
# The share of the error at a held-out node in the middle between two nodes.
_MIDDLE = 0.25


@dataclass(frozen=True, kw_only=True, eq=False)
class BetweenNodes:
    """Errors of interpolation between nodes, in units of the root mean square of each solution.

    Attributes:
        num_nodes: Nodes of the mesh.
        scale: Where they are large.
        scores: Of each sample, the largest quotient of error and scale.
        shares: Quantiles of the quotients at nodes of all samples, in each channel.
    """

    num_nodes: int
    scale: LocalScale
    scores: Float[np.ndarray, " sample"]
    shares: Float[np.ndarray, "share channel"]
    _known: dict[tuple[bytes, bytes], Float[np.ndarray, " place"]] = field(default_factory=dict, init=False, repr=False)

    @staticmethod
    def of(
        nodes: Float[np.ndarray, "node dim"], targets: Sequence[Float[np.ndarray, "node channel"]], *, moves: bool
    ) -> "BetweenNodes | None":
        """Hold nodes out of solutions; None where there are too few to interpolate between.

        Args:
            nodes: Of the first sample, in the unit box.
            targets: Solutions there, in units of the spread of each channel.
            moves: Whether nodes lie elsewhere in every sample; interpolation is in the first mesh then.
        """
        if len(nodes) < _FEWEST * nodes.shape[1]:
            return None
        rows = np.sort(np.random.default_rng(0).permutation(len(nodes))[:_MOST_HELD_OUT])
        sizes = [max(float(np.sqrt((one**2).mean())), np.finfo(float).tiny) for one in targets]
        triples = zip(targets, _interpolated(nodes, targets, rows), sizes, strict=True)
        errors = [(one[rows] - found) / size for one, found, size in triples]
        squares = SmoothedSquares.of([nodes[rows]] * len(targets), errors, nodes_correspond=True)
        quotients = [np.abs(error) / squares.without(number, nodes[rows]) for number, error in enumerate(errors)]
        scale = squares.scale(len(nodes) if moves else 0)
        return BetweenNodes(
            num_nodes=len(nodes),
            scale=LocalScale(
                anchors=scale.anchors, rows=rows[scale.rows], num_nodes=scale.num_nodes, values=scale.values
            ),
            scores=np.array([one.max() for one in quotients]),
            shares=np.stack([pooled(column) for column in zip(*(one.T for one in quotients), strict=True)], axis=1),
        )

    def half_widths(
        self,
        places: Float[np.ndarray, "place dim"],
        points: Float[np.ndarray, "point dim"],
        size: float,
        level: float,
        kind: Kind,
    ) -> Float[np.ndarray, "place channel"]:
        """Return what a band is to be wider by at each place, in units of the spread of each channel.

        Args:
            places: Where, in the unit box.
            points: Where the input is known: the nodes, if there are as many.
            size: Root mean square of the prediction.
            level: The probability of the band.
            kind: Whether it holds everywhere or pointwise.
        """
        shares = self._shares(places, points)
        if not shares.any():
            return np.zeros((len(places), self.shares.shape[1]))
        if kind == "everywhere":
            factors = np.full(self.shares.shape[1], upper_quantile(self.scores, level))
        else:
            factors = np.array([pooled_quantile(column, level) for column in self.shares.T])
        return shares[:, None] * factors * size * self.scale.at(places, points)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return all numbers as arrays by name."""
        return {
            "between.anchors": self.scale.anchors,
            "between.rows": self.scale.rows,
            "between.scale": self.scale.values,
            "between.scores": self.scores,
            "between.shares": self.shares,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return what is not an array, ready for JSON."""
        return {"between": {"num_nodes": self.num_nodes, "num_moved_nodes": self.scale.num_nodes}}

    @staticmethod
    def from_dict(values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> "BetweenNodes | None":
        """Undo ``to_dict`` and ``to_arrays``; None where there is none, as in files of before."""
        if "between" not in values:
            return None
        known = {name: arrays[f"between.{name}"] for name in ("anchors", "rows", "scale", "scores", "shares")}
        counts = values["between"]
        return BetweenNodes(
            num_nodes=int(counts["num_nodes"]),
            scale=LocalScale(
                anchors=known["anchors"],
                rows=known["rows"],
                num_nodes=int(counts["num_moved_nodes"]),
                values=known["scale"],
            ),
            scores=known["scores"],
            shares=known["shares"],
        )

    def _shares(
        self, places: Float[np.ndarray, "place dim"], points: Float[np.ndarray, "point dim"]
    ) -> Float[np.ndarray, " place"]:
        """Return the share of the error at a node that was held out."""
        if len(points) != self.num_nodes:
            return np.full(len(places), _MIDDLE * places.shape[1] ** 0.5)
        if places.shape == points.shape and np.array_equal(places, points):
            return np.zeros(len(places))
        # Most often many samples are asked for at the same places; those last asked for are kept.
        if (key := (places.tobytes(), points.tobytes())) not in self._known:
            self._known.clear()
            self._known[key] = _shares_near(places, points)
        return self._known[key]


def _shares_near(
    places: Float[np.ndarray, "place dim"], nodes: Float[np.ndarray, "node dim"]
) -> Float[np.ndarray, " place"]:
    tree = cKDTree(nodes)
    distances, nearest = tree.query(places)
    gaps = np.asarray(tree.query(nodes[nearest], k=[2])[0])[:, 0]
    return np.asarray(np.minimum(2.0 * _MIDDLE * distances / np.maximum(gaps, 1e-12), 1.0))


def _interpolated(
    nodes: Float[np.ndarray, "node dim"],
    targets: Sequence[Float[np.ndarray, "node channel"]],
    rows: Int[np.ndarray, " row"],
) -> Float[np.ndarray, "sample row channel"]:
    """Interpolate solutions at some nodes from all but a part of these nodes."""
    found = np.empty((len(targets), len(rows), targets[0].shape[1]))
    num_parts = int(np.ceil(len(rows) / max(1.0, _TOGETHER * len(nodes))))
    for part in np.array_split(np.random.default_rng(1).permutation(len(rows)), num_parts):
        others = np.delete(np.arange(len(nodes)), rows[part])
        read, weights = interpolation_weights(nodes[others], nodes[rows[part]])
        for number, one in enumerate(targets):
            found[number, part] = np.einsum("qk,qkc->qc", weights, one[others[read]])
    return found
