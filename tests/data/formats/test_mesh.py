import meshio
import numpy as np
import pytest

from gola.data.formats.mesh import read_mesh
from tests.data.formats.meshes import SINGLE_CELLS, triangulated_square


def written(mesh, path, **options):
    meshio.write(path, mesh, **options)
    (case,) = read_mesh(path)
    return case


@pytest.mark.parametrize("name", ["a.vtu", "a.vtk", "a.xdmf"])
def test_point_data_comes_as_it_is(tmp_path, name):
    mesh = triangulated_square()
    case = written(mesh, tmp_path / name)
    np.testing.assert_array_equal(case.points, mesh.points)
    np.testing.assert_array_equal(case.arrays["T"], mesh.point_data["T"])
    np.testing.assert_array_equal(case.arrays["U"], mesh.point_data["U"])
    np.testing.assert_array_equal(case.cells, mesh.cells[0].data)


def test_cell_data_is_averaged_by_area(tmp_path):
    # Two triangles at the edge 0-1, of areas 1 and 3.
    points = np.array([[0.0, 0, 0], [2, 0, 0], [0, 1, 0], [0, -3, 0]])
    mesh = meshio.Mesh(points, [("triangle", np.array([[0, 1, 2], [0, 1, 3]]))], cell_data={"k": [[10.0, 2.0]]})
    assert written(mesh, tmp_path / "a.vtu").arrays["k"].tolist() == [4.0, 4.0, 10.0, 2.0]


@pytest.mark.parametrize("kind", sorted(set(SINGLE_CELLS) - {"polygon"}))
def test_constant_cell_data_stays_constant_on_every_kind_of_cell(tmp_path, kind):
    corners = np.array(SINGLE_CELLS[kind][0], dtype=float)
    mesh = meshio.Mesh(
        np.concatenate([corners, corners + np.array([10, 0, 0])]),
        [(kind, np.arange(2 * len(corners)).reshape(2, -1))],
        cell_data={"k": [np.array([1.5, 1.5])], "v": [np.array([[1.0, 2.0, 3.0]] * 2)]},
    )
    case = written(mesh, tmp_path / "a.vtu")
    np.testing.assert_allclose(case.arrays["k"], 1.5, rtol=1e-15)
    np.testing.assert_allclose(case.arrays["v"], [[1.0, 2.0, 3.0]] * len(case.points), rtol=1e-15)
    assert case.cells is not None


def test_averaging_linear_cell_data_is_second_order_inside(tmp_path):
    case = written(triangulated_square(9), tmp_path / "a.vtu")
    inside = ~case.boundary
    np.testing.assert_allclose(case.arrays["k"][inside], case.points[inside, 0], atol=1e-12)


def test_cells_of_several_kinds_are_averaged_together(tmp_path):
    points = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0]])
    blocks = [("quad", np.array([[0, 1, 2, 3]])), ("triangle", np.array([[1, 4, 2]]))]
    case = written(meshio.Mesh(points, blocks, cell_data={"k": [[3.0], [6.0]]}), tmp_path / "a.vtu")
    np.testing.assert_allclose(case.arrays["k"], [3.0, 4.0, 4.0, 3.0, 6.0])
    assert case.cells.shape == (3, 3)
    assert case.boundary.all()


def test_edges_of_the_boundary_do_not_disturb(tmp_path):
    square = triangulated_square(3)
    blocks = [("line", np.array([[0, 1], [1, 2]])), *square.cells]
    mesh = meshio.Mesh(square.points, blocks, cell_data={"k": [np.full(2, 99.0), np.full(8, 1.0)]})
    case = written(mesh, tmp_path / "a.vtu")
    np.testing.assert_allclose(case.arrays["k"], 1.0)
    assert case.cells.shape == (8, 3)


def test_points_that_no_cell_uses_are_dropped_and_cells_renumbered(tmp_path):
    square = triangulated_square(3)
    points = np.concatenate([[[0.5, 0.5, 9.0]], square.points])
    temperature = np.concatenate([[-273.0], square.point_data["T"]])
    triangles = square.cells[0].data + 1
    mesh = meshio.Mesh(points, [("vertex", np.array([[0]])), ("triangle", triangles)], point_data={"T": temperature})
    case = written(mesh, tmp_path / "a.vtu")
    np.testing.assert_array_equal(case.points, square.points)
    np.testing.assert_array_equal(case.arrays["T"], square.point_data["T"])
    np.testing.assert_array_equal(case.cells, square.cells[0].data)
    assert np.flatnonzero(~case.boundary).tolist() == [4]


def test_a_cloud_of_vertices_has_points_and_no_cells(tmp_path):
    points = np.random.default_rng(0).random((6, 3))
    mesh = meshio.Mesh(points, [("vertex", np.arange(6)[:, None])], point_data={"T": np.arange(6.0)})
    case = written(mesh, tmp_path / "a.vtu")
    assert len(case.points) == 6
    assert case.cells is None
    assert case.boundary is None


def test_cells_that_miss_points_are_not_kept(tmp_path):
    corners = np.array(SINGLE_CELLS["hexahedron"][0], dtype=float)
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]
    points = np.concatenate([corners, [(corners[i] + corners[j]) / 2 for i, j in edges]])
    mesh = meshio.Mesh(points, [("hexahedron20", np.arange(20)[None])], cell_data={"k": [[2.0]]})
    case = written(mesh, tmp_path / "a.vtu")
    assert case.cells is None
    np.testing.assert_allclose(case.arrays["k"], 2.0)


def test_tensors_are_laid_out_in_a_row(tmp_path):
    stress = np.arange(54.0).reshape(6, 9)
    mesh = meshio.Mesh(np.eye(6, 3), [("vertex", np.arange(6)[:, None])], point_data={"stress": stress})
    assert list(written(mesh, tmp_path / "a.vtu").columns("stress_8")) == ["stress_8"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.vtu", b"not xml"),
        ("a.vtu", b"<VTKFile/>"),
        ("a.vtu", b""),
        ("a.vtk", b"# vtk DataFile Version 5.1\nx\nASCII\nDATASET NONSENSE\n"),
        ("a.msh", b"$MeshFormat\n9 0 8\n"),
        ("a.xdmf", b"<Xdmf></Xdmf>"),
        ("a.stl", b"solid"),
        ("a.unknown", b"x"),
    ],
)
def test_a_broken_file_is_one_clear_line_and_prints_nothing(tmp_path, capfd, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match="cannot be read as a mesh") as caught:
        read_mesh(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_a_truncated_mesh_is_one_clear_line(tmp_path):
    meshio.write(tmp_path / "a.vtu", triangulated_square(20))
    content = (tmp_path / "a.vtu").read_bytes()
    for share in (0.1, 0.5, 0.9, 0.99):
        (tmp_path / "b.vtu").write_bytes(content[: int(share * len(content))])
        with pytest.raises(ValueError, match="cannot be read as a mesh"):
            read_mesh(tmp_path / "b.vtu")
