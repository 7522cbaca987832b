"""What shapes in the plane and in space have in common."""

import numpy as np

from gola.geometry.shape import paired


def test_holes_are_paired_with_the_nearest_ones():
    holes = [np.array([[0.0, 0.1], [0.1, 0.0]]) + centre for centre in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))]
    moved = [holes[2] + 0.1, holes[0] + 0.1, holes[1] + 0.1]
    assert paired(moved, holes).tolist() == [1, 2, 0]
    assert paired([], []).tolist() == []
