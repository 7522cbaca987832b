"""What the finite element solvers share: node weights, boundary facets, and the sparse solve."""

from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csc_array, sparray, spmatrix
from scipy.sparse.linalg import splu

from gola.extras import require
from gola.geometry.domains import simplex_measures


def scikit_fem() -> Any:
    """Import scikit-fem, which only problems on meshes need."""
    return require("skfem", extra="problems", what="Solving with finite elements")


def element_mesh(points: Float[np.ndarray, "point dim"], cells: Int[np.ndarray, "cell vertex"]) -> Any:
    """Return the scikit-fem mesh of these triangles or tetrahedra, with the same node numbers."""
    skfem = scikit_fem()
    mesh_type = skfem.MeshTri if points.shape[1] == 2 else skfem.MeshTet
    # scikit-fem wants coordinates and corners in rows, and complains where the memory is laid out otherwise.
    return mesh_type(np.ascontiguousarray(points.T), np.ascontiguousarray(cells.T))


def facets_between(mesh: Any, nodes: Int[np.ndarray, " node"]) -> Int[np.ndarray, " facet"]:
    """Return the boundary facets whose corners are all among these nodes."""
    facets = mesh.boundary_facets()
    corners_are_among = np.isin(mesh.facets[:, facets], nodes)
    return np.asarray(facets[np.all(corners_are_among, axis=0)])


def product_of_gradients(u: Any, v: Any) -> Float[np.ndarray, "cell place"]:
    """Return ∇u · ∇v for functions u and v inside a form of scikit-fem."""
    return np.einsum("i...,i...", u.grad, v.grad)


def node_weights(
    points: Float[np.ndarray, "point dim"], cells: Int[np.ndarray, "cell vertex"]
) -> Float[np.ndarray, " point"]:
    r"""Return the quadrature weights of the nodes, :math:`w_i = \int \varphi_i` with the hat functions φ.

    They integrate every continuous, piecewise linear function exactly, and sum to the measure of the mesh.
    """
    shares = simplex_measures(points[cells]) / cells.shape[1]
    return np.bincount(cells.ravel(), np.repeat(shares, cells.shape[1]), len(points))


def solve_positive_definite(
    matrix: spmatrix | sparray, right_side: Float[np.ndarray, " unknown"]
) -> Float[np.ndarray, " unknown"]:
    """Solve a sparse, symmetric and positive definite system."""
    factors = splu(
        csc_array(matrix),
        # Pivoting is not needed and would cost sparsity.
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    solution: Float[np.ndarray, " unknown"] = factors.solve(right_side)
    return solution
