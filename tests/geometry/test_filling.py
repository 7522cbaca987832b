"""Meshes of the regions that scattered points fill."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from gola.geometry.filling import filling
from gola.geometry.voids import circumradii, signed_volumes
from tests.geometry.shapes import plate


def tower(levels=6):
    """Points of a plate in space with a hole through it."""
    base = plate(radius=0.25, spacing=0.08)
    heights = np.linspace(0.0, 0.3, levels)
    return np.concatenate([np.column_stack([base, np.full(len(base), height)]) for height in heights])


def closes(found):
    """The area vectors of a closed surface add up to nothing."""
    return np.abs((found.areas[:, None] * found.normals).sum(axis=0)).max() < 1e-9


def test_a_plate_is_filled_up_to_its_hole():
    found = filling(plate(radius=0.2))
    assert np.abs(signed_volumes(found.points[found.cells])).sum() == pytest.approx(1.0 - np.pi * 0.04, abs=5e-3)
    assert found.areas[found.at_hole].sum() == pytest.approx(0.4 * np.pi, rel=0.01)
    assert found.areas[~found.at_hole].sum() == pytest.approx(4.0)
    assert closes(found)


def test_normals_point_out_of_the_material():
    found = filling(plate(radius=0.2))
    outwards = found.points[found.facets].mean(axis=1) - 0.5
    along = np.einsum("fd,fd->f", outwards, found.normals)
    assert along[~found.at_hole].min() > 0.0
    assert along[found.at_hole].max() < 0.0


def test_a_hole_through_a_plate_in_space_is_left_out():
    found = filling(tower())
    area = 1.0 - np.pi * 0.0625
    assert np.abs(signed_volumes(found.points[found.cells])).sum() == pytest.approx(0.3 * area, rel=0.03)
    on_top = np.isclose(found.points[found.facets][:, :, 2], 0.3).all(axis=1)
    np.testing.assert_allclose(found.normals[on_top], [[0.0, 0.0, 1.0]] * on_top.sum(), atol=1e-12)
    assert found.areas[on_top].sum() == pytest.approx(area, rel=0.03)
    assert closes(found)


def test_flat_simplices_are_no_cells():
    found = filling(tower())
    assert np.abs(signed_volumes(found.points[found.cells])).min() > 1e-7


def test_points_without_cells_have_others_to_stand_in_for_them():
    points = np.random.default_rng(0).random((50, 2))
    found = filling(np.concatenate([points, points[:1]]))
    assert found.stand_ins[:50].tolist() == list(range(50)) or found.stand_ins[0] == 50
    np.testing.assert_array_equal(found.points[found.stand_ins[50]], points[0])


def test_points_of_a_line_cannot_be_filled():
    with pytest.raises(ValueError, match="needs at least 3 points that do not all lie on a line"):
        filling(np.linspace(0.0, 1.0, 10)[:, None] * np.ones(2))


def test_the_sphere_through_the_corners_of_a_simplex():
    corners = np.array([[[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]])
    assert circumradii(corners).tolist() == [1.0, np.inf]


def starred(num_around=110, depth=0.6):
    """Points of a square with a hole that has three bays, and the corners of the hole, which lie more densely."""
    angles = np.linspace(0.0, 2.0 * np.pi, num_around, endpoint=False)
    radii = 0.2 * (1.0 + depth * np.cos(3.0 * angles))
    edge = 0.5 + radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    line = np.linspace(0.0, 1.0, 41)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    away = grid - 0.5
    limit = 0.2 * (1.0 + depth * np.cos(3.0 * np.arctan2(away[:, 1], away[:, 0])))
    outside = (np.linalg.norm(away, axis=1) > limit) & (cKDTree(edge).query(grid)[0] > 0.018)
    return np.concatenate([edge, grid[outside]]), edge


def test_bends_of_a_boundary_are_not_bridged():
    points, edge = starred()
    found = filling(points)
    x, y = edge.T
    hole = 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
    assert np.abs(signed_volumes(points[found.cells])).sum() == pytest.approx(1.0 - hole, abs=1e-9)
    assert found.at_hole.sum() == len(edge)


def test_a_hole_with_room_for_few_points_is_seen_and_gaps_between_random_points_are_no_holes():
    angles = np.linspace(0.0, 2.0 * np.pi, 18, endpoint=False)
    edge = 0.5 + 0.12 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    line = np.linspace(0.0, 1.0, 25)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    points = np.concatenate([edge, grid[np.linalg.norm(grid - 0.5, axis=1) > 0.15]])
    assert filling(points).at_hole.sum() == len(edge)
    for seed in range(5):
        assert not filling(np.random.default_rng(seed).random((300, 2))).at_hole.any()
