from itertools import permutations

import numpy as np
import pytest

from gola.data.sample import Sample
from gola.plotting.cuts import cut_cells, middle_cuts

# Six tetrahedra that fill a cube: a path along its edges for each order of the axes.
CORNERS = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
CELLS = np.array([[0, 4 >> a, (4 >> a) + (4 >> b), 7] for a, b, _ in permutations(range(3))])


def area(polygon):
    first, rest = polygon[0], polygon[1:] - polygon[0]
    assert len(first) == 3
    return 0.5 * np.linalg.norm(np.cross(rest[:-1], rest[1:]).sum(axis=0))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_cut_through_a_cube_is_a_square_in_the_plane(axis):
    polygons = cut_cells(CORNERS, CELLS, CORNERS[:, axis], axis, 0.3)
    assert sum(area(corners) for corners, _ in polygons) == pytest.approx(1.0)
    assert all(np.allclose(corners[:, axis], 0.3) for corners, _ in polygons)
    assert [value for _, value in polygons] == pytest.approx([0.3] * len(polygons))


def test_a_plane_beside_the_body_cuts_nothing():
    assert cut_cells(CORNERS, CELLS, CORNERS[:, 0], 0, 1.5) == []


@pytest.mark.parametrize("is_mesh", [True, False])
def test_a_body_is_cut_by_three_planes_through_its_middle(is_mesh):
    points = CORNERS if is_mesh else np.concatenate([CORNERS, np.random.default_rng(0).random((700, 3))])
    cells = CELLS if is_mesh else None
    sample = Sample(points=points, inputs=points[:, :1], targets=points[:, :0], cells=cells)
    polygons = middle_cuts(sample, points.sum(axis=1))
    assert sum(area(corners) for corners, _ in polygons) == pytest.approx(3.0, rel=0.02)
    centres = np.array([corners.mean(axis=0) for corners, _ in polygons])
    np.testing.assert_allclose([value for _, value in polygons], centres.sum(axis=1), atol=1e-9)


def test_a_channel_through_a_body_of_scattered_points_stays_open():
    points = np.random.default_rng(0).random((3000, 3))
    points = points[np.hypot(points[:, 0] - 0.5, points[:, 1] - 0.5) > 0.3]
    sample = Sample(points=points, inputs=points[:, :1], targets=points[:, :0])
    centres = np.array([corners.mean(axis=0) for corners, _ in middle_cuts(sample, points[:, 0])])
    assert np.hypot(centres[:, 0] - 0.5, centres[:, 1] - 0.5).min() > 0.2
