"""Shapes that scattered points fill."""

import numpy as np
import pytest

from gola.geometry.outline import outline
from gola.geometry.voids import signed_volumes
from tests.geometry.shapes import plate


def test_the_boundary_of_a_plate_with_a_hole_is_found():
    points = plate(radius=0.2)
    found = outline(points)
    assert found.num_holes == 1
    outer, hole = found.curves
    assert set(np.flatnonzero(np.abs(points - 0.5).max(axis=1) == 0.5)) == set(found.loops[0])
    np.testing.assert_allclose(np.linalg.norm(hole - 0.5, axis=1), 0.2)
    for curve in (outer, hole):  # counter-clockwise
        assert (
            signed_volumes(np.stack([np.full_like(curve, 0.5), curve, np.roll(curve, -1, axis=0)], axis=1)).min() > 0.0
        )
    assert signed_volumes(points[found.cells]).sum() == pytest.approx(1.0 - np.pi * 0.04, abs=5e-3)


def test_bays_belong_to_the_outer_boundary():
    points = plate(centre=(0.0, 0.5), radius=0.3)
    found = outline(points[points[:, 0] >= 0.0])
    assert found.num_holes == 0
    assert signed_volumes(found.points[found.cells]).sum() == pytest.approx(1.0 - 0.5 * np.pi * 0.09, abs=2e-2)


@pytest.mark.parametrize("num_points", [20, 200, 1000])
def test_random_points_of_a_square_leave_no_holes(num_points):
    assert outline(np.random.default_rng(0).random((num_points, 2))).num_holes == 0


def test_half_of_the_points_show_the_same_holes():
    points = plate(radius=0.2, spacing=0.025)
    kept = np.random.default_rng(0).permutation(len(points))[: len(points) // 2]
    assert outline(points[kept]).num_holes == 1


def test_points_on_a_line_fill_no_shape():
    assert outline(np.linspace(0.0, 1.0, 20)[:, None] * [1.0, 1.0]) is None
    assert outline(np.zeros((2, 2))) is None
