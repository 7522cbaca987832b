import numpy as np
import pytest
import skfem
from scipy.sparse import csr_array, diags_array

from gola.problems.extrusion import extrude
from gola.problems.finite_elements import (
    at_quadrature,
    element_mesh,
    facets_between,
    factorise_positive_definite,
    node_weights,
    quadrature_load,
    shared_geometry,
    solve_iteratively,
    solve_positive_definite,
)

from .perforated import draw_holes, perforated_square


def test_node_weights_integrate_linear_functions_exactly() -> None:
    mesh, polygon = perforated_square(draw_holes(1))
    weights = node_weights(mesh.points, mesh.cells)
    assert weights.sum() == pytest.approx(polygon.measure, rel=1e-12)
    centroid = mesh.areas @ mesh.points[mesh.cells].mean(axis=1)
    np.testing.assert_allclose(weights @ mesh.points, centroid, rtol=1e-12)


def test_node_weights_of_tetrahedra_sum_to_the_volume() -> None:
    mesh, polygon = perforated_square(draw_holes(1), finest=0.013, coarsest=0.1)
    plate = extrude(mesh, np.array([0.0, 0.2, 0.5]))
    weights = node_weights(plate.points, plate.cells)
    assert weights.min() > 0.0
    assert weights.sum() == pytest.approx(0.5 * polygon.measure, rel=1e-12)


def test_facets_between_the_nodes_of_a_curve_are_its_segments() -> None:
    mesh, _ = perforated_square(draw_holes(5))
    elements = element_mesh(mesh.points, mesh.cells)
    for loop in mesh.loops:
        ends = elements.facets[:, facets_between(elements, loop)]
        lengths = np.linalg.norm(np.diff(mesh.points[ends], axis=0)[0], axis=1)
        corners = mesh.points[loop]
        perimeter = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1).sum()
        assert ends.shape[1] == len(loop)
        assert lengths.sum() == pytest.approx(perimeter, rel=1e-12)


def test_a_positive_definite_system_is_solved() -> None:
    matrix = diags_array([np.full(50, 2.5), np.full(49, -1.0), np.full(49, -1.0)], offsets=[0, 1, -1], format="csr")
    solution = np.sin(np.arange(50.0))
    np.testing.assert_allclose(solve_positive_definite(matrix, matrix @ solution), solution, atol=1e-12)


def test_an_iterative_solution_is_that_of_the_factors() -> None:
    matrix = csr_array(diags_array([np.linspace(2.1, 200.0, 80), -np.ones(79), -np.ones(79)], offsets=[0, 1, -1]))
    right_side = np.random.default_rng(0).normal(size=80)
    expected = factorise_positive_definite(matrix).solve(right_side)
    np.testing.assert_allclose(solve_iteratively(matrix, right_side), expected, atol=1e-9)


def test_an_iteration_that_does_not_converge_is_reported() -> None:
    indefinite = csr_array(np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 2.0], [0.0, 2.0, 1.0]]))
    with pytest.raises(ArithmeticError, match="Conjugate gradients did not converge"):
        solve_iteratively(indefinite, np.array([1.0, np.nan, 1.0]))


def test_a_load_at_quadrature_points_is_the_assembled_one() -> None:
    mesh, _ = perforated_square(draw_holes(2), finest=0.013, coarsest=0.1)
    basis = skfem.Basis(element_mesh(mesh.points, mesh.cells), skfem.ElementTriP2(), intorder=4)
    values = at_quadrature(basis, lambda points: np.exp(points[:, 0]) * points[:, 1])
    assembled = skfem.LinearForm(lambda v, w: np.exp(w.x[0]) * w.x[1] * v).assemble(basis)
    np.testing.assert_allclose(quadrature_load(basis) @ values.ravel(), assembled, atol=1e-15)


def test_geometry_is_that_of_the_mesh() -> None:
    mesh, _ = perforated_square(draw_holes(2), finest=0.013, coarsest=0.1)
    geometry = shared_geometry(element_mesh(mesh.points, mesh.cells))
    np.testing.assert_array_equal(geometry["points"], mesh.points)
    np.testing.assert_array_equal(np.sort(geometry["cells"], axis=1), np.sort(mesh.cells, axis=1))
    np.testing.assert_array_equal(geometry["boundary"], mesh.boundary)
    np.testing.assert_allclose(geometry["weights"], node_weights(mesh.points, mesh.cells))
