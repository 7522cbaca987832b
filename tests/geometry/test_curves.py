"""Closed curves that correspond."""

import numpy as np

from gola.geometry.curves import along, fractions, matched

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def circle(centre, radius, start=0.0, count=80):
    angles = start + np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    return np.array(centre) + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def test_fractions_are_those_of_the_length():
    assert fractions(SQUARE).tolist() == [0.0, 0.25, 0.5, 0.75]
    np.testing.assert_allclose(along(SQUARE, fractions(SQUARE)), SQUARE)


def test_a_curve_matches_itself_wherever_it_starts():
    np.testing.assert_allclose(matched(np.roll(SQUARE, 2, axis=0), SQUARE, fractions(SQUARE)), SQUARE, atol=1e-7)


def test_circles_match_by_angle():
    reference = circle((0.0, 0.0), 1.0)
    found = matched(circle((3.0, 1.0), 2.0, start=0.7, count=2000), reference, fractions(reference))
    np.testing.assert_allclose(found, [3.0, 1.0] + 2.0 * reference, atol=2e-3)
