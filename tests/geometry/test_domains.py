import numpy as np
import pytest

from gola.geometry import Box, ImplicitDomain, Polygon
from gola.geometry.domains import simplex_measures

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
HOLE = np.array([[0.4, 0.4], [0.6, 0.4], [0.6, 0.6], [0.4, 0.6]])


def ball(dim, radius=0.4):
    return ImplicitDomain(
        distance=lambda points: np.linalg.norm(points - 0.5, axis=1) - radius, lower=np.zeros(dim), upper=np.ones(dim)
    )


def test_a_box_knows_distance_inside_outside_and_at_its_corners():
    points = np.array([[0.5, 0.25], [2.0, 0.5], [-3.0, -4.0], [1.0, 0.5]])
    np.testing.assert_allclose(Box.unit(2).signed_distance(points), [-0.25, 1.0, 5.0, 0.0])


def test_a_polygon_with_a_hole_has_the_area_and_distances_of_both_outlines():
    domain = Polygon(exterior=SQUARE, holes=(HOLE,))
    assert domain.measure == pytest.approx(0.96)
    np.testing.assert_allclose(
        domain.signed_distance(np.array([[0.5, 0.5], [0.3, 0.5], [0.05, 0.5], [1.5, 0.5]])),
        [0.1, -0.1, -0.05, 0.5],
        atol=1e-12,
    )


def test_implicit_domains_measure_a_disc_and_a_ball():
    assert ball(2).measure == pytest.approx(np.pi * 0.4**2, rel=1e-5)
    assert ball(3).measure == pytest.approx(4 / 3 * np.pi * 0.4**3, rel=1e-3)


@pytest.mark.parametrize("domain", [Polygon(exterior=SQUARE, holes=(HOLE,)), ball(2)])
def test_overlaps_of_a_triangulation_sum_to_the_measure(domain):
    corners = np.stack(np.meshgrid(*[np.linspace(0, 1, 9)] * 2, indexing="ij"), axis=-1)
    a, b, c, d = corners[:-1, :-1], corners[1:, :-1], corners[1:, 1:], corners[:-1, 1:]
    triangles = np.stack([np.stack([a, b, c], -2), np.stack([a, c, d], -2)]).reshape(-1, 3, 2)
    assert simplex_measures(triangles).sum() == pytest.approx(1.0)
    assert domain.overlap(triangles).sum() == pytest.approx(domain.measure, rel=2e-3)


def test_a_polygon_that_crosses_itself_is_refused_with_the_place():
    with pytest.raises(ValueError, match=r"not simple: Self-intersection\[0.5 0.5\]"):
        Polygon(exterior=SQUARE[[0, 2, 1, 3]])


def test_bounds_the_wrong_way_round_are_refused():
    with pytest.raises(ValueError, match="lower < upper"):
        Box(lower=np.array([0.0, 1.0]), upper=np.array([1.0, 1.0]))


def test_corners_must_be_finite():
    with pytest.raises(ValueError, match="finite corners"):
        Polygon(exterior=np.array([[0.0, 0.0], [1.0, np.nan], [0.0, 1.0]]))
