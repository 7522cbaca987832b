import numpy as np
import pytest

from gola.geometry.domains import simplex_measures
from gola.problems.extrusion import PlateMesh, extrude

from .perforated import draw_holes, perforated_square

LEVELS = np.array([0.0, 0.1, 0.15, 0.4])


@pytest.fixture(scope="module")
def plate() -> PlateMesh:
    base, _ = perforated_square(draw_holes(3), finest=0.013, coarsest=0.2, growth=0.3)
    return extrude(base, LEVELS)


def test_tetrahedra_fill_the_plate(plate: PlateMesh) -> None:
    volumes = simplex_measures(plate.points[plate.cells])
    assert volumes.sum() == pytest.approx(0.4 * plate.base.areas.sum(), rel=1e-12)
    assert volumes.min() > 0.0


def test_tetrahedra_are_positively_oriented(plate: PlateMesh) -> None:
    corners = plate.points[plate.cells]
    assert (np.linalg.det(corners[:, 1:] - corners[:, :1]) > 0.0).all()


def test_neighbouring_prisms_agree_on_the_diagonal_of_their_common_face(plate: PlateMesh) -> None:
    opposite = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])
    faces, counts = np.unique(np.sort(plate.cells[:, opposite].reshape(-1, 3), axis=1), axis=0, return_counts=True)
    assert counts.max() == 2
    num_sides = 2 * len(plate.base.segments) * (len(LEVELS) - 1)
    assert (counts == 1).sum() == 2 * len(plate.base.cells) + num_sides
    assert plate.boundary[faces[counts == 1]].all()


def test_boundary_nodes_are_those_of_both_faces_and_of_all_walls(plate: PlateMesh) -> None:
    at_face = np.isin(plate.points[:, 2], [0.0, 0.4])
    at_wall = np.tile(plate.base.boundary, len(LEVELS))
    np.testing.assert_array_equal(plate.boundary, at_face | at_wall)


@pytest.mark.parametrize("levels", [[0.0], [0.0, 0.2, 0.1], [0.0, 0.0]])
def test_levels_that_make_no_layers_are_refused(plate: PlateMesh, levels: list[float]) -> None:
    with pytest.raises(ValueError, match="two ascending levels"):
        extrude(plate.base, np.array(levels))
