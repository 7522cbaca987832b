"""Between scattered points and regular lattices: recognise a lattice, interpolate onto it and from it."""

import functools
import itertools
from dataclasses import dataclass
from typing import Literal, final

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from gola.geometry.interpolation import interpolation_weights

LatticeBox = Literal["unit", "cloud"]
"""Where a lattice lies: over the unit box, or over the bounding box of a sample's own points."""

Points = Float[Tensor, "point dim"]

# Share of the spacing by which a point may miss its node: far above rounding in single precision.
_TOLERANCE = 1e-3
# Weights that are remembered: those of all samples of a small training set, at most 0.5 MB each on 64 × 64 nodes.
_NUM_REMEMBERED = 256


@final
@dataclass(frozen=True, kw_only=True)
class Lattice:
    """Equally spaced nodes along every axis of a box, its walls included.

    Attributes:
        lower: Smallest coordinate along each axis.
        upper: Largest coordinate along each axis.
        shape: Number of nodes along each axis.
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    shape: tuple[int, ...]

    @staticmethod
    def unit(dim: int, resolution: int) -> "Lattice":
        """Return ``resolution`` nodes along each axis of the unit box."""
        return Lattice(lower=(0.0,) * dim, upper=(1.0,) * dim, shape=(resolution,) * dim)

    @staticmethod
    def around(points: Points, resolution: int) -> "Lattice":
        """Return ``resolution`` nodes along each axis of the points' bounding box."""
        numbers = _numbers(points)
        return Lattice(
            lower=tuple(numbers.min(axis=0).tolist()),
            upper=tuple(numbers.max(axis=0).tolist()),
            shape=(resolution,) * numbers.shape[1],
        )

    def points(self) -> Float[np.ndarray, "node dim"]:
        """Return the nodes in row-major order: the last coordinate varies fastest.

        >>> Lattice(lower=(0.0, 0.0), upper=(1.0, 4.0), shape=(2, 3)).points()[:4].tolist()
        [[0.0, 0.0], [0.0, 2.0], [0.0, 4.0], [1.0, 0.0]]
        """
        axes = [np.linspace(*ends) for ends in zip(self.lower, self.upper, self.shape, strict=True)]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Interpolation:
    r"""A linear map from values at some points to values at others, :math:`v(q) = \sum_k w_{qk} \, v(x_{r_{qk}})`.

    Attributes:
        rows: The points r that each query reads.
        weights: How much it takes from each.
    """

    rows: Int[Tensor, "query read"]
    weights: Float[Tensor, "query read"]

    def __call__(self, values: Float[Tensor, "point channel"]) -> Float[Tensor, "query channel"]:
        """Interpolate; differentiable in the values."""
        read = values[self.rows.to(values.device)]
        return torch.einsum("qr,qrc->qc", self.weights.to(values), read)


def lattice_of(points: Points) -> tuple[Lattice, Int[Tensor, " node"]] | None:
    """Recognise a complete lattice in any order; return it with the row of each node, or None.

    A lattice has at least two nodes along each axis, equally spaced up to a thousandth of the spacing. Axes may
    differ in extent, spacing and number of nodes.

    >>> points = torch.tensor([[0.0, 3.0], [1.0, 3.0], [1.0, 5.0], [0.0, 5.0]])
    >>> lattice, rows = lattice_of(points)
    >>> lattice.shape, rows.tolist()
    ((2, 2), [0, 3, 1, 2])
    >>> lattice_of(points[:3]) is None
    True
    """
    numbers = _numbers(points)
    found = [_equal_steps(column) for column in numbers.T]
    steps = [one for one in found if one is not None]
    shape = tuple(int(step.max()) + 1 for step in steps)
    if len(steps) < len(found) or np.prod(shape) != len(numbers):
        return None
    nodes = np.ravel_multi_index(steps, shape)
    rows = np.argsort(nodes)
    if not np.array_equal(nodes[rows], np.arange(len(rows))):
        return None
    lower, upper = numbers.min(axis=0).tolist(), numbers.max(axis=0).tolist()
    return Lattice(lower=tuple(lower), upper=tuple(upper), shape=shape), torch.from_numpy(rows)


def onto_lattice(points: Points, lattice: Lattice) -> Interpolation:
    """Interpolate from scattered points to the nodes, by the local splines of :func:`interpolation_weights`.

    A training set is seen many times, so the weights are remembered by the points' coordinates.
    """
    numbers = _numbers(points)
    return _remembered(numbers.tobytes(), lattice)


def from_lattice(lattice: Lattice, queries: Float[Tensor, "query dim"]) -> Interpolation:
    """Interpolate from the nodes to queries, linearly along each axis; beyond a wall the value there continues."""
    lower, upper, shape = np.array(lattice.lower), np.array(lattice.upper), np.array(lattice.shape)
    rates = (shape - 1) / np.where(upper > lower, upper - lower, 1.0)
    steps = (_numbers(queries) - lower) * rates
    # A query at a node gets the node's own value, whatever rounding did to its coordinates.
    steps = np.where(np.abs(steps - steps.round()) < _TOLERANCE, steps.round(), steps).clip(0, shape - 1)
    first = np.minimum(steps.astype(np.int64), np.maximum(shape - 2, 0))
    share = torch.from_numpy(steps - first)
    if queries.requires_grad:
        # The value is as above, the slope that of linear interpolation; beyond the walls there is none.
        inside = torch.from_numpy((_numbers(queries) >= lower) & (_numbers(queries) <= upper))
        exact = queries.cpu().double() * torch.from_numpy(rates)
        share = share + torch.where(inside, exact - exact.detach(), 0.0)
    corners = np.array(list(itertools.product((0, 1), repeat=len(shape))))
    nodes = np.minimum(first[:, None] + corners, shape - 1)
    weights = torch.where(torch.from_numpy(corners).bool(), share[:, None], 1.0 - share[:, None]).prod(dim=2)
    rows = np.ravel_multi_index(tuple(np.moveaxis(nodes, 2, 0)), lattice.shape)
    return Interpolation(rows=torch.from_numpy(rows), weights=weights)


@functools.lru_cache(maxsize=_NUM_REMEMBERED)
def _remembered(numbers: bytes, lattice: Lattice) -> Interpolation:
    points = np.frombuffer(numbers).reshape(-1, len(lattice.shape))
    rows, weights = interpolation_weights(points, lattice.points())
    return Interpolation(rows=torch.from_numpy(rows.astype(np.int32)), weights=torch.from_numpy(weights).float())


def _equal_steps(column: Float[np.ndarray, " point"]) -> Int[np.ndarray, " point"] | None:
    """Number the different coordinates along an axis, or return None if they are not equally spaced."""
    ordered = np.sort(column)
    spacing = np.diff(ordered).max(initial=0.0)
    if spacing == 0.0:
        return None
    steps = (column - ordered[0]) / spacing
    # Stretched so that the last node is a whole number of steps away: the largest gap is a rounding error too wide.
    steps *= np.round(steps.max()) / steps.max()
    return steps.round().astype(np.int64) if np.abs(steps - steps.round()).max() < _TOLERANCE else None


def _numbers(points: Points) -> Float[np.ndarray, "point dim"]:
    """Return the coordinates in double precision."""
    if points.is_meta:
        # Such a tensor has a shape and no numbers; whoever asks for shapes alone is served by any numbers.
        return np.zeros(points.shape)
    return points.detach().cpu().double().numpy()
