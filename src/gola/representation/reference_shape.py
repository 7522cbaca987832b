"""A reference shape that the shapes of all samples are images of, so that their points correspond."""

from collections.abc import Sequence
from typing import final

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.interpolate import RBFInterpolator
from torch import Tensor

from gola.geometry.curves import fractions, matched, paired
from gola.geometry.outline import Outline, outline
from gola.geometry.voids import signed_volumes
from gola.representation.fitted import Fitted

# Points on each boundary curve that are matched, at most.
_MOST_MATCHED = 250
# Nodes of the reference, at most: a finer mesh would show little more of a field that is learned from few samples.
_MOST_NODES = 3000
# Boundary curves without holes that move by less than this share of the extent, and of the distances between points,
# are those of one domain.
_LEAST_CHANGE, _SCATTER = 0.02, 1.5


@final
class ReferenceShape(Fitted):
    r"""The mean of some shapes of one topology, with nodes that every such shape has, too.

    Boundary curves are matched by fractions of their length, and the mean of the points :math:`r_i` that correspond
    makes the reference. Its map to a shape with the points :math:`c_i` is the thin-plate spline

    .. math:: \phi(x) = a + Bx + \sum_i w_i |x - r_i|^2 \log |x - r_i|, \qquad \phi(r_i) = c_i,

    which bends least of all maps that do so (Bookstein, 1989). As meshes of all samples are then one mesh whose nodes
    move, fields on them can be compared value by value (mesh morphing: Casenave et al., 2023, arXiv:2305.12871).

    Attributes:
        nodes: Nodes of the reference.
        cells: Triangles between them.
        boundary: Points on its boundary curves, one curve after the other, the outer one first.
        places: Which fraction of the length of the curve lies before each.
        sizes: Number of points on each curve.
    """

    nodes: Float[Tensor, "node 2"]
    cells: Int[Tensor, "cell 3"]
    boundary: Float[Tensor, "corner 2"]
    places: Float[Tensor, " corner"]
    sizes: Int[Tensor, " curve"]

    def __init__(self) -> None:
        super().__init__()
        self._register_empty("nodes", "boundary", "places")
        self.register_buffer("cells", torch.empty(0, 3, dtype=torch.int64))
        self.register_buffer("sizes", torch.empty(0, dtype=torch.int64))

    @staticmethod
    def of(shapes: Sequence[Outline]) -> "ReferenceShape":
        """Make the mean of some shapes."""
        if len(counts := {shape.num_holes for shape in shapes}) > 1:
            raise ValueError(
                f"Shapes must have the same number of holes to have a mean, and these have {sorted(counts)}; use an"
                " operator that does not map them to each other, like kernel."
            )
        found, first = ReferenceShape(), _thinned(shapes[0])
        curves = [_corners(curve) for curve in first.curves]
        found.sizes = torch.tensor([len(curve) for curve, _ in curves])
        found.places = torch.from_numpy(np.concatenate([places for _, places in curves]))
        start = np.concatenate([curve for curve, _ in curves])
        found.boundary = torch.from_numpy(start)
        # What all are matched to should be their mean, which takes a match to be known: once more settles it.
        for _ in range(2):
            mean = np.mean([found._matched(shape) for shape in shapes], axis=0)
            found.boundary = torch.from_numpy(mean)
        found.nodes = torch.from_numpy(_spline(start, mean, first.points))
        found.cells = torch.from_numpy(first.cells)
        return found

    @property
    def num_holes(self) -> int:
        """Number of holes."""
        return len(self.sizes) - 1

    def moved_nodes(self, shape: Outline) -> Float[np.ndarray, "node 2"]:
        """Return where the nodes lie in another shape of the same topology."""
        return _spline(self.boundary.numpy(), self._matched(shape), self.nodes.numpy())

    def _matched(self, shape: Outline) -> Float[np.ndarray, "corner 2"]:
        """Return the boundary points of a shape that correspond to those of the reference."""
        sizes = self.sizes.tolist()
        references, places = ([part.numpy() for part in one.split(sizes)] for one in (self.boundary, self.places))
        outer, *holes = shape.curves
        curves = [outer, *(holes[row] for row in paired(holes, references[1:]))]
        return np.concatenate([matched(*three) for three in zip(curves, references, places, strict=True)])

    def folded_share(self, shape: Outline) -> float:
        """Return how much of the reference is turned over by its map to a shape: 0 where the map is invertible."""
        cells = self.cells.numpy()
        before, after = (signed_volumes(nodes[cells]) for nodes in (self.nodes.numpy(), self.moved_nodes(shape)))
        return float(np.abs(before[after <= 0.0]).sum() / np.abs(before).sum())


def outlines(points: Sequence[Float[np.ndarray, "_ dim"]]) -> list[Outline] | None:
    """Find the shapes of samples that differ in shape and not in topology; None if they are not such."""
    found: list[Outline] = []
    for places in points:
        shape = outline(_some(places)) if places.shape[1] == 2 else None
        if shape is None or (found and shape.num_holes != found[0].num_holes):
            return None
        found.append(shape)
    return found if found[0].num_holes or _differ(found) else None


def _some(points: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, "kept dim"]:
    """Return no more points than it takes to see a shape: that of a large mesh takes seconds to find."""
    return np.random.default_rng(0).permutation(points)[:_MOST_NODES] if len(points) > _MOST_NODES else points


def _differ(shapes: Sequence[Outline]) -> bool:
    """Whether the outer curves of shapes differ by more than points scatter."""
    first, places = _corners(shapes[0].curves[0])
    sides = np.ptp(first, axis=0)
    moves = [np.abs(matched(shape.curves[0], first, places) - first).mean() for shape in shapes[1:]]
    spacing = float(np.sqrt(np.prod(sides) / len(shapes[0].points)))
    return float(np.mean(moves)) > _LEAST_CHANGE * float(sides.max()) + _SCATTER * spacing


def _corners(curve: Float[np.ndarray, "corner 2"]) -> tuple[Float[np.ndarray, "kept 2"], Float[np.ndarray, " kept"]]:
    """Return some of the corners of a curve and the fractions of its length before them."""
    rows = np.linspace(0, len(curve), min(len(curve), _MOST_MATCHED), endpoint=False).astype(int)
    return curve[rows], fractions(curve)[rows]


def _thinned(shape: Outline) -> Outline:
    """Return the shape of no more points than a reference has."""
    if len(shape.points) <= _MOST_NODES:
        return shape
    on_boundary = np.zeros(len(shape.points), dtype=bool)
    on_boundary[np.concatenate(shape.loops)] = True
    others = np.flatnonzero(~on_boundary)
    count = max(0, _MOST_NODES - int(on_boundary.sum()))
    kept = np.random.default_rng(0).permutation(others)[:count]
    return outline(shape.points[np.sort(np.append(np.flatnonzero(on_boundary), kept))]) or shape


def _spline(
    sources: Float[np.ndarray, "corner 2"], images: Float[np.ndarray, "corner 2"], points: Float[np.ndarray, "point 2"]
) -> Float[np.ndarray, "point 2"]:
    """Return the images of points under the thin-plate spline that takes sources to their images."""
    spline = RBFInterpolator(sources, images - sources, kernel="thin_plate_spline")
    return points + np.asarray(spline(points))
