"""Points in layers, and interpolation along a line."""

import numpy as np
import pytest

from gola.geometry.layers import Layers, line_weights

POINTS = np.random.default_rng(0).random((7, 2))


def stacked(heights):
    return np.concatenate([np.column_stack([POINTS, np.full(7, height)]) for height in heights])


@pytest.mark.parametrize("heights", [[0.0], [0.0, 0.3, 1.0]])
def test_layers_are_recognised(heights):
    found = Layers.of(stacked(heights))
    assert np.array_equal(found.points, POINTS)
    assert found.heights.tolist() == heights
    assert found.ascend


def test_points_without_layers_have_none():
    rows = stacked([0.0, 0.5])
    assert Layers.of(rows[:-1]) is None
    assert Layers.of(rows[::-1][:, ::-1]) is None
    assert Layers.of(POINTS[:, :1]) is None
    moved = rows.copy()
    moved[9, 0] += 0.1
    assert Layers.of(moved) is None
    assert not Layers.of(stacked([0.0, 1.0, 0.5])).ascend


def test_cubic_polynomials_are_exact_between_known_places():
    known, asked = np.array([0.0, 0.1, 0.5, 0.6, 1.0]), np.linspace(0.0, 1.0, 23)
    cubic = np.polynomial.Polynomial([1.0, -2.0, 3.0, 0.5])
    assert np.allclose(line_weights(known, asked) @ cubic(known), cubic(asked))


def test_known_places_keep_their_values_exactly():
    known = np.array([0.0, 0.1, 0.5, 0.6, 1.0])
    assert np.array_equal(line_weights(known, known), np.eye(5))


def test_lines_are_continued_outside():
    known = np.array([0.0, 0.4, 1.0])
    assert line_weights(known, np.array([-1.0, 2.0])) @ (2.0 * known + 1.0) == pytest.approx([-1.0, 5.0])


def test_a_single_known_place_stands_for_all():
    assert line_weights(np.array([0.5]), np.array([0.0, 0.5, 2.0])).tolist() == [[1.0], [1.0], [1.0]]
