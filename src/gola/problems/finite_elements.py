"""What the finite element solvers share: node weights, boundary facets, and the sparse solve."""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import coo_array, csc_array, csr_array, diags_array, sparray, spmatrix
from scipy.sparse.linalg import SuperLU, cg, splu

from gola.extras import require
from gola.geometry.domains import simplex_measures

# Residual of iterative solutions, relative to the right side: far below the error of the elements.
_ITERATIVE_TOLERANCE = 1e-10


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


def at_quadrature(
    basis: Any, function: Callable[[Float[np.ndarray, "place dim"]], Float[np.ndarray, " place"]]
) -> Float[np.ndarray, "cell place"]:
    """Evaluate a function of points at the quadrature points of a basis."""
    places = np.asarray(basis.global_coordinates())
    return function(places.reshape(len(places), -1).T).reshape(places.shape[1:])


def shared_geometry(mesh: Any) -> dict[str, np.ndarray]:
    """Return what all samples on one mesh of scikit-fem share: points, cells, boundary and weights, by their names."""
    points, cells = np.ascontiguousarray(mesh.p.T), np.ascontiguousarray(mesh.t.T).astype(np.int64)
    boundary = np.isin(np.arange(len(points)), mesh.boundary_nodes())
    return {"points": points, "cells": cells, "boundary": boundary, "weights": node_weights(points, cells)}


def node_weights(
    points: Float[np.ndarray, "point dim"], cells: Int[np.ndarray, "cell vertex"]
) -> Float[np.ndarray, " point"]:
    r"""Return the quadrature weights of the nodes, :math:`w_i = \int \varphi_i` with the hat functions φ.

    They integrate every continuous, piecewise linear function exactly, and sum to the measure of the mesh.
    """
    shares = simplex_measures(points[cells]) / cells.shape[1]
    return np.bincount(cells.ravel(), np.repeat(shares, cells.shape[1]), len(points))


def quadrature_load(basis: Any) -> csr_array:
    """Return the matrix from values of f at the quadrature points, cell by cell, to the right side ∫ f v.

    It serves for many right sides, where assembling each would take longer than solving with it.
    """
    cells, places = basis.dx.shape
    shapes = np.stack([np.broadcast_to(shape[0], basis.dx.shape) * basis.dx for shape in basis.basis])
    rows = np.broadcast_to(basis.element_dofs[:, :, None], shapes.shape)
    columns = np.broadcast_to(np.arange(cells * places).reshape(cells, places), shapes.shape)
    entries = (shapes.ravel(), (rows.ravel(), columns.ravel()))
    return csr_array(coo_array(entries, shape=(basis.N, cells * places)))


def factorise_positive_definite(matrix: spmatrix | sparray) -> SuperLU:
    """Factorise a sparse, symmetric and positive definite matrix."""
    return splu(
        csc_array(matrix),
        # Pivoting is not needed and would cost sparsity.
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )


def solve_positive_definite(
    matrix: spmatrix | sparray, right_side: Float[np.ndarray, " unknown"]
) -> Float[np.ndarray, " unknown"]:
    """Solve a sparse, symmetric and positive definite system."""
    solution: Float[np.ndarray, " unknown"] = factorise_positive_definite(matrix).solve(right_side)
    return solution


def solve_iteratively(matrix: csr_array, right_side: Float[np.ndarray, " unknown"]) -> Float[np.ndarray, " unknown"]:
    """Solve a large, sparse, symmetric and positive definite system by conjugate gradients.

    In space this is far faster than factors, which fill up. The diagonal serves as preconditioner.

    Raises:
        ArithmeticError: If the iteration does not converge.
    """
    diagonal = diags_array(1.0 / np.asarray(matrix.diagonal()))
    solution, failure = cg(matrix, right_side, rtol=_ITERATIVE_TOLERANCE, M=diagonal, maxiter=10 * len(right_side))
    if failure:
        raise ArithmeticError(f"Conjugate gradients did not converge in {failure} steps; check the coefficients.")
    return np.asarray(solution)
