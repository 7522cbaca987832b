"""Shapes that points of space fill."""

import numpy as np

from gola.geometry.solid import solid
from tests.geometry.shapes import hollow_ball


def test_the_outer_surface_comes_first_and_hollows_follow():
    shape = solid(hollow_ball((0.1, 0.0, 0.2)))
    assert shape.num_holes == 1
    outer, hollow = (shape.points[border] for border in shape.borders)
    np.testing.assert_allclose(np.linalg.norm(outer, axis=1), 1.0)
    np.testing.assert_allclose(np.linalg.norm(hollow - (0.1, 0.0, 0.2), axis=1), 0.45)


def test_a_hole_that_goes_through_leaves_no_shape_to_match():
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (3000, 3)) * [1.0, 1.0, 0.3]
    assert solid(points) is not None
    assert solid(points[np.linalg.norm(points[:, :2], axis=1) > 0.5]) is None


def test_points_of_a_plane_have_no_shape_in_space():
    points = np.random.default_rng(0).random((50, 3)) * [1.0, 1.0, 0.0]
    assert solid(points) is None


def test_marks_of_a_shape_are_on_every_surface():
    shape = solid(hollow_ball())
    (outer, _), (hollow, _) = shape.marks(200)
    assert len(outer) > 150
    assert len(hollow) >= 60
    assert np.abs(np.linalg.norm(hollow, axis=1) - 0.45).max() < 0.02
