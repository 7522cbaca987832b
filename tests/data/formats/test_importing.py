import meshio
import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.data.formats import find_files, import_files
from gola.data.sample import Channel
from tests.data.formats.meshes import SINGLE_CELLS, triangulated_square


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three cases whose temperature tells their number."""
    monkeypatch.chdir(tmp_path)
    for number, resolution in ((1, 4), (2, 5), (10, 6)):
        mesh = triangulated_square(resolution)
        mesh.point_data["T"] = mesh.point_data["T"] + 100 * number
        meshio.write(tmp_path / f"case_{number}.vtu", mesh)
    return tmp_path


def write_square(path, change):
    mesh = triangulated_square(4)
    change(mesh)
    meshio.write(path, mesh)


def test_meshes_at_one_height_are_two_dimensional(folder):
    def lift(mesh):
        mesh.points[:, 2] = 0.3

    write_square(folder / "high.vtu", lift)
    assert import_files("high.vtu", inputs=["k"], targets=["U"])[0].points.shape == (16, 2)


def test_an_array_with_its_unit_in_its_name_is_found_with_and_without(folder):
    def rename(mesh):
        mesh.point_data["T [K]"] = mesh.point_data.pop("T")

    write_square(folder / "units.vtu", rename)
    for wanted in ("T", Channel.parse("T [K]")):
        assert import_files("units.vtu", inputs=["U"], targets=[wanted]).targets == (Channel(name="T", unit="K"),)
    assert import_files("units.vtu", inputs=["U"], targets=["T [K]"]).targets == (Channel(name="T [K]"),)


def test_who_names_no_channels_is_told_what_could_be_predicted(folder):
    points = np.random.default_rng(0).random((5, 2))
    np.savez(folder / "all.npz", points=points, load=np.arange(3.0), heat=np.ones((3, 5)))
    with pytest.warns(UserWarning, match=r"No targets were named.*all.npz\[0\] also has heat"):
        data = import_files("all.npz")
    assert [parameter.name for parameter in data.parameters] == ["load"]
    assert not data.targets


def test_an_array_that_fits_nothing_is_told_and_not_dropped_in_silence(folder):
    points = np.random.default_rng(0).random((5, 2))
    np.savez(folder / "short.npz", points=points, load=np.arange(3.0), angle=np.arange(2.0), heat=np.ones((3, 5)))
    with pytest.warns(
        UserWarning, match=r"short.npz\[0\]: 'angle' is left out: its shape \(2,\) does not fit 3 samples"
    ):
        data = import_files("short.npz", targets=["heat"])
    assert [parameter.name for parameter in data.parameters] == ["load"]


def test_numbers_of_files_keep_the_units_in_their_names(folder):
    points = np.random.default_rng(0).random((5, 2))
    np.savez(folder / "units.npz", points=points, heat=np.ones((3, 5)), **{"load [N]": np.arange(3.0)})
    meshio.write(folder / "units.vtu", triangulated_square(4))
    text = (folder / "units.vtu").read_text()
    for number in range(2):
        array = f'<DataArray type="Float64" Name="power [W]" NumberOfTuples="1" format="ascii">{number}</DataArray>'
        changed = text.replace("<UnstructuredGrid>", f"<UnstructuredGrid><FieldData>{array}</FieldData>")
        (folder / f"power_{number}.vtu").write_text(changed)
    assert import_files("units.npz", targets=["heat"]).parameters == (Channel(name="load", unit="N"),)
    assert import_files("power_*.vtu", targets=["T"]).parameters == (Channel(name="power", unit="W"),)


def test_a_tilted_plane_is_told(folder):
    def tilt(mesh):
        mesh.points[:, 2] = mesh.points[:, 0] / 3 + 1

    write_square(folder / "tilted.vtu", tilt)
    with pytest.warns(UserWarning, match=r"All points of tilted\.vtu lie in a plane .* Rotate the meshes until z"):
        assert import_files("tilted.vtu", inputs=["k"])[0].points.shape == (16, 3)


@pytest.mark.parametrize("index", [-1, 16, 10**9])
@pytest.mark.parametrize("suffix", [".vtu", ".vtk", ".xdmf"])
def test_a_cell_of_a_point_that_is_not_there_is_refused(folder, suffix, index):
    def break_cell(mesh):
        mesh.cells[0].data[3, 1] = index

    write_square(folder / f"bad{suffix}", break_cell)
    with pytest.raises(ValueError, match=rf"bad{suffix}: cell 3 .* refers to point {index}, but .* 0 to 15"):
        import_files(f"bad{suffix}", inputs=["T"])


@pytest.mark.parametrize(
    ("suffix", "advice"),
    [(".npy", "numpy.savez"), (".pt", "code, which gola never runs"), (".pkl", "from_arrays"), (".gola", "surrogate")],
)
def test_files_without_simulations_are_refused_with_what_to_do(folder, suffix, advice):
    (folder / f"a{suffix}").write_bytes(b"content")
    with pytest.raises(ValueError, match=rf"a{suffix} cannot be imported: .*{advice}"):
        import_files(f"a{suffix}", inputs=["T"])


def test_files_that_do_not_go_together_are_named(folder):
    (folder / "flat.csv").write_text("x,y,T\n0,0,1\n1,1,2\n")
    (folder / "solid.csv").write_text("x,y,z,T\n0,0,0,1\n1,1,1,2\n")
    with pytest.raises(ValueError, match=r"solid\.csv has points in 3 dimensions, the first sample in 2"):
        import_files(["flat.csv", "solid.csv"], inputs=["T"])


def names(channels):
    return [channel.name for channel in channels]


def test_meshes_become_a_data_set_in_natural_order(folder):
    dataset = import_files("case_*.vtu", inputs=["k"], targets=["T"])
    assert dataset.num_points.tolist() == [16, 25, 36]
    assert [round(sample.targets.min() / 100) for sample in dataset] == [1, 2, 10]
    assert (names(dataset.inputs), names(dataset.targets)) == (["k"], ["T"])
    assert dataset.provenance["files"] == ["case_1.vtu", "case_2.vtu", "case_10.vtu"]
    dataset.save(folder / "my.h5")
    assert Dataset.load(folder / "my.h5").fingerprint() == dataset.fingerprint()


@pytest.mark.usefixtures("folder")
def test_flat_meshes_are_two_dimensional_and_keep_their_triangles():
    sample = import_files("case_2.vtu", inputs=["k"], targets=["T"])[0]
    mesh = triangulated_square(5)
    np.testing.assert_array_equal(sample.points, mesh.points[:, :2])
    np.testing.assert_array_equal(sample.cells, mesh.cells[0].data)
    edge = (sample.points == 0) | (sample.points == 1)
    np.testing.assert_array_equal(sample.boundary, edge.any(axis=1))


@pytest.mark.usefixtures("folder")
def test_a_vector_becomes_one_channel_per_direction_of_the_domain():
    dataset = import_files("case_*.vtu", inputs=["T"], targets=["U"])
    assert names(dataset.targets) == ["U_x", "U_y"]
    np.testing.assert_array_equal(dataset[0].targets, dataset[0].points[:, ::-1] * [1, -1])


@pytest.mark.usefixtures("folder")
def test_a_component_can_be_chosen_alone():
    dataset = import_files("case_1.vtu", inputs=["U_y"], targets=["U_z", "T"])
    assert (names(dataset.inputs), names(dataset.targets)) == (["U_y"], ["U_z", "T"])


def test_a_vector_out_of_the_plane_is_kept_for_all_files(folder):
    mesh = triangulated_square(4)
    mesh.point_data["U"][3, 2] = 1.0
    meshio.write(folder / "case_11.vtu", mesh)
    assert names(import_files("case_*.vtu", inputs=["U"]).inputs) == ["U_x", "U_y", "U_z"]


def test_one_file_off_the_plane_makes_all_three_dimensional(folder):
    mesh = triangulated_square(4)
    mesh.points[:, 2] = mesh.points[:, 0] ** 2
    meshio.write(folder / "case_11.vtu", mesh)
    dataset = import_files("case_*.vtu", inputs=["U"], targets=["T"])
    assert dataset.dim == 3
    assert names(dataset.inputs) == ["U_x", "U_y", "U_z"]
    assert dataset[0].cells.shape[1] == 3


def test_a_mesh_of_lines_is_one_dimensional(folder):
    points = np.linspace(0, 1, 5)[:, None] * [1.0, 0, 0]
    lines = np.stack([np.arange(4), np.arange(1, 5)], axis=1)
    meshio.write(folder / "rod.vtu", meshio.Mesh(points, [("line", lines)], point_data={"T": np.arange(5.0)}))
    sample = import_files("rod.vtu", inputs=["T"])[0]
    assert sample.points.ravel().tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert np.flatnonzero(sample.boundary).tolist() == [0, 4]


def test_tetrahedra_are_kept(folder):
    corners = np.array(SINGLE_CELLS["tetra"][0], dtype=float)
    mesh = meshio.Mesh(corners, [("tetra", np.arange(4)[None])], point_data={"T": np.arange(4.0)})
    meshio.write(folder / "solid.vtu", mesh)
    sample = import_files("solid.vtu", inputs=["T"])[0]
    assert sample.dim == 3
    assert sample.cells.tolist() == [[0, 1, 2, 3]]


def test_cells_that_only_some_files_have_are_left_out(folder):
    points = triangulated_square(4).points
    cloud = meshio.Mesh(points, [("vertex", np.arange(16)[:, None])], point_data={"T": points[:, 0]})
    meshio.write(folder / "case_11.vtu", cloud)
    dataset = import_files("case_*.vtu", inputs=["T"])
    assert all(sample.cells is None and sample.boundary is None for sample in dataset)


@pytest.mark.usefixtures("folder")
def test_inputs_without_solutions():
    dataset = import_files("case_*.vtu", inputs=["k"])
    assert dataset.targets == ()


@pytest.mark.usefixtures("folder")
def test_units_can_be_given():
    dataset = import_files("case_1.vtu", inputs=[Channel(name="U", unit="m/s")], targets=["T"])
    assert [str(channel) for channel in dataset.inputs] == ["U_x [m/s]", "U_y [m/s]"]


def test_archives_and_tables_go_the_same_way(folder):
    np.savez(folder / "a.npz", points=np.eye(4, 2), T=np.arange(8.0).reshape(2, 4), k=np.ones(4))
    (folder / "b.csv").write_text("x,y,T,k\n0,1,2,3\n4,5,6,7\n")
    dataset = import_files(["a.npz", "b.csv"], inputs=["k"], targets=["T"])
    assert dataset.num_points.tolist() == [4, 4, 2]
    assert dataset[1].targets.ravel().tolist() == [4, 5, 6, 7]
    assert dataset[2].points.tolist() == [[0, 1], [4, 5]]


def test_units_of_a_table_are_kept(folder):
    (folder / "b.csv").write_text("x,y,T [K]\n0,1,2\n4,5,6\n")
    for wanted in ("T", Channel(name="T")):
        assert import_files("b.csv", inputs=[wanted]).inputs == (Channel(name="T", unit="K"),)
    assert str(import_files("b.csv", inputs=[Channel(name="T", unit="°C")]).inputs[0]) == "T [°C]"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"patterns": "run_*.vtu"}, "No file matches 'run_.*.vtu'"),
        ({"patterns": "."}, r"it is a folder, so try '\*.vtu'"),
        ({"inputs": ["TT"]}, "case_1.vtu has no channel 'TT'; it has k, T, U. Did you mean 'T'?"),
        ({"inputs": ["U_yy"]}, "Did you mean 'U_y'?"),
        ({"inputs": ["pressure"]}, "case_1.vtu has no channel 'pressure'; it has k, T, U.$"),
        ({"inputs": ["U", "U_x"]}, "'U_x' comes 2 times"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_mistakes_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        import_files(**{"patterns": "case_*.vtu", "inputs": ["k"], "targets": ["T"], **arguments})


def test_a_nan_is_named_by_file_channel_and_row(folder):
    mesh = triangulated_square(4)
    mesh.point_data["T"][7] = np.nan
    meshio.write(folder / "case_11.vtu", mesh)
    with pytest.raises(ValueError, match=r"case_11.vtu, target channel 'T', row 7 is nan"):
        import_files("case_*.vtu", inputs=["k"], targets=["T"])
    assert len(import_files("case_*.vtu", inputs=["k"])) == 4, "a channel nobody wants may be broken"


def test_files_that_disagree_are_named(folder):
    mesh = triangulated_square(4)
    mesh.point_data["T"] = np.ones((16, 3))
    meshio.write(folder / "case_11.vtu", mesh)
    with pytest.raises(ValueError, match=r"case_11.vtu gives the channels T_x, T_y, T_z, but case_1.vtu T;"):
        import_files("case_*.vtu", inputs=["T"])


class TestFindFiles:
    def test_each_file_comes_once_and_patterns_keep_their_order(self, folder):
        found = find_files(["case_10.vtu", "case_*.vtu", folder / "case_2.vtu"])
        assert [path.name for path in found[:3]] == ["case_10.vtu", "case_1.vtu", "case_2.vtu"]

    def test_a_name_with_brackets_is_found_as_it_is(self, folder):
        (folder / "case[1].csv").write_text("x,T\n0,1\n")
        assert [path.name for path in find_files(["case[1].csv"])] == ["case[1].csv"]

    def test_folders_below_are_searched_on_request(self, folder):
        (folder / "run_2").mkdir()
        (folder / "run_2" / "a.csv").touch()
        (folder / "run_10").mkdir()
        (folder / "run_10" / "a.csv").touch()
        assert [path.parent.name for path in find_files(["**/*.csv"])] == ["run_2", "run_10"]
