import numpy as np
import pytest
from scipy.spatial import Delaunay

from gola.data.formats.distance import distance_to


def graded_square(count=30, dim=2, seed=0):
    """Points that crowd at x = 0, with the corners of the box and cells."""
    rng = np.random.default_rng(seed)
    inner = rng.random((count**2, dim))
    corners = np.stack(np.meshgrid(*[[0.0, 1.0]] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    sides = rng.random((4 * count, dim))
    rows = np.arange(len(sides))
    sides[rows, rng.integers(dim, size=len(sides))] = rng.integers(2, size=len(sides))
    points = np.concatenate([corners, sides, inner])
    points[:, 0] = points[:, 0] ** 2
    return points, Delaunay(points).simplices, ((points == 0.0) | (points == 1.0)).any(axis=1)


@pytest.mark.parametrize("dim", [2, 3])
def test_the_distance_to_the_sides_of_a_box_is_exact_on_a_graded_mesh(dim):
    points, cells, boundary = graded_square(20 if dim == 2 else 12, dim)
    expected = np.minimum(points, 1.0 - points).min(axis=1)
    np.testing.assert_allclose(distance_to(points, boundary, cells, outer=True), expected, atol=1e-12)


def test_without_cells_it_is_the_distance_to_the_points():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.5]])
    found = distance_to(points, np.array([True, True, False]), None)
    np.testing.assert_allclose(found, [0.0, 0.0, np.sqrt(0.5)])


def test_with_cells_it_is_the_distance_to_the_faces_between_them():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.5]])
    found = distance_to(points, np.array([True, True, False]), np.array([[0, 1, 2]]), outer=True)
    np.testing.assert_allclose(found, [0.0, 0.0, 0.5])


def test_on_a_line_it_is_the_distance_to_the_nearest_end():
    points = np.linspace(0.0, 2.0, 5)[:, None]
    cells = np.arange(4)[:, None] + [0, 1]
    found = distance_to(points, np.isin(points[:, 0], (0.0, 2.0)), cells, outer=True)
    np.testing.assert_allclose(found, [0.0, 0.5, 1.0, 0.5, 0.0])
