"""Domains: where the points of a sample may lie."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from jaxtyping import Bool, Float

from gola.extras import require

# Number of sub-points that estimate how much of a simplex an implicit boundary leaves inside.
_POINTS_PER_SIMPLEX = 256
# Lattice cells along the longest side that measure an implicit domain, by dimension.
_MEASURE_RESOLUTION = {1: 4096, 2: 1024, 3: 192}


class Domain(ABC):
    """A bounded region of the plane or of space.

    Attributes:
        lower: Smallest coordinate along each axis.
        upper: Largest coordinate along each axis.
    """

    lower: Float[np.ndarray, " dim"]
    upper: Float[np.ndarray, " dim"]

    @property
    def dim(self) -> int:
        """Number of coordinates of a point."""
        return len(self.lower)

    @property
    @abstractmethod
    def measure(self) -> float:
        """Area in 2D, volume in 3D."""

    @abstractmethod
    def signed_distance(self, points: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, " point"]:
        """Distance to the boundary, negative inside."""

    @abstractmethod
    def overlap(self, simplices: Float[np.ndarray, "simplex vertex dim"]) -> Float[np.ndarray, " simplex"]:
        """Measure of the part of each simplex that lies inside the domain.

        The simplices must lie in the bounding box of the domain.
        """

    def contains(self, points: Float[np.ndarray, "point dim"]) -> Bool[np.ndarray, " point"]:
        """Whether each point lies inside or on the boundary."""
        return self.signed_distance(points) <= 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Box(Domain):
    """An axis-aligned rectangle or cuboid.

    >>> Box.unit(2).measure
    1.0
    """

    lower: Float[np.ndarray, " dim"]
    upper: Float[np.ndarray, " dim"]

    def __post_init__(self) -> None:
        _check_bounds(self.lower, self.upper)

    @classmethod
    def unit(cls, dim: int) -> "Box":
        """Return [0, 1]^dim."""
        return cls(lower=np.zeros(dim), upper=np.ones(dim))

    @classmethod
    def around(cls, points: Float[np.ndarray, "point dim"]) -> "Box":
        """Return the bounding box of a point set."""
        return cls(lower=points.min(axis=0), upper=points.max(axis=0))

    @property
    def measure(self) -> float:
        """Product of the side lengths."""
        return float(np.prod(self.upper - self.lower))

    def signed_distance(self, points: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, " point"]:
        """Distance to the nearest face, negative inside."""
        beyond = np.maximum(self.lower - points, points - self.upper)
        outside: Float[np.ndarray, " point"] = np.linalg.norm(np.maximum(beyond, 0.0), axis=1)
        return outside + np.minimum(beyond.max(axis=1), 0.0)

    def overlap(self, simplices: Float[np.ndarray, "simplex vertex dim"]) -> Float[np.ndarray, " simplex"]:
        """Whole simplices: they lie in the box already."""
        return simplex_measures(simplices)


@dataclass(frozen=True, kw_only=True, eq=False)
class Polygon(Domain):
    """A polygon, with or without holes.

    Attributes:
        exterior: Corners of the outline, in order, without repeating the first.
        holes: Corners of each hole.
    """

    exterior: Float[np.ndarray, "corner 2"]
    holes: tuple[Float[np.ndarray, "_ 2"], ...] = ()

    def __post_init__(self) -> None:
        if not np.isfinite(np.concatenate([self.exterior, *self.holes])).all():
            raise ValueError("A polygon needs finite corners; found NaN or infinity. Remove those corners.")
        if not self._shape.is_valid:
            reason = _shapely().is_valid_reason(self._shape)
            raise ValueError(
                f"The polygon is not simple: {reason}. Its outline must not cross itself, and holes must lie"
                " inside it without touching each other along an edge."
            )

    @cached_property
    def _shape(self) -> Any:
        shapely = _shapely()
        shape = shapely.Polygon(self.exterior, list(self.holes))
        shapely.prepare(shape)
        return shape

    @property
    def lower(self) -> Float[np.ndarray, " dim"]:  # type: ignore[override]
        """Smallest coordinate along each axis."""
        return cast("Float[np.ndarray, ' dim']", self.exterior.min(axis=0))

    @property
    def upper(self) -> Float[np.ndarray, " dim"]:  # type: ignore[override]
        """Largest coordinate along each axis."""
        return cast("Float[np.ndarray, ' dim']", self.exterior.max(axis=0))

    @property
    def measure(self) -> float:
        """Area of the outline less the areas of the holes."""
        return float(self._shape.area)

    def signed_distance(self, points: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, " point"]:
        """Exact distance to the nearest edge, negative inside."""
        shapely = _shapely()
        distance = shapely.distance(self._shape.boundary, shapely.points(points))
        inside = shapely.contains_xy(self._shape, points[:, 0], points[:, 1])
        return np.where(inside, -distance, distance)

    def overlap(self, simplices: Float[np.ndarray, "simplex vertex dim"]) -> Float[np.ndarray, " simplex"]:
        """Exact area of each triangle's intersection with the polygon."""
        shapely = _shapely()

        def clipped(cut: Float[np.ndarray, "simplex vertex dim"]) -> Float[np.ndarray, " simplex"]:
            triangles = shapely.polygons(cut)
            return cast("np.ndarray", shapely.area(shapely.intersection(triangles, self._shape)))

        return _overlap_where_cut(self, simplices, clipped)


@dataclass(frozen=True, kw_only=True, eq=False)
class ImplicitDomain(Domain):
    """The region where a signed-distance function is negative.

    The function may be any that is negative inside and never exceeds the true distance in size (unions and
    intersections of distances, as ``minimum`` and ``maximum``, are fine).

    Attributes:
        distance: Maps points to their signed distance from the boundary, negative inside.
        lower: Lower corner of a box that holds the domain.
        upper: Upper corner of that box.
    """

    distance: Callable[[Float[np.ndarray, "point dim"]], Float[np.ndarray, " point"]]
    lower: Float[np.ndarray, " dim"]
    upper: Float[np.ndarray, " dim"]

    def __post_init__(self) -> None:
        _check_bounds(self.lower, self.upper)

    def signed_distance(self, points: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, " point"]:
        """Evaluate the given function."""
        return self.distance(points)

    @cached_property
    def measure(self) -> float:
        """Measure of the domain, from a fine lattice with fractional cells at the boundary."""
        extent = self.upper - self.lower
        spacing = float(extent.max()) / _MEASURE_RESOLUTION[self.dim]
        counts = np.maximum(1, np.round(extent / spacing)).astype(int)
        axes = [
            low + (np.arange(count) + 0.5) * size / count
            for low, size, count in zip(self.lower, extent, counts, strict=True)
        ]
        first, *rest = axes
        # One slab of the lattice at a time keeps the memory small in 3D.
        total = 0.0
        slab = np.stack([axis.ravel() for axis in np.meshgrid(*rest, indexing="ij")], axis=1)
        for coordinate in first:
            centres = np.column_stack([np.full(len(slab), coordinate), slab])
            total += float(np.clip(0.5 - self.distance(centres) / spacing, 0.0, 1.0).sum())
        return total * float(np.prod(extent / counts))

    def overlap(self, simplices: Float[np.ndarray, "simplex vertex dim"]) -> Float[np.ndarray, " simplex"]:
        """Estimate the inside part of each cut simplex from quasi-random points in it."""
        barycentric = _quasi_random_barycentric(self.dim)

        def clipped(cut: Float[np.ndarray, "simplex vertex dim"]) -> Float[np.ndarray, " simplex"]:
            probes = np.einsum("pv,svd->spd", barycentric, cut)
            inside = self.distance(probes.reshape(-1, self.dim)).reshape(len(cut), -1) <= 0.0
            return simplex_measures(cut) * inside.mean(axis=1)

        return _overlap_where_cut(self, simplices, clipped)


def _shapely() -> Any:
    return require("shapely", extra="problems", what="A polygon")


def simplex_measures(
    simplices: Float[np.ndarray, "simplex vertex dim"],
) -> Float[np.ndarray, " simplex"]:
    """Area of triangles in 2D, volume of tetrahedra in 3D: |det(edges)| / dim!."""
    edges = simplices[:, 1:] - simplices[:, :1]
    return np.abs(np.linalg.det(edges)) / math.factorial(simplices.shape[2])


def _overlap_where_cut(
    domain: Domain,
    simplices: Float[np.ndarray, "simplex vertex dim"],
    clipped: Callable[[Float[np.ndarray, "cut vertex dim"]], Float[np.ndarray, " cut"]],
) -> Float[np.ndarray, " simplex"]:
    """Clip only the simplices that the boundary may cut; the others are wholly inside or outside."""
    centres = simplices.mean(axis=1)
    reach = np.linalg.norm(simplices - centres[:, None], axis=2).max(axis=1)
    distance = domain.signed_distance(centres)
    overlap = np.where(distance < 0.0, simplex_measures(simplices), 0.0)
    cut = np.abs(distance) <= reach
    if cut.any():
        overlap[cut] = clipped(simplices[cut])
    return overlap


def _quasi_random_barycentric(dim: int) -> Float[np.ndarray, "probe vertex"]:
    """Barycentric coordinates of points spread evenly over a simplex."""
    from scipy.stats import qmc  # takes half a second to import

    # The gaps between sorted uniform numbers are uniform on the simplex.
    cube = np.sort(qmc.Sobol(dim, scramble=False).random(_POINTS_PER_SIMPLEX), axis=1)
    return np.diff(cube, axis=1, prepend=0.0, append=1.0)


def _check_bounds(lower: Float[np.ndarray, " dim"], upper: Float[np.ndarray, " dim"]) -> None:
    if not (np.isfinite(lower).all() and np.isfinite(upper).all() and (lower < upper).all()):
        raise ValueError(
            f"A domain needs finite bounds with lower < upper on every axis; got lower={lower.tolist()},"
            f" upper={upper.tolist()}."
        )
