"""Closed surfaces of triangles: places all over them, the nearest ones, and those that correspond to another's."""

import numpy as np
from jaxtyping import Float, Int
from scipy.cluster.vq import kmeans2
from scipy.interpolate import RBFInterpolator
from scipy.optimize import linear_sum_assignment
from scipy.spatial import cKDTree

# So many random places for each one that they are gathered in, in so many steps.
_DRAWN, _STEPS = 12, 8
# The nearest place is looked for on so many triangles.
_TRIANGLES = 8
# How smooth a displacement is, from one step to the next; what is left is what brings places onto the surface.
_SMOOTHING = (1.0, 0.1, 0.01)


def spread(triangles: Float[np.ndarray, "triangle 3 3"], count: int) -> Float[np.ndarray, "count 3"]:
    """Return places on a surface that share its area evenly."""
    rng = np.random.default_rng(0)
    shares = areas(triangles)
    drawn = rng.choice(len(triangles), size=_DRAWN * count, p=shares / shares.sum())
    places = np.einsum("nk,nkd->nd", rng.dirichlet(np.ones(3), size=len(drawn)), triangles[drawn])
    centres, _ = kmeans2(places, places[:count], minit="matrix", iter=_STEPS, missing="warn")
    return nearest(triangles, centres)


def areas(triangles: Float[np.ndarray, "triangle 3 3"]) -> Float[np.ndarray, " triangle"]:
    """Return the areas of triangles."""
    across = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    return 0.5 * np.asarray(np.linalg.norm(across, axis=1))


def euler_characteristic(facets: Int[np.ndarray, "facet 3"]) -> int:
    """Return corners less edges plus triangles: 2 for a surface like a sphere, 0 with a handle, less with more."""
    edges = np.sort(np.concatenate([facets[:, [0, 1]], facets[:, [1, 2]], facets[:, [2, 0]]]), axis=1)
    return len(np.unique(facets)) - len(np.unique(edges, axis=0)) + len(facets)


def matched(
    triangles: Float[np.ndarray, "triangle 3 3"], marks: Float[np.ndarray, "mark 3"]
) -> Float[np.ndarray, "mark 3"]:
    r"""Return the places on a surface that correspond to marks that share the area of another evenly.

    First those that carry areas to areas with least displacement, centres aside: an assignment to as many places that
    share this area evenly (discrete optimal transport). Such a displacement is as rough as the places are coarse.
    So it is made smooth by thin-plate splines, which penalise bending, and brought back to the surface, with less and
    less smoothing.
    """
    places = spread(triangles, len(marks))
    centred, wanted = (some - some.mean(axis=0) for some in (places, marks))
    _, columns = linear_sum_assignment(np.square(wanted[:, None] - centred).sum(axis=2))
    found, sources = places[columns], marks / np.ptp(marks, axis=0).max()
    for smoothing in _SMOOTHING:
        spline = RBFInterpolator(sources, found - marks, kernel="thin_plate_spline", smoothing=smoothing)
        found = nearest(triangles, marks + spline(sources))
    return found


def nearest(
    triangles: Float[np.ndarray, "triangle 3 3"], points: Float[np.ndarray, "point 3"]
) -> Float[np.ndarray, "point 3"]:
    """Return the place on a surface that is nearest to each point, looked for on the triangles with nearest centres."""
    count = min(_TRIANGLES, len(triangles))
    rows = cKDTree(triangles.mean(axis=1)).query(points, k=list(range(1, count + 1)))[1]
    places = _on_triangles(triangles[rows].reshape(-1, 3, 3), np.repeat(points, count, axis=0))
    places = places.reshape(len(points), count, 3)
    best = np.square(places - points[:, None]).sum(axis=2).argmin(axis=1)
    return np.asarray(places[np.arange(len(points)), best])


def _on_triangles(
    triangles: Float[np.ndarray, "point 3 3"], points: Float[np.ndarray, "point 3"]
) -> Float[np.ndarray, "point 3"]:
    """Return the nearest place of one triangle for each point: its foot, or where that is outside one of an edge."""
    following = np.roll(triangles, -1, axis=1)
    edges = following - triangles
    along = np.einsum("pkd,pkd->pk", points[:, None] - triangles, edges)
    shares = np.clip(along / np.square(edges).sum(axis=2).clip(1e-300), 0.0, 1.0)
    at_edges = triangles + shares[:, :, None] * edges
    best = np.square(at_edges - points[:, None]).sum(axis=2).argmin(axis=1)
    normals = np.cross(edges[:, 0], edges[:, 1])
    offsets = np.einsum("pd,pd->p", points - triangles[:, 0], normals) / np.square(normals).sum(axis=1).clip(1e-300)
    feet = points - offsets[:, None] * normals
    sides = np.einsum("pkd,pd->pk", np.cross(edges, feet[:, None] - triangles), normals)
    is_inside = (sides >= 0.0).all(axis=1) & (normals != 0.0).any(axis=1)
    return np.where(is_inside[:, None], feet, at_edges[np.arange(len(points)), best])
