"""A reference shape that the shapes of all samples are images of, so that their points correspond."""

from collections.abc import Sequence
from typing import Literal, final

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.interpolate import RBFInterpolator
from torch import Tensor

from gola.geometry.outline import outline
from gola.geometry.shape import Shape
from gola.geometry.solid import solid
from gola.geometry.voids import signed_volumes
from gola.representation.fitted import Fitted

# Points that are matched, at most, by the number of coordinates: on each boundary curve, in space on all surfaces.
_MOST_MATCHED = {2: 250, 3: 400}
# Nodes of the reference, at most: a finer mesh would show little more of a field that is learned from few samples.
_MOST_NODES = 3000
# Outer boundaries without holes that move by less than this share of the extent, and of the distances between points,
# are those of one domain. Curves are matched from a start, which scatters; surfaces all over.
_LEAST_CHANGE = 0.02
_SCATTER = {2: 1.5, 3: 0.3}
# Splines that bend least, by the number of coordinates.
_SPLINES: dict[int, Literal["thin_plate_spline", "linear"]] = {2: "thin_plate_spline", 3: "linear"}


@final
class ReferenceShape(Fitted):
    r"""The mean of some shapes of one topology, with nodes that every such shape has, too.

    Boundary curves are matched by fractions of their length, surfaces by shares of their area, and the mean of the
    points :math:`r_i` that correspond makes the reference. Its map to a shape with the points :math:`c_i` is the
    thin-plate spline

    .. math:: \phi(x) = a + Bx + \sum_i w_i |x - r_i|^2 \log |x - r_i|, \qquad \phi(r_i) = c_i,

    in space with :math:`|x - r_i|`, which bends least of all maps that do so (Bookstein, 1989). As meshes of all
    samples are then one mesh whose nodes move, fields on them can be compared value by value (mesh morphing: Casenave
    et al., 2023, arXiv:2305.12871).

    Attributes:
        nodes: Nodes of the reference.
        cells: Simplices between them.
        boundary: Points on its boundary, one part after the other, the outer one first.
        places: Where on its part each is: which fraction of the length of a curve lies before it.
        sizes: Number of points on each part.
    """

    nodes: Float[Tensor, "node dim"]
    cells: Int[Tensor, "cell vertex"]
    boundary: Float[Tensor, "corner dim"]
    places: Float[Tensor, " corner"]
    sizes: Int[Tensor, " curve"]

    def __init__(self) -> None:
        super().__init__()
        self._register_empty("nodes", "boundary", "places")
        self.register_buffer("cells", torch.empty(0, 0, dtype=torch.int64))
        self.register_buffer("sizes", torch.empty(0, dtype=torch.int64))

    @staticmethod
    def of(shapes: Sequence[Shape]) -> "ReferenceShape":
        """Make the mean of some shapes."""
        if len(counts := {shape.num_holes for shape in shapes}) > 1:
            raise ValueError(
                f"Shapes must have the same number of holes to have a mean, and these have {sorted(counts)}; use an"
                " operator that does not map them to each other, like kernel."
            )
        found, first = ReferenceShape(), _thinned(shapes[0])
        curves = first.marks(_MOST_MATCHED[first.dim])
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

    def moved_nodes(self, shape: Shape) -> Float[np.ndarray, "node dim"]:
        """Return where the nodes lie in another shape of the same topology."""
        return _spline(self.boundary.numpy(), self._matched(shape), self.nodes.numpy())

    def _matched(self, shape: Shape) -> Float[np.ndarray, "corner dim"]:
        """Return the boundary points of a shape that correspond to those of the reference."""
        sizes = self.sizes.tolist()
        marks, places = ([part.numpy() for part in one.split(sizes)] for one in (self.boundary, self.places))
        return shape.matched_boundary(marks, places)

    def folded_share(self, shape: Shape) -> float:
        """Return how much of the reference is turned over by its map to a shape: 0 where the map is invertible."""
        cells = self.cells.numpy()
        before, after = (signed_volumes(nodes[cells]) for nodes in (self.nodes.numpy(), self.moved_nodes(shape)))
        return float(np.abs(before[before * after <= 0.0]).sum() / np.abs(before).sum())


def outlines(points: Sequence[Float[np.ndarray, "_ dim"]]) -> list[Shape] | None:
    """Find the shapes of samples that differ in shape and not in topology; None if they are not such."""
    found: list[Shape] = []
    for places in points:
        shape = shape_of(_some(places))
        if shape is None or (found and shape.num_holes != found[0].num_holes):
            return None
        found.append(shape)
    return found if found[0].num_holes or _differ(found) else None


def shape_of(points: Float[np.ndarray, "point dim"]) -> Shape | None:
    """Find the shape that points of the plane or of space fill, if there is one that can be matched to others."""
    finders = {2: outline, 3: solid}
    return finders[points.shape[1]](points) if points.shape[1] in finders else None


def _some(points: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, "kept dim"]:
    """Return no more points than it takes to see a shape: that of a large mesh takes seconds to find."""
    return np.random.default_rng(0).permutation(points)[:_MOST_NODES] if len(points) > _MOST_NODES else points


def _differ(shapes: Sequence[Shape]) -> bool:
    """Whether the outer boundaries of shapes differ by more than points scatter."""
    (marks, places), *_ = shapes[0].marks(_MOST_MATCHED[shapes[0].dim])
    moves = [np.abs(shape.matched(0, marks, places) - marks).mean() for shape in shapes[1:]]
    extent = float(np.prod(np.ptp(marks, axis=0)) ** (1.0 / shapes[0].dim))
    spacing = extent / len(shapes[0].points) ** (1.0 / shapes[0].dim)
    return float(np.mean(moves)) > _LEAST_CHANGE * extent + _SCATTER[shapes[0].dim] * spacing


def _thinned(shape: Shape) -> Shape:
    """Return the shape of no more points than a reference has."""
    if len(shape.points) <= _MOST_NODES:
        return shape
    on_boundary = np.zeros(len(shape.points), dtype=bool)
    on_boundary[np.concatenate(shape.borders)] = True
    others = np.flatnonzero(~on_boundary)
    count = max(_MOST_NODES // 3, _MOST_NODES - int(on_boundary.sum()))
    kept = np.random.default_rng(0).permutation(others)[:count]
    return shape_of(shape.points[np.sort(np.append(np.flatnonzero(on_boundary), kept))]) or shape


def _spline(
    sources: Float[np.ndarray, "corner dim"],
    images: Float[np.ndarray, "corner dim"],
    points: Float[np.ndarray, "point dim"],
) -> Float[np.ndarray, "point dim"]:
    """Return the images of points under the thin-plate spline that takes sources to their images."""
    spline = RBFInterpolator(sources, images - sources, kernel=_SPLINES[points.shape[1]], degree=1)
    return points + np.asarray(spline(points))
