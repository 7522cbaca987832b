"""Closed surfaces of triangles."""

import numpy as np
from scipy.spatial import ConvexHull, cKDTree

from gola.geometry.surfaces import areas, euler_characteristic, matched, nearest, spread
from tests.geometry.shapes import sphere


def ball(centre=(0.0, 0.0, 0.0), radii=(1.0, 1.0, 1.0), count=600):
    """Triangles of an ellipsoid."""
    directions = sphere(count)
    return (np.array(centre) + directions * radii)[ConvexHull(directions).simplices]


def test_the_nearest_places_are_those_of_the_plain_definition():
    triangles, points = ball(count=60), np.random.default_rng(0).uniform(-2.0, 2.0, (40, 3))
    shares = np.array([(i, j, 60 - i - j) for i in range(61) for j in range(61 - i)]) / 60
    everywhere = np.einsum("sk,tkd->tsd", shares, triangles).reshape(-1, 3)
    wanted, _ = cKDTree(everywhere).query(points)
    found = nearest(triangles, points)
    np.testing.assert_allclose(np.linalg.norm(found - points, axis=1), wanted, atol=3e-3)
    np.testing.assert_allclose(nearest(triangles, found), found, atol=1e-12)


def test_places_share_the_area_evenly():
    places = spread(ball(radii=(1.0, 1.0, 3.0)), 200)
    middle = np.abs(places[:, 2]) < 1.0  # of this long ellipsoid 40 % of the area
    assert 0.36 < middle.mean() < 0.44


def test_areas_are_those_of_a_sphere():
    assert abs(areas(ball(count=2000)).sum() - 4.0 * np.pi) < 0.05


def test_a_sphere_has_an_euler_characteristic_of_two():
    assert euler_characteristic(ConvexHull(sphere(50)).simplices) == 2


def test_what_corresponds_on_a_stretched_and_moved_sphere_lies_in_the_same_direction():
    marks = spread(ball(), 300)
    radii, centre = np.array([1.3, 1.0, 0.8]), np.array([0.2, -0.1, 0.5])
    found = (matched(ball(centre, radii), marks) - centre) / radii
    misses = np.linalg.norm(found / np.linalg.norm(found, axis=1, keepdims=True) - marks, axis=1)
    assert misses.mean() < 0.1
    assert np.abs(np.linalg.norm(found, axis=1) - 1.0).max() < 0.03
