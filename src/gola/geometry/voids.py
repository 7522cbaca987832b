"""Where points leave room: the holes and bays of what they fill, in the plane and in space."""

from math import factorial

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

# A simplex is empty if its circumscribed sphere is so many times as large as the distances between points around it;
# in space points are nearer to each other along one axis than along another more often.
_EMPTY = {2: 2.5, 3: 2.0}
# Points count as neighbours up to this one.
_NEIGHBOUR = 3
# Empty simplices that are connected are a hole or a bay if so many points would have found room there. Among random
# points of the plane (300 sets) no gap has room for 2, at the hull for 11; 5 of 300 clustered sets have one for 6.
_LEAST_ROOM = 30.0
_LEAST_ROOM_IN_PLANE = 6.0


def voids(
    points: Float[np.ndarray, "point dim"],
    cells: Int[np.ndarray, "cell vertex"],
    neighbours: Int[np.ndarray, "cell vertex"],
) -> list[Int[np.ndarray, " _"]]:
    """Return the cells of each hole and bay of a Delaunay triangulation.

    These are cells that are large for the distances of points around them, and connected to others such that many more
    points would have found room there (a locally scaled alpha shape). Meshes may be fine in one place and coarse in
    another, but not much finer along one axis than along the other.
    """
    around = spacings(points)[cells].mean(axis=1)
    volumes = np.abs(signed_volumes(points[cells]))
    is_empty = circumradii(points[cells]) > _EMPTY[points.shape[1]] * around
    with np.errstate(divide="ignore", invalid="ignore"):
        rooms = volumes / around ** points.shape[1]
    labels = _components(is_empty, neighbours)
    found = [np.flatnonzero(labels == label) for label in range(labels.max(initial=-1) + 1)]
    return [void for void in found if rooms[void].sum() > _least_room(void, neighbours)]


def _least_room(void: Int[np.ndarray, " _"], neighbours: Int[np.ndarray, "cell vertex"]) -> float:
    in_plane = neighbours.shape[1] == 3
    return _LEAST_ROOM_IN_PLANE if in_plane and not (neighbours[void] < 0).any() else _LEAST_ROOM


def spacings(points: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, " point"]:
    """Return the distance of each point to the third nearest other one."""
    distances, _ = cKDTree(points).query(points, k=[min(_NEIGHBOUR + 1, len(points))])
    return np.asarray(distances)[:, 0]


def signed_volumes(corners: Float[np.ndarray, "cell vertex dim"]) -> Float[np.ndarray, " cell"]:
    """Return the volumes of simplices; of triangles the areas, negative for clockwise ones."""
    edges = corners[:, 1:] - corners[:, :1]
    volumes: Float[np.ndarray, " cell"] = np.linalg.det(edges) / factorial(edges.shape[1])
    return volumes


def circumradii(corners: Float[np.ndarray, "cell vertex dim"]) -> Float[np.ndarray, " cell"]:
    """Return the radii of the spheres through all corners of simplices; infinite for flat ones."""
    edges = corners[:, 1:] - corners[:, :1]
    radii = np.full(len(edges), np.inf)
    solid = np.linalg.det(edges) != 0.0
    halves = 0.5 * np.square(edges[solid]).sum(axis=2, keepdims=True)
    radii[solid] = np.linalg.norm(np.linalg.solve(edges[solid], halves)[:, :, 0], axis=1)
    return radii


def _components(
    chosen: Bool[np.ndarray, " cell"], neighbours: Int[np.ndarray, "cell vertex"]
) -> Int[np.ndarray, " cell"]:
    """Number the connected parts of some cells; −1 for the others."""
    rows, sides = np.nonzero((neighbours >= 0) & chosen[:, None] & chosen[neighbours])
    links = coo_matrix((np.ones(len(rows)), (rows, neighbours[rows, sides])), shape=(len(chosen),) * 2)
    _, labels = connected_components(links, directed=False)
    _, numbers = np.unique(labels[chosen], return_inverse=True)
    found = np.full(len(chosen), -1)
    found[chosen] = numbers
    return found
