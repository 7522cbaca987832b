"""Interpolate in the cells of a mesh: linear finite elements, as weights that any nodal values can be summed with."""

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import cKDTree

# Cells whose centres are nearest to a query are tried first, and more of them where it lies in none of these: cells of
# a boundary layer are long, and their centres far away.
_TRIED = (16, 128)
# A query on a face may lie outside both of its cells, by rounding.
_ROUNDING = 1e-9
# Queries are taken in portions, so that all candidates of a million queries need not exist at once.
_PORTION = 16384


def cell_weights(
    nodes: Float[np.ndarray, "node dim"],
    cells: Int[np.ndarray, "cell vertex"],
    queries: Float[np.ndarray, "query dim"],
) -> tuple[Int[np.ndarray, "query vertex"], Float[np.ndarray, "query vertex"]]:
    r"""Return rows and weights with :math:`f(q) = \sum_k w_{qk} f(x_{r_{qk}})` for any f that is linear in each cell.

    A query outside all cells takes the linear function of the cell that it is least outside of.

    >>> nodes = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> cells = np.array([[0, 1, 2], [1, 2, 3]])
    >>> rows, weights = cell_weights(nodes, cells, np.array([[0.75, 0.75]]))
    >>> sorted(rows[0].tolist()), float((weights * nodes[rows, 0]).sum())
    ([1, 2, 3], 0.75)
    """
    tree = cKDTree(nodes[cells].mean(axis=1))
    parts = [
        _weights(nodes, cells, tree, queries[start : start + _PORTION]) for start in range(0, len(queries), _PORTION)
    ]
    chosen, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    return cells[chosen], weights


def _weights(
    nodes: Float[np.ndarray, "node dim"],
    cells: Int[np.ndarray, "cell vertex"],
    tree: cKDTree,
    queries: Float[np.ndarray, "query dim"],
) -> tuple[Int[np.ndarray, " query"], Float[np.ndarray, "query vertex"]]:
    """Return the cell of each query, and its barycentric coordinates there."""
    chosen = np.zeros(len(queries), dtype=np.int64)
    weights = np.full((len(queries), cells.shape[1]), -np.inf)
    left = np.arange(len(queries))
    for count in _TRIED:
        tried = np.asarray(tree.query(queries[left], k=np.arange(1, min(count, len(cells)) + 1))[1])
        found = _barycentric(nodes[cells[tried]], queries[left])
        best = found.min(axis=2).argmax(axis=1)
        rows = np.arange(len(left))
        chosen[left], weights[left] = tried[rows, best], found[rows, best]
        left = left[weights[left].min(axis=1) < -_ROUNDING]
        if not len(left):
            break
    return chosen, weights


def _barycentric(
    vertices: Float[np.ndarray, "query tried vertex dim"], queries: Float[np.ndarray, "query dim"]
) -> Float[np.ndarray, "query tried vertex"]:
    """Return the coordinates of each query in each of its cells; −∞ in cells without volume."""
    origin = vertices[:, :, :1]
    edges = np.swapaxes(vertices[:, :, 1:] - origin, 2, 3)
    offsets = (queries[:, None, None] - origin).swapaxes(2, 3)
    flat = np.abs(np.linalg.det(edges)) == 0.0
    edges[flat] = np.eye(edges.shape[-1])
    further = np.linalg.solve(edges, offsets)[..., 0]
    found = np.concatenate([1.0 - further.sum(axis=2, keepdims=True), further], axis=2)
    found[flat] = -np.inf
    return found
