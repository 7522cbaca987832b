"""Meshes of known measure for the tests of this folder."""

import meshio
import numpy as np


def triangulated_square(resolution: int = 5) -> meshio.Mesh:
    """The unit square, z = 0, with a temperature and a flow at the points and a conductivity on the cells."""
    axis = np.linspace(0.0, 1.0, resolution)
    x, y = (grid.ravel() for grid in np.meshgrid(axis, axis, indexing="ij"))
    corner = (np.arange(resolution - 1)[:, None] * resolution + np.arange(resolution - 1)).ravel()
    quads = np.stack([corner, corner + resolution, corner + resolution + 1, corner + 1], axis=1)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return meshio.Mesh(
        np.stack([x, y, np.zeros_like(x)], axis=1),
        [("triangle", triangles)],
        point_data={"T": np.sin(3 * x) + y, "U": np.stack([y, -x, np.zeros_like(x)], axis=1)},
        cell_data={"k": [x[triangles].mean(axis=1)]},
    )


# One cell of each kind, with vertices where VTK puts them, and its measure.
_HEXAHEDRON = [[0, 0, 0], [2, 0, 0], [2, 3, 0], [0, 3, 0], [0, 0, 4], [2, 0, 4], [2, 3, 4], [0, 3, 4]]
_TRIANGLE = [[0, 0, 0], [2, 0, 0], [0, 2, 0]]
_TRIANGLE_MIDDLES = [[1, 0, 0], [1, 1, 0], [0, 1, 0]]
_TETRAHEDRON = [[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2]]
_TETRAHEDRON_MIDDLES = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]]
_QUAD_MIDDLES = [[1, 0, 0], [2, 1.5, 0], [1, 3, 0], [0, 1.5, 0]]
SINGLE_CELLS: dict[str, tuple[list[list[float]], float]] = {
    "line": ([[0, 0, 0], [3, 4, 0]], 5.0),
    "line3": ([[0, 0, 0], [6, 8, 0], [3, 4, 0]], 10.0),
    "triangle": (_TRIANGLE, 2.0),
    "triangle6": (_TRIANGLE + _TRIANGLE_MIDDLES, 2.0),
    "quad": (_HEXAHEDRON[:4], 6.0),
    "quad8": (_HEXAHEDRON[:4] + _QUAD_MIDDLES, 6.0),
    "quad9": (_HEXAHEDRON[:4] + _QUAD_MIDDLES + [[1, 1.5, 0]], 6.0),
    "polygon": ([[0, 0, 0], [2, 0, 0], [3, 1, 0], [2, 2, 0], [0, 2, 0]], 5.0),
    "tetra": (_TETRAHEDRON, 8 / 6),
    "tetra10": (_TETRAHEDRON + _TETRAHEDRON_MIDDLES, 8 / 6),
    "pyramid": ([*_HEXAHEDRON[:4], [1, 1, 5]], 10.0),
    "wedge": ([*_TRIANGLE, [0, 0, 3], [2, 0, 3], [0, 2, 3]], 6.0),
    "hexahedron": (_HEXAHEDRON, 24.0),
}
