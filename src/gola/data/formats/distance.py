"""Distances to the boundary and to labelled parts of a mesh, as inputs that tell an operator where walls are."""

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import cKDTree

# Faces that are compared with a point at first; twice as many as long as others may be nearer.
_FACES = 8


def distance_to(
    points: Float[np.ndarray, "point dim"],
    part: Bool[np.ndarray, " point"],
    cells: Int[np.ndarray, "cell vertex"] | None,
    *,
    outer: bool = False,
) -> Float[np.ndarray, " point"]:
    """Return the straight distance of every point to a part of the mesh: to its faces, or to its points without cells.

    Args:
        points: Coordinates.
        part: Which points belong to the part.
        cells: Simplices over the points, where they are known.
        outer: Whether the part is the boundary, so that only faces of a single cell belong to it.
    """
    distances = np.asarray(cKDTree(points[part]).query(points)[0])
    faces = None if cells is None else _faces(cells, part, outer=outer)
    if faces is None or not len(faces) or faces.shape[1] < 2:
        return distances
    corners = points[faces]
    middles = corners.mean(axis=1)
    radii = np.linalg.norm(corners - middles[:, None], axis=2).max(axis=1)
    # Faces of about the same size are searched together: where meshes are graded, a large one may be nearer than many
    # small ones whose middles are.
    sizes = np.frexp(radii)[1]
    for size in np.unique(sizes):
        chosen = sizes == size
        distances = _nearer(distances, points, corners[chosen], middles[chosen], float(radii[chosen].max()))
    return distances


def _nearer(
    distances: Float[np.ndarray, " point"],
    points: Float[np.ndarray, "point dim"],
    corners: Float[np.ndarray, "face corner dim"],
    middles: Float[np.ndarray, "face dim"],
    radius: float,
) -> Float[np.ndarray, " point"]:
    """Return distances with those to further faces, none of which reaches further than the radius from its middle."""
    distances, tree = distances.copy(), cKDTree(middles)
    left, first = np.arange(len(points)), 0
    while len(left) and first < len(middles):
        last = min(max(2 * first, _FACES), len(middles))
        to_middle, faces = (np.asarray(part) for part in tree.query(points[left], k=list(range(first + 1, last + 1))))
        for place in range(last - first):
            found = _to_simplices(points[left], corners[faces[:, place]])
            distances[left] = np.minimum(distances[left], found)
        left, first = left[to_middle[:, -1] - radius < distances[left]], last
    return distances


def _faces(
    cells: Int[np.ndarray, "cell vertex"], part: Bool[np.ndarray, " point"], *, outer: bool
) -> Int[np.ndarray, "face corner"]:
    """Return the faces of cells with all corners in the part."""
    faces = np.concatenate([np.delete(cells, vertex, axis=1) for vertex in range(cells.shape[1])])
    faces = np.sort(faces[part[faces].all(axis=1)], axis=1)
    different, counts = np.unique(faces, axis=0, return_counts=True)
    return different[counts == 1] if outer else different


def _to_simplices(
    points: Float[np.ndarray, "point dim"], corners: Float[np.ndarray, "point corner dim"]
) -> Float[np.ndarray, " point"]:
    """Return the distance of each point to a segment or a triangle of its own."""
    if corners.shape[1] == 2:
        return _to_segments(points, corners[:, 0], corners[:, 1])
    first, second, third = corners[:, 0], corners[:, 1], corners[:, 2]
    sides = [_to_segments(points, a, b) for a, b in ((first, second), (second, third), (third, first))]
    return np.minimum(np.min(sides, axis=0), _to_planes(points, first, second, third))


def _to_segments(
    points: Float[np.ndarray, "point dim"], start: Float[np.ndarray, "point dim"], end: Float[np.ndarray, "point dim"]
) -> Float[np.ndarray, " point"]:
    along, offset = end - start, points - start
    length = (along**2).sum(axis=1)
    share = np.clip((offset * along).sum(axis=1) / np.where(length > 0.0, length, 1.0), 0.0, 1.0)
    return np.linalg.norm(offset - share[:, None] * along, axis=1)


def _to_planes(
    points: Float[np.ndarray, "point 3"],
    first: Float[np.ndarray, "point 3"],
    second: Float[np.ndarray, "point 3"],
    third: Float[np.ndarray, "point 3"],
) -> Float[np.ndarray, " point"]:
    """Return the distance to the plane of a triangle where its foot lies inside; infinity elsewhere."""
    u, v, offset = second - first, third - first, points - first
    normal = np.cross(u, v)
    area = (normal**2).sum(axis=1)
    safe = np.where(area > 0.0, area, 1.0)
    beta = (np.cross(offset, v) * normal).sum(axis=1) / safe
    gamma = (np.cross(u, offset) * normal).sum(axis=1) / safe
    inside = (area > 0.0) & (beta >= 0.0) & (gamma >= 0.0) & (beta + gamma <= 1.0)
    height = np.abs((offset * normal).sum(axis=1)) / np.sqrt(safe)
    return np.where(inside, height, np.inf)
