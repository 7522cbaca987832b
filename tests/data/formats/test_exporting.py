from dataclasses import replace

import meshio
import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.data.formats import export_sample, import_files
from gola.data.sample import Channel
from tests.data.formats.meshes import triangulated_square
from tests.data.ragged import INPUTS, TARGETS, assert_same_sample, ragged_sample


@pytest.mark.parametrize("suffix", [".vtu", ".vtk"])
def test_a_mesh_survives_the_round_trip(tmp_path, suffix):
    mesh = triangulated_square()
    meshio.write(tmp_path / "in.vtu", mesh)
    import_files(tmp_path / "in.vtu", inputs=["k"], targets=["T", "U"]).save(tmp_path / "set.h5")
    dataset = Dataset.load(tmp_path / "set.h5")
    export_sample(dataset[0], tmp_path / f"out{suffix}", inputs=dataset.inputs, targets=dataset.targets)

    back = meshio.read(tmp_path / f"out{suffix}")
    np.testing.assert_array_equal(back.points, mesh.points)
    np.testing.assert_array_equal(back.cells[0].data, mesh.cells[0].data)
    np.testing.assert_array_equal(back.point_data["T"], mesh.point_data["T"])
    np.testing.assert_array_equal(back.point_data["U"], mesh.point_data["U"])
    again = import_files(tmp_path / f"out{suffix}", inputs=["k"], targets=["T", "U"])
    assert_same_sample(again[0], dataset[0])


def test_predictions_and_their_errors_are_added(tmp_path):
    sample = ragged_sample(8)
    predictions = sample.targets + 0.5
    export_sample(sample, tmp_path / "a.vtu", inputs=INPUTS, targets=TARGETS, predictions=predictions)
    data = meshio.read(tmp_path / "a.vtu").point_data
    assert set(data) == {"k", "f", "T", "T_predicted", "T_error"}
    np.testing.assert_array_equal(data["T_predicted"], predictions[:, 0])
    np.testing.assert_allclose(data["T_error"], 0.5)


def test_predictions_of_vectors_are_vectors(tmp_path):
    points = np.random.default_rng(0).random((6, 2))
    dataset = Dataset.from_arrays(points, [points], [points], target_channels=["U_x", "U_y"])
    export_sample(
        dataset[0], tmp_path / "a.vtu", inputs=dataset.inputs, targets=dataset.targets, predictions=2 * points
    )
    data = meshio.read(tmp_path / "a.vtu").point_data
    assert data["U"].shape == data["U_predicted"].shape == (6, 3)
    np.testing.assert_array_equal(data["U_predicted"][:, :2], 2 * points)
    np.testing.assert_array_equal(data["U_predicted"][:, 2], 0.0)


def test_predictions_without_known_targets(tmp_path):
    dataset = Dataset.from_arrays(np.random.default_rng(0).random((6, 2)), [np.ones(6)], input_channels=["f"])
    export_sample(
        dataset[0],
        tmp_path / "a.vtu",
        inputs=dataset.inputs,
        targets=[Channel(name="u")],
        predictions=np.full((6, 1), 3.0),
    )
    assert set(meshio.read(tmp_path / "a.vtu").point_data) == {"f", "u_predicted"}


def test_a_target_with_the_name_of_an_input_keeps_both(tmp_path):
    dataset = Dataset.from_arrays(
        np.random.default_rng(0).random((6, 2)),
        [np.ones(6)],
        [np.zeros(6)],
        input_channels=["u"],
        target_channels=["u"],
    )
    export_sample(dataset[0], tmp_path / "a.vtu", inputs=dataset.inputs, targets=dataset.targets)
    data = meshio.read(tmp_path / "a.vtu").point_data
    assert data["u"].tolist() == [1.0] * 6
    assert data["u_target"].tolist() == [0.0] * 6


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_points_without_cells_become_vertices(tmp_path, dim):
    sample = ragged_sample(8, dim=dim, mesh=False)
    export_sample(sample, tmp_path / "a.vtu", inputs=INPUTS, targets=TARGETS)
    mesh = meshio.read(tmp_path / "a.vtu")
    assert mesh.cells[0].type == "vertex"
    np.testing.assert_array_equal(mesh.points[:, :dim], sample.points)


def test_wrong_numbers_of_names_are_refused(tmp_path):
    with pytest.raises(ValueError, match="2 input channels and 1 names"):
        export_sample(ragged_sample(8), tmp_path / "a.vtu", inputs=TARGETS, targets=TARGETS)
    with pytest.raises(ValueError, match=r"must end in .vtu, .vtk, .npz, .csv or .pvd"):
        export_sample(ragged_sample(8), tmp_path / "a.obj", inputs=INPUTS, targets=TARGETS)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".npz", ".csv"])
def test_archives_and_tables_survive_the_round_trip(tmp_path, suffix):
    sample = replace(ragged_sample(8), cells=None, weights=None, boundary=None)
    inputs = [Channel(name="k", unit="W/m/K"), Channel(name="f", unit="m")]
    export_sample(sample, tmp_path / f"a{suffix}", inputs=inputs, targets=TARGETS)
    back = import_files(tmp_path / f"a{suffix}", inputs=["k", "f"], targets=[TARGETS[0].name])
    assert_same_sample(back[0], sample)
    if suffix == ".csv":
        assert [channel.unit for channel in back.inputs] == ["W/m/K", "m"]


def test_archives_and_tables_refuse_channels_with_the_names_of_their_geometry(tmp_path):
    with pytest.raises(ValueError, match="cannot hold a channel named 'x', a coordinate"):
        export_sample(ragged_sample(8), tmp_path / "a.csv", inputs=[Channel(name="x"), INPUTS[1]], targets=TARGETS)
    with pytest.raises(ValueError, match="cannot hold a channel named 'points'"):
        export_sample(ragged_sample(8), tmp_path / "a.npz", inputs=[Channel(name="points"), INPUTS[1]], targets=TARGETS)
    assert not list(tmp_path.iterdir())


def test_a_failing_export_leaves_the_old_file(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    (tmp_path / "a.vtu").write_text("old")
    monkeypatch.setattr(meshio.Mesh, "write", fail)
    with pytest.raises(ValueError, match="No space left on device; the existing file is unchanged"):
        export_sample(ragged_sample(8), tmp_path / "a.vtu", inputs=INPUTS, targets=TARGETS)
    assert (tmp_path / "a.vtu").read_text() == "old"


def test_nothing_is_printed(tmp_path, capfd):
    export_sample(ragged_sample(8), tmp_path / "a.vtk", inputs=INPUTS, targets=TARGETS)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["<b>", "a&b", 'say "k"', "a b", "κ"])
def test_any_name_of_a_channel_can_be_read_back_from_vtu(tmp_path, name):
    sample = ragged_sample(8, mesh=False)
    channels = [Channel(name=name), Channel(name="f")]
    export_sample(sample, tmp_path / "a.vtu", inputs=channels, targets=TARGETS)
    again = import_files(tmp_path / "a.vtu", inputs=[name, "f"], targets=["T"])
    np.testing.assert_array_equal(again[0].inputs, sample.inputs)


def test_a_name_with_a_space_is_refused_where_the_format_has_no_way_to_write_it(tmp_path):
    channels = [Channel(name="a b"), Channel(name="f")]
    with pytest.raises(ValueError, match=r"\.vtk files cannot hold a channel named 'a b', with a space; write \.vtu"):
        export_sample(ragged_sample(8), tmp_path / "a.vtk", inputs=channels, targets=TARGETS)
