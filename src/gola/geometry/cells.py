"""Interpolate in the cells of a mesh: linear finite elements, as weights that any nodal values can be summed with."""

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import cKDTree

# Cells whose centres are nearest to a query are tried first, and more of them where it lies in none of these: cells of
# a boundary layer are long, and their centres far away.
_TRIED = (3, 16, 128)
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
    tree, maps = cKDTree(nodes[cells].mean(axis=1)), _barycentric_maps(nodes[cells])
    parts = [_weights(tree, *maps, queries[start : start + _PORTION]) for start in range(0, len(queries), _PORTION)]
    chosen, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    return cells[chosen], weights


def _weights(
    tree: cKDTree,
    origins: Float[np.ndarray, "cell dim"],
    inverses: Float[np.ndarray, "cell dim dim"],
    queries: Float[np.ndarray, "query dim"],
) -> tuple[Int[np.ndarray, " query"], Float[np.ndarray, "query vertex"]]:
    """Return the cell of each query, and its barycentric coordinates there."""
    chosen = np.zeros(len(queries), dtype=np.int64)
    weights = np.full((len(queries), queries.shape[1] + 1), -np.inf)
    left = np.arange(len(queries))
    for count in _TRIED:
        tried = np.asarray(tree.query(queries[left], k=np.arange(1, min(count, len(origins)) + 1))[1])
        found = _barycentric(origins[tried], inverses[tried], queries[left])
        best = found.min(axis=2).argmax(axis=1)
        rows = np.arange(len(left))
        chosen[left], weights[left] = tried[rows, best], found[rows, best]
        left = left[weights[left].min(axis=1) < -_ROUNDING]
        if not len(left):
            break
    return chosen, weights


def _barycentric_maps(
    vertices: Float[np.ndarray, "cell vertex dim"],
) -> tuple[Float[np.ndarray, "cell dim"], Float[np.ndarray, "cell dim dim"]]:
    """Return a vertex of each cell, and the inverse of its edges from there; NaN for cells without volume."""
    origins = vertices[:, 0]
    edges = np.swapaxes(vertices[:, 1:] - origins[:, None], 1, 2)
    flat = np.abs(np.linalg.det(edges)) == 0.0
    edges[flat] = np.eye(edges.shape[-1])
    inverses = np.linalg.inv(edges)
    inverses[flat] = np.nan
    return origins, inverses


def _barycentric(
    origins: Float[np.ndarray, "query tried dim"],
    inverses: Float[np.ndarray, "query tried dim dim"],
    queries: Float[np.ndarray, "query dim"],
) -> Float[np.ndarray, "query tried vertex"]:
    """Return the coordinates of each query in each of its cells; −∞ in cells without volume."""
    offsets = queries[:, None] - origins
    further = [
        sum(inverses[..., row, one] * offsets[..., one] for one in range(offsets.shape[2]))
        for row in range(offsets.shape[2])
    ]
    found = np.stack([1.0 - sum(further), *further], axis=2)
    found[np.isnan(found[..., 0])] = -np.inf
    return found
