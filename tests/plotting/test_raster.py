import numpy as np
import pytest

from gola.plotting.raster import domain_mask, fill, raster


def ring(num_points=800):
    points = 2 * np.random.default_rng(0).random((4 * num_points, 2)) - 1
    radii = np.linalg.norm(points, axis=1)
    return points[(radii > 0.4) & (radii < 1.0)][:num_points]


def places_of(points, num_pixels=128):
    return raster(points.min(axis=0), points.max(axis=0), num_pixels)


def test_a_hole_stays_open_and_as_wide_as_it_is():
    points = ring()
    places = places_of(points)
    inside, radii = domain_mask(points, places), np.linalg.norm(places, axis=2)
    assert not inside[radii < 0.3].any()
    assert inside[(radii > 0.45) & (radii < 0.95)].all()


def test_a_notch_stays_open():
    points = np.random.default_rng(0).random((900, 2))
    points = points[(np.abs(points[:, 0] - 0.5) > 0.1) | (points[:, 1] < 0.4)]
    places = places_of(points)
    notch = (np.abs(places[..., 0] - 0.5) < 0.05) & (places[..., 1] > 0.5)
    assert not domain_mask(points, places)[notch].any()


def test_few_clouds_without_holes_get_a_false_one():
    rng = np.random.default_rng(0)
    clouds = [rng.random((1000, 2)) for _ in range(10)]
    assert sum(not domain_mask(points, places_of(points)).all() for points in clouds) <= 2


def test_linear_functions_are_met_exactly_up_to_the_rim():
    points = np.random.default_rng(2).random((400, 2))
    values = points @ [1.0, -2.0]
    places = places_of(points)
    filled, wanted = fill(points, values, places), places @ [1.0, -2.0]
    known = ~np.isnan(filled)
    assert known.mean() > 0.98
    np.testing.assert_allclose(filled[known], wanted.clip(values.min(), values.max())[known], atol=1e-6)


@pytest.mark.parametrize("copies", [1, 2])
def test_coincident_points_do_not_matter(copies):
    points = np.repeat(np.random.default_rng(3).random((200, 2)), copies, axis=0)
    assert not np.isnan(fill(points, points[:, 0], places_of(points, 32))).any()
