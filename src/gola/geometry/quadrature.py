"""Quadrature weights: how much of the domain each scattered point stands for."""

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import Voronoi

from gola.geometry.domains import Domain, simplex_measures

# Below this many points all of them are mirrored at once; it costs nothing and saves the search for a band.
_MIRROR_ALL_BELOW = 200
# Mirroring starts with the points within this many mean spacings of a wall.
_FIRST_BAND_IN_SPACINGS = 8.0
# Points on a wall would coincide with their mirror images; moved in by this share of the box they do not.
_INSET = 1e-7


def equal_weights(num_points: int, domain: Domain) -> Float[np.ndarray, " point"]:
    """Return the Monte-Carlo weights |domain| / N, the paper's choice (its 1/N)."""
    return np.full(num_points, domain.measure / num_points)


def voronoi_weights(points: Float[np.ndarray, "point dim"], domain: Domain) -> Float[np.ndarray, " point"]:
    r"""Return the measure of each point's Voronoi cell, clipped to the domain.

    The weight of point i is the measure of the part of the domain that is nearer to it than to any other point,
    so :math:`\sum_i w_i f(x_i)` integrates f however unevenly the points lie, and the weights sum to the measure
    of the domain. Coincident points share their cell equally.

    Cells are cut into simplices with the point as apex and a piece of a facet as base, and each simplex is
    clipped by ``domain.overlap``: exact for boxes and polygons, to about a percent of the cut cells for implicit
    domains.
    """
    if not np.isfinite(points).all():
        row = int(np.flatnonzero(~np.isfinite(points).all(axis=1))[0])
        raise ValueError(f"Point {row} has a NaN or infinite coordinate; remove it before computing weights.")
    inset = _INSET * (domain.upper - domain.lower)
    moved = np.clip(points, domain.lower + inset, domain.upper - inset)
    sites, copies, num_copies = np.unique(moved, axis=0, return_inverse=True, return_counts=True)
    simplices, owners = _cells_in_bounding_box(sites, domain)
    cells = np.bincount(owners, weights=domain.overlap(simplices), minlength=len(sites))
    # The rescaling only matters for implicit domains, whose overlap is an estimate.
    cells *= domain.measure / cells.sum()
    return (cells / num_copies)[copies]


def _cells_in_bounding_box(
    sites: Float[np.ndarray, "site dim"], domain: Domain
) -> tuple[Float[np.ndarray, "simplex vertex dim"], Int[np.ndarray, " simplex"]]:
    """Cut the Voronoi cells, clipped to the bounding box, into simplices, and return the owner of each.

    A wall of the box is the bisector between a point and its mirror image, so mirror images clip the cells
    exactly. Only points near a wall need one. An image never wins a place inside the box, so cells can only
    come out too large, beyond a wall: when their measures sum to that of the box, enough points were mirrored.
    """
    extent = domain.upper - domain.lower
    box_measure = float(np.prod(extent))
    band = _FIRST_BAND_IN_SPACINGS * (box_measure / len(sites)) ** (1 / domain.dim)
    if len(sites) < _MIRROR_ALL_BELOW:
        band = float(extent.max())
    while True:
        simplices, owners, bounded = _voronoi_simplices(_with_mirror_images(sites, domain, band), len(sites))
        complete = bounded and simplex_measures(simplices).sum() <= box_measure * (1 + 1e-9)
        if complete or band >= extent.max():
            return simplices, owners
        band *= 4.0


def _with_mirror_images(
    sites: Float[np.ndarray, "site dim"], domain: Domain, band: float
) -> Float[np.ndarray, "site_or_image dim"]:
    images = [sites]
    for axis in range(domain.dim):
        for wall in (domain.lower[axis], domain.upper[axis]):
            near = sites[np.abs(sites[:, axis] - wall) <= band]
            near[:, axis] = 2.0 * wall - near[:, axis]
            images.append(near)
    return np.concatenate(images)


def _voronoi_simplices(
    sites: Float[np.ndarray, "site dim"], num_owners: int
) -> tuple[Float[np.ndarray, "simplex vertex dim"], Int[np.ndarray, " simplex"], bool]:
    """Return the simplices of the cells of the first ``num_owners`` sites, and whether all are bounded."""
    voronoi = Voronoi(sites)
    # A facet separates two sites, and is the base of a pyramid in the cell of each.
    owners = np.concatenate([voronoi.ridge_points[:, 0], voronoi.ridge_points[:, 1]])
    facets = np.tile(np.arange(len(voronoi.ridge_points)), 2)
    ours = owners < num_owners
    owners, facets = owners[ours], facets[ours]
    sizes = np.fromiter(map(len, voronoi.ridge_vertices), dtype=np.int64, count=len(voronoi.ridge_vertices))
    corners = np.concatenate(voronoi.ridge_vertices)
    starts = np.cumsum(sizes) - sizes
    open_facets: Bool[np.ndarray, " facet"] = np.minimum.reduceat(corners, starts) < 0
    bounded = not open_facets[facets].any()
    closed = ~open_facets[facets]
    owners, facets = owners[closed], facets[closed]
    if sites.shape[1] == 2:
        bases = corners[starts[facets, None] + np.arange(2)]
    else:
        owners, bases = _fan(owners, starts[facets], sizes[facets], corners)
    simplices = np.concatenate([sites[owners][:, None], voronoi.vertices[bases]], axis=1)
    return simplices, owners.astype(np.int64), bounded


def _fan(
    owners: Int[np.ndarray, " pyramid"],
    starts: Int[np.ndarray, " pyramid"],
    sizes: Int[np.ndarray, " pyramid"],
    corners: Int[np.ndarray, " corner"],
) -> tuple[Int[np.ndarray, " simplex"], Int[np.ndarray, "simplex 3"]]:
    """Cut the polygonal base of each pyramid into triangles around its first corner."""
    num_triangles = sizes - 2
    pyramid = np.repeat(np.arange(len(owners)), num_triangles)
    step = np.arange(len(pyramid)) - np.repeat(np.cumsum(num_triangles) - num_triangles, num_triangles)
    first = starts[pyramid]
    bases = np.stack([corners[first], corners[first + step + 1], corners[first + step + 2]], axis=1)
    return owners[pyramid], bases
