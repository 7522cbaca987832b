import numpy as np
import pytest

from gola.data.formats.simplices import boundary_points, cut, measures
from tests.data.formats.meshes import SINGLE_CELLS


@pytest.mark.parametrize("kind", SINGLE_CELLS)
def test_simplices_fill_their_cell_without_overlap(kind):
    corners, measure = SINGLE_CELLS[kind]
    simplices = cut(kind, np.arange(len(corners))[None])
    sizes = measures(np.array(corners, dtype=float), simplices)
    assert (sizes > 1e-9).all(), "no simplex is flat"
    assert sizes.sum() == pytest.approx(measure)
    assert set(simplices.ravel()) == set(range(len(corners))), "every vertex is used"


@pytest.mark.parametrize("kind", ["hexahedron", "wedge", "pyramid", "tetra10"])
def test_simplices_fill_a_deformed_cell_too(kind):
    rng = np.random.default_rng(0)
    corners = np.array(SINGLE_CELLS[kind][0], dtype=float) @ (np.eye(3) + 0.3 * rng.standard_normal((3, 3)))
    simplices = cut(kind, np.arange(len(corners))[None])[0]
    inside = rng.dirichlet(np.ones(len(corners)), size=200) @ corners
    barycentric = [_barycentric(corners[simplex], inside) for simplex in simplices]
    containing = np.sum([(weights > 0).all(axis=1) for weights in barycentric], axis=0)
    assert (containing == 1).all(), "every point of the cell lies in one simplex"


def _barycentric(corners, points):
    matrix = np.vstack([corners.T, np.ones(4)])
    return np.linalg.solve(matrix, np.vstack([points.T, np.ones(len(points))])).T


def test_cells_of_unknown_order_are_cut_between_their_corners():
    assert cut("hexahedron20", np.arange(20)[None]).max() == 7


def test_kinds_that_we_do_not_know_are_left_alone():
    assert cut("VTK_LAGRANGE_WEDGE", np.arange(18)[None]) is None


def test_flat_triangles_in_space_have_an_area():
    points = np.array([[0.0, 0, 0], [1, 0, 1], [0, 1, 0]])
    assert measures(points, np.array([[0, 1, 2]])) == pytest.approx(np.sqrt(2) / 2)


def test_the_rim_of_a_square_is_its_boundary():
    quads = np.array([[0, 3, 4, 1], [1, 4, 5, 2], [3, 6, 7, 4], [4, 7, 8, 5]])
    assert np.flatnonzero(~boundary_points([("quad", quads)], 9)).tolist() == [4]


def test_the_rim_of_a_hole_is_boundary_too():
    ring = np.array([[k, (k + 1) % 6, 6 + (k + 1) % 6, 6 + k] for k in range(6)])
    assert boundary_points([("quad", ring)], 12).all()


def test_hexahedra_that_are_cut_along_different_diagonals_are_neighbours_all_the_same():
    def number(i, j, k):
        return 9 * i + 3 * j + k

    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    cubes = [(i, j, k) for i in range(2) for j in range(2) for k in range(2)]
    cells = np.array([[number(i + a, j + b, k + c) for a, b, c in corners] for i, j, k in cubes])
    turned = [3, 0, 1, 2, 7, 4, 5, 6]  # a quarter turn numbers the vertices anew, and moves the diagonal
    cells[::2] = cells[::2][:, turned]
    assert np.flatnonzero(~boundary_points([("hexahedron", cells)], 27)).tolist() == [13]


def test_a_pyramid_on_a_cube_hides_the_face_between():
    cube = np.arange(8)[None]
    pyramid = np.array([[4, 5, 6, 7, 8]])
    both = boundary_points([("hexahedron", cube), ("pyramid", pyramid)], 10)
    assert both.tolist() == [True] * 9 + [False]
