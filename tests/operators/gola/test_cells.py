import numpy as np
import pytest

from gola.geometry import Box, voronoi_weights
from gola.operators.gola.cells import cell_shares


def integration_error(points: np.ndarray, weights: np.ndarray) -> float:
    waves = np.exp(2j * np.pi * points @ np.array([[1.0, 0.0], [0.0, 2.0], [2.0, -1.0], [3.0, 3.0]]).T)
    return float(np.abs(weights @ waves).mean())


def test_shares_integrate_waves_several_times_better_than_equal_weights():
    drawn = [np.random.default_rng(seed).random((1000, 2)) for seed in range(5)]
    ours = np.mean([integration_error(points, cell_shares(points)) for points in drawn])
    equal = np.mean([integration_error(points, np.full(1000, 1e-3)) for points in drawn])
    assert ours < 0.35 * equal


@pytest.mark.parametrize("dim", [2, 3])
def test_shares_are_close_to_the_exact_voronoi_cells(dim):
    points = np.random.default_rng(0).random((400, dim))
    exact = voronoi_weights(points, Box.around(points))
    shares = cell_shares(points)
    assert shares.sum() == pytest.approx(1.0)
    assert np.corrcoef(shares, exact)[0, 1] > 0.85


def test_points_around_a_hole_do_not_stand_for_the_hole():
    points = np.random.default_rng(0).random((4000, 2))
    radii = np.linalg.norm(points - 0.5, axis=1)
    ring = points[radii > 0.3]
    rim = np.linalg.norm(ring - 0.5, axis=1) < 0.31
    assert cell_shares(ring)[rim].mean() < 5.0 / len(ring)


def test_coincident_points_and_points_on_a_line_have_shares():
    np.testing.assert_allclose(cell_shares(np.zeros((4, 2))), 0.25)
    line = np.stack([np.linspace(0.0, 1.0, 5), np.full(5, 0.3)], axis=1)
    assert cell_shares(line)[1:-1] == pytest.approx(0.25)
