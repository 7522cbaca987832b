"""A mesh of the region that scattered points fill, with its boundary, in the plane and in space."""

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import Delaunay, QhullError, cKDTree

from gola.geometry.voids import signed_volumes, spacings, voids

# Simplices of less volume than this share of the cube of their size have none: they lie between points of one plane.
_FLAT = 1e-4
# A triangle whose edge at the boundary is seen from the opposite corner under a larger angle (in degrees) bridges a
# bend: meshes have no such triangles, since the corner would have been left out or the edge divided.
_LARGEST_ANGLE = 120.0
# So does one whose edge is so many times as long as the distances between points around its ends.
_LONGEST = 2.0
# If more than this share of a boundary were bridges, points are not those of a mesh, and may lie anywhere near it.
_MOST_BRIDGES = 0.06


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Filling:
    """Simplices that fill a region, and the facets around it.

    Attributes:
        points: The points.
        cells: Simplices between them.
        facets: Edges, in space triangles, of the boundary.
        normals: Outward unit normals of the facets.
        areas: Lengths, in space areas, of the facets.
        at_hole: Whether a facet belongs to a hole rather than to the outer boundary.
        stand_ins: For each point itself, or the nearest point that has cells where it has none.
    """

    points: Float[np.ndarray, "point dim"]
    cells: Int[np.ndarray, "cell vertex"]
    facets: Int[np.ndarray, "facet corner"]
    normals: Float[np.ndarray, "facet dim"]
    areas: Float[np.ndarray, " facet"]
    at_hole: Bool[np.ndarray, " facet"]
    stand_ins: Int[np.ndarray, " point"]


def filling(points: Float[np.ndarray, "point dim"]) -> Filling:
    """Fill the region of some points by their Delaunay triangulation without its holes and bays.

    Neither cells nor boundary flags are needed. Points of one plane may leave flat simplices between them in space;
    these are left out, and are no part of the boundary.
    """
    dim = points.shape[1]
    try:
        mesh = Delaunay(points)
    except (QhullError, ValueError) as error:
        raise ValueError(
            f"A mesh needs at least {dim + 1} points that do not all lie on a line or plane; got {len(points)}."
        ) from error
    cells, neighbours = mesh.simplices.astype(np.int64), mesh.neighbors
    empty = voids(points, cells, neighbours)
    in_void, in_hole = np.zeros(len(cells), dtype=bool), np.zeros(len(cells), dtype=bool)
    for void in empty:
        in_void[void] = True
        in_hole[void] = not np.any(neighbours[void] < 0)
    if dim == 2:
        _leave_bridges(points, cells, neighbours, in_void, in_hole)
    beyond = np.where(neighbours < 0, True, in_void[neighbours]) & ~in_void[:, None]
    owners, sides = np.nonzero(beyond)
    facets = np.array([np.delete(cells[owner], side) for owner, side in zip(owners, sides, strict=True)])
    across = neighbours[owners, sides]
    centres = points[cells].mean(axis=1)
    # Simplices at the boundary may be flat, and do not tell which side they are on.
    outwards = np.where(
        (across >= 0)[:, None], centres[across] - centres[owners], centres[owners] - points.mean(axis=0)
    )
    normals, areas = _normals(points[facets], outwards)
    solid = ~in_void & ~_is_flat(points[cells])
    return Filling(
        points=points,
        cells=cells[solid],
        facets=facets,
        normals=normals,
        areas=areas,
        at_hole=(across >= 0) & in_hole[across],
        stand_ins=_stand_ins(points, cells[solid]),
    )


def _leave_bridges(
    points: Float[np.ndarray, "point 2"],
    cells: Int[np.ndarray, "cell 3"],
    neighbours: Int[np.ndarray, "cell 3"],
    in_void: Bool[np.ndarray, " cell"],
    in_hole: Bool[np.ndarray, " cell"],
) -> None:
    """Count triangles that bridge bends of the boundary as part of what lies beyond; changes the last two arguments."""
    around = spacings(points)[cells]
    first, second = (np.roll(points[cells], -shift, axis=1) - points[cells] for shift in (1, 2))
    opposite = np.linalg.norm(second - first, axis=2)
    lengths = np.linalg.norm(first, axis=2) * np.linalg.norm(second, axis=2)
    is_wide = (first * second).sum(axis=2) < np.cos(np.radians(_LARGEST_ANGLE)) * lengths
    is_long = opposite > _LONGEST * 0.5 * (around.sum(axis=1, keepdims=True) - around)
    most: float | None = None
    while True:
        beyond = np.where(neighbours < 0, True, in_void[neighbours]) & ~in_void[:, None]
        bridges, edges = np.nonzero(beyond & (is_wide | is_long))
        most = most or _MOST_BRIDGES * beyond.sum()
        if not 0 < len(bridges) <= most:
            return
        across = neighbours[bridges, edges]
        in_hole[bridges] = (across >= 0) & in_hole[across]
        in_void[bridges] = True


def _is_flat(corners: Float[np.ndarray, "cell vertex dim"]) -> Bool[np.ndarray, " cell"]:
    sizes = np.ptp(corners, axis=1).max(axis=1)
    flat: Bool[np.ndarray, " cell"] = np.abs(signed_volumes(corners)) <= _FLAT * sizes ** corners.shape[2]
    return flat


def _normals(
    corners: Float[np.ndarray, "facet corner dim"], outwards: Float[np.ndarray, "facet dim"]
) -> tuple[Float[np.ndarray, "facet dim"], Float[np.ndarray, " facet"]]:
    """Return outward unit normals and areas, given any directions that lead outwards."""
    edges = corners[:, 1:] - corners[:, :1]
    if edges.shape[1] == 1:
        across = np.stack([edges[:, 0, 1], -edges[:, 0, 0]], axis=1)
    else:
        across = 0.5 * np.cross(edges[:, 0], edges[:, 1])
    inward = np.einsum("fd,fd->f", across, outwards) < 0.0
    areas = np.linalg.norm(across, axis=1)
    outward = np.where(inward[:, None], -across, across)
    return outward / np.where(areas > 0.0, areas, 1.0)[:, None], areas


def _stand_ins(points: Float[np.ndarray, "point dim"], cells: Int[np.ndarray, "cell vertex"]) -> np.ndarray:
    """Return the nearest point with cells: points that occur twice have none, nor those at the bottom of a notch."""
    used = np.unique(cells)
    if not len(used):
        raise ValueError(f"A mesh needs points that do not all lie in a plane; got {len(points)} in one.")
    found = np.arange(len(points))
    others = np.setdiff1d(found, used)
    found[others] = used[cKDTree(points[used]).query(points[others])[1]]
    return found
