import numpy as np
import pytest
from scipy.spatial import Delaunay

from gola.geometry.cells import cell_weights


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_functions_that_are_linear_in_cells_are_exact(dim):
    rng = np.random.default_rng(0)
    nodes = rng.random((40, dim))
    if dim == 1:
        order = np.argsort(nodes[:, 0])
        cells = np.stack([order[:-1], order[1:]], axis=1)
    else:
        cells = Delaunay(nodes).simplices.astype(np.int64)
    slope = rng.normal(size=dim)
    inside = np.einsum(
        "qv,qvd->qd", rng.dirichlet(np.ones(dim + 1), 50), nodes[cells[rng.integers(len(cells), size=50)]]
    )
    rows, weights = cell_weights(nodes, cells, inside)
    assert weights.min() > -1e-8
    np.testing.assert_allclose((weights * (nodes @ slope)[rows]).sum(axis=1), inside @ slope, atol=1e-12)


def test_a_kink_along_an_edge_stays_a_kink():
    nodes = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    rows, weights = cell_weights(nodes, np.array([[0, 1, 2], [1, 2, 3]]), np.array([[0.5, 0.5], [0.25, 0.25]]))
    heights = np.array([1.0, 0.0, 0.0, 1.0])
    np.testing.assert_allclose((weights * heights[rows]).sum(axis=1), [0.0, 0.5], atol=1e-12)


def test_long_cells_of_a_boundary_layer_are_found():
    x, y = np.meshgrid(np.linspace(0.0, 100.0, 11), np.linspace(0.0, 0.1, 41), indexing="ij")
    nodes = np.stack([x.ravel(), y.ravel()], axis=1)
    corner = (np.arange(10)[:, None] * 41 + np.arange(40)).ravel()
    lower = np.stack([corner, corner + 41, corner + 42], axis=1)
    cells = np.concatenate([lower, np.stack([corner, corner + 1, corner + 42], axis=1)])
    queries = np.random.default_rng(0).uniform([0.0, 0.0], [100.0, 0.1], (200, 2))
    _, weights = cell_weights(nodes, cells, queries)
    assert weights.min() > -1e-8


def test_outside_the_nearest_cell_goes_on():
    nodes = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    rows, weights = cell_weights(nodes, np.array([[0, 1, 2]]), np.array([[1.5, -0.5]]))
    np.testing.assert_allclose((weights[..., None] * nodes[rows]).sum(axis=1), [[1.5, -0.5]])
