"""Tetrahedron meshes of plates: plane meshes, extruded layer by layer."""

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Bool, Float, Int

from gola.problems.meshing import TriangleMesh


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class PlateMesh:
    """A plate between two copies of a plane domain, cut into tetrahedra.

    Node ``i`` of the plane mesh is node ``level * N + i`` of the plate, N being the number of plane nodes.

    Attributes:
        base: The plane mesh.
        levels: The heights z of its copies, ascending.
        points: Nodes, level by level.
        cells: Corners of the tetrahedra, positively oriented.
    """

    base: TriangleMesh
    levels: Float[np.ndarray, " level"]
    points: Float[np.ndarray, "point 3"]
    cells: Int[np.ndarray, "cell 4"]

    @property
    def boundary(self) -> Bool[np.ndarray, " point"]:
        """Whether each node lies on the surface of the plate."""
        flags = np.tile(self.base.boundary, (len(self.levels), 1))
        flags[[0, -1]] = True
        return flags.ravel()


def extrude(base: TriangleMesh, levels: Float[np.ndarray, " level"]) -> PlateMesh:
    """Stack prisms over the triangles and cut each into three tetrahedra.

    With the corners of a triangle in ascending order a < b < c, and a' over a, the prism becomes a b c c', a b b' c'
    and a a' b' c'. Every side face is so cut by the diagonal from its smaller node below to its greater node above:
    both prisms that share the face agree.
    """
    if not (len(levels) >= 2 and (np.diff(levels) > 0.0).all()):
        raise ValueError(f"A plate needs at least two ascending levels; got {levels.tolist()}.")
    num_base = len(base.points)
    heights = np.repeat(levels, num_base)
    points = np.column_stack([np.tile(base.points, (len(levels), 1)), heights])
    a, b, c = np.sort(base.cells, axis=1).T
    upper_a, upper_b, upper_c = a + num_base, b + num_base, c + num_base
    layer = np.stack([[a, b, c, upper_c], [a, b, upper_b, upper_c], [a, upper_a, upper_b, upper_c]])
    layer = layer.transpose(2, 0, 1).reshape(-1, 4)
    cells = np.concatenate([layer + level * num_base for level in range(len(levels) - 1)])
    return PlateMesh(base=base, levels=levels, points=points, cells=_positively_oriented(points, cells))


def _positively_oriented(
    points: Float[np.ndarray, "point 3"], cells: Int[np.ndarray, "cell 4"]
) -> Int[np.ndarray, "cell 4"]:
    """Swap the last two corners of each tetrahedron that is inside out."""
    edges = points[cells[:, 1:]] - points[cells[:, :1]]
    inverted = np.linalg.det(edges) < 0.0
    return np.where(inverted[:, None], cells[:, [0, 1, 3, 2]], cells)
