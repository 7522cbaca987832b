"""Cells of meshes cut into simplices, with their measures and their boundary."""

import math
import re
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int

Cells = Int[np.ndarray, "_cell _vertex"]


# Corners of the simplices in each kind of cell, numbered as meshio (and VTK) number the vertices of a cell.
_CUTS: dict[str, list[list[int]]] = {
    "line": [[0, 1]],
    "line3": [[0, 2], [2, 1]],
    "triangle": [[0, 1, 2]],
    "triangle6": [[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]],
    "quad": [[0, 1, 2], [0, 2, 3]],
    "quad8": [[0, 4, 7], [1, 5, 4], [2, 6, 5], [3, 7, 6], [4, 5, 6], [4, 6, 7]],
    "quad9": [[0, 4, 7], [1, 5, 4], [2, 6, 5], [3, 7, 6], [4, 5, 8], [5, 6, 8], [6, 7, 8], [7, 4, 8]],
    "tetra": [[0, 1, 2, 3]],
    "tetra10": [
        [0, 4, 6, 7], [1, 5, 4, 8], [2, 6, 5, 9], [3, 7, 8, 9],  # the corners
        [4, 9, 5, 6], [4, 9, 6, 7], [4, 9, 7, 8], [4, 9, 8, 5],  # the octahedron between, around a diagonal
    ],
    "pyramid": [[0, 1, 2, 4], [0, 2, 3, 4]],
    "wedge": [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5]],
    "hexahedron": [[0, 1, 2, 6], [0, 2, 3, 6], [0, 3, 7, 6], [0, 7, 4, 6], [0, 4, 5, 6], [0, 5, 1, 6]],
}  # fmt: skip

# Faces with four corners. Two neighbours may cut a common one along different diagonals, so these cells are compared
# by their own faces when the boundary is sought, not by those of their simplices.
_FACES: dict[str, list[list[int]]] = {
    "pyramid": [[0, 1, 2, 3], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]],
    "wedge": [[0, 1, 2], [3, 4, 5], [0, 1, 4, 3], [1, 2, 5, 4], [2, 0, 3, 5]],
    "hexahedron": [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]],
}


def cut(kind: str, cells: Cells) -> Int[np.ndarray, "_cell piece corner"] | None:
    """Cut every cell into simplices; None for kinds that we cannot cut.

    Cells of high order whose inner vertices we do not know are cut between their corners only.
    """
    if kind == "polygon":
        pieces = [[0, corner, corner + 1] for corner in range(1, cells.shape[1] - 1)]
    else:
        pieces = _CUTS.get(kind) or _CUTS.get(re.sub(r"\d+$", "", kind)) or []
    return cells[:, np.array(pieces)] if pieces else None


def measures(
    points: Float[np.ndarray, "point dim"], simplices: Int[np.ndarray, "*shape vertex"]
) -> Float[np.ndarray, "*shape"]:
    r"""Return length, area or volume of simplices, which may lie in a space of higher dimension.

    :math:`\sqrt{\det E E^\top} / k!` with the k edges from the first vertex as rows of E.
    """
    corners = points[simplices]
    edges = corners[..., 1:, :] - corners[..., :1, :]
    squared: np.ndarray = np.linalg.det(edges @ edges.swapaxes(-1, -2))
    # Rounding can leave the determinant of a flat simplex slightly negative.
    sizes: np.ndarray = np.sqrt(np.maximum(squared, 0.0)) / math.factorial(edges.shape[-2])
    return sizes


def boundary_points(blocks: Sequence[tuple[str, Cells]], num_points: int) -> Bool[np.ndarray, " point"]:
    """Return which points lie on a face (an edge in 2D) that belongs to one cell only."""
    faces = np.concatenate([face for kind, cells in blocks for face in _faces(kind, cells)])
    _, first, counts = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    on_boundary = np.zeros(num_points + 1, dtype=bool)
    on_boundary[faces[first[counts == 1]]] = True
    return on_boundary[:-1]


def _faces(kind: str, cells: Cells) -> list[Int[np.ndarray, "face 4"]]:
    """Return the faces of all cells, filled up to four vertices with -1, which stands for no point."""
    if kind in _FACES:
        faces = [cells[:, face] for face in _FACES[kind]]
    else:
        simplices = cut(kind, cells)
        assert simplices is not None, "boundary_points is only asked about cells that can be cut"
        flat = simplices.reshape(-1, simplices.shape[-1])
        faces = [np.delete(flat, vertex, axis=1) for vertex in range(flat.shape[1])]
    return [np.pad(face, ((0, 0), (0, 4 - face.shape[1])), constant_values=-1) for face in faces]
