import numpy as np
import pytest
from scipy.sparse import diags_array

from gola.problems.extrusion import extrude
from gola.problems.finite_elements import element_mesh, facets_between, node_weights, solve_positive_definite

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
