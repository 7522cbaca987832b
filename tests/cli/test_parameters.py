"""Parameters, regions, distances and periods, from files over fits to predictions."""

import json

import meshio
import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.data.sample import Channel
from tests.cli.test_data import _triangles, failure, run

LOADS, ANGLES = np.linspace(1.0, 2.0, 8), np.array([0.0, 30.0, 10.0, 20.0, 5.0, 25.0, 15.0, 12.0])


def plate():
    axis = np.linspace(0.0, 1.0, 6)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    return points, _triangles(points)


def deflection(points, load, angle):
    return load * np.sin(np.pi * points[:, 0]) * (1.0 + np.deg2rad(angle) * points[:, 1])


def archive(path):
    with np.load(path) as arrays:
        return dict(arrays)


def success(*words):
    result = run(*words)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def folder(tmp_path):
    """Eight simulations on one mesh, and a table of what they were given."""
    points, cells = plate()
    middles = points[cells].mean(axis=1)
    for number, (load, angle) in enumerate(zip(LOADS, ANGLES, strict=True)):
        mesh = meshio.Mesh(
            np.pad(points, ((0, 0), (0, 1))),
            [("triangle", cells)],
            point_data={"w": deflection(points, load, angle)},
            cell_data={
                "load": [np.full(len(cells), load)],
                "MaterialIds": [np.where(middles[:, 0] < 0.4, 1, 7)],
            },
        )
        mesh.write(tmp_path / f"case_{number}.vtu")
    rows = [f"case_{number}.vtu,{load},{angle}" for number, (load, angle) in enumerate(zip(LOADS, ANGLES, strict=True))]
    (tmp_path / "cases.csv").write_text("\n".join(["file,load [N],angle [deg]", *reversed(rows)]))
    return tmp_path


@pytest.fixture
def data(folder):
    out = folder / "plates.h5"
    success("import", folder / "case_*.vtu", "--targets", "w", "--parameters", folder / "cases.csv", "--out", out)
    return out


def test_a_table_beside_mesh_files_gives_parameters_by_file_name(data):
    dataset = Dataset.load(data)
    assert dataset.inputs == ()
    assert dataset.parameters == (Channel(name="load", unit="N"), Channel(name="angle", unit="deg"))
    assert np.array_equal(dataset.parameter_values, np.stack([LOADS, ANGLES], axis=1))
    assert dataset.correspondence == "same points"


def test_inspect_shows_parameters_with_their_range_and_how_points_correspond(data):
    printed = success("inspect", data)
    assert "parameter" in printed
    assert "angle [deg]" in printed
    assert "the same" in printed
    told = json.loads(success("inspect", data, "--json"))
    assert told["correspondence"] == "same points"
    by_name = {one["channel"]["name"]: one for one in told["channels"]}
    assert (by_name["angle"]["role"], by_name["angle"]["minimum"], by_name["angle"]["maximum"]) == ("parameter", 0, 30)


def test_a_channel_of_one_number_per_file_becomes_a_parameter_unless_it_is_kept(folder):
    words = ("import", folder / "case_*.vtu", "--inputs", "load [N]", "--targets", "w", "--out", folder / "x.h5")
    assert "Note: load is one number per simulation, a parameter; --keep-fields" in success(*words)
    assert Dataset.load(folder / "x.h5").parameters == (Channel(name="load", unit="N"),)
    printed = success(*words, "--keep-fields")
    assert "input channel 'load' is one number per sample. It is better a parameter" in " ".join(printed.split())
    assert Dataset.load(folder / "x.h5").inputs == (Channel(name="load", unit="N"),)


def test_numbers_in_archives_and_field_data_of_meshes_are_parameters(tmp_path):
    points, cells = plate()
    targets = np.array([deflection(points, *both) for both in zip(LOADS, ANGLES, strict=True)])
    np.savez(tmp_path / "all.npz", points=points, w=targets, load=LOADS, angle=ANGLES, gravity=9.81, cells=cells)
    success("import", tmp_path / "all.npz", "--targets", "w", "--out", tmp_path / "npz.h5")
    archive = Dataset.load(tmp_path / "npz.h5")
    # What is the same in all simulations tells nothing.
    assert [parameter.name for parameter in archive.parameters] == ["load", "angle"]
    assert np.array_equal(archive.parameter_values, np.stack([LOADS, ANGLES], axis=1))
    success("export", tmp_path / "npz.h5", "--out", tmp_path / "vtu")
    assert meshio.read(tmp_path / "vtu/sample_0003.vtu").field_data["angle"] == ANGLES[3]
    success("import", tmp_path / "vtu/*.vtu", "--inputs", "angle,load", "--targets", "w", "--out", tmp_path / "b.h5")
    meshes = Dataset.load(tmp_path / "b.h5")
    assert [parameter.name for parameter in meshes.parameters] == ["angle", "load"]
    assert np.array_equal(meshes.parameter_values, np.stack([ANGLES, LOADS], axis=1))
    assert np.array_equal(meshes[5].targets, archive[5].targets)


def test_an_array_of_parameters_in_an_archive_may_have_names(tmp_path):
    points, _ = plate()
    targets = np.array([deflection(points, *both) for both in zip(LOADS, ANGLES, strict=True)])
    table = np.stack([LOADS, ANGLES], axis=1)
    np.savez(tmp_path / "a.npz", points=points, w=targets, parameters=table, parameter_names=["load [N]", "angle"])
    success("import", tmp_path / "a.npz", "--targets", "w", "--out", tmp_path / "a.h5")
    assert Dataset.load(tmp_path / "a.h5").parameters == (Channel(name="load", unit="N"), Channel(name="angle"))
    np.savez(tmp_path / "b.npz", points=points, w=targets, parameters=table, parameter_names=["load"])
    assert "must name 2 parameters" in failure("import", tmp_path / "b.npz", "--targets", "w", "--out", "b.h5")


@pytest.mark.parametrize("suffix", [".vtu", ".vtk", ".npz", ".csv"])
def test_every_format_keeps_parameters(data, tmp_path, suffix):
    files = []
    for number in range(3):
        files.append(tmp_path / f"case_{number}{suffix}")
        success("export", data, "--sample", number, "--out", files[-1])
    success("import", *files, "--inputs", "load,angle", "--targets", "w", "--out", tmp_path / "again.h5")
    again = Dataset.load(tmp_path / "again.h5")
    assert again.inputs == ()
    np.testing.assert_allclose(again.parameter_values, np.stack([LOADS, ANGLES], axis=1)[:3])
    # Names in .vtk files have no spaces, and so no units.
    units = ("", "") if suffix == ".vtk" else ("N", "deg")
    assert tuple(channel.unit for channel in again.parameters) == units


def test_labelled_parts_become_indicators_and_distances(folder):
    success(
        *("import", folder / "case_*.vtu", "--targets", "w", "--regions", "MaterialIds", "--distance", "boundary"),
        *("--distance", "MaterialIds=7", "--parameters", folder / "cases.csv", "--out", folder / "x.h5"),
    )
    dataset = Dataset.load(folder / "x.h5")
    names = [channel.name for channel in dataset.inputs]
    assert names == ["MaterialIds=1", "MaterialIds=7", "boundary_distance", "MaterialIds=7_distance"]
    points, inputs = dataset[0].points, dataset[0].inputs
    np.testing.assert_allclose(inputs[:, 0] + inputs[:, 1], 1.0)
    assert set(inputs[points[:, 0] < 0.3, 0]) == {1.0}
    np.testing.assert_allclose(inputs[:, 2], np.minimum(points, 1.0 - points).min(axis=1), atol=1e-12)
    np.testing.assert_allclose(inputs[:, 3], np.maximum(0.0, 0.4 - points[:, 0]), atol=1e-12)


def test_parts_that_are_not_there_are_named(folder):
    words = ("import", folder / "case_*.vtu", "--targets", "w", "--out", folder / "x.h5")
    assert "no array of labels in" in failure(*words, "--regions", "Materials")
    assert "did you mean 'MaterialIds'" in failure(*words, "--regions", "Materials")
    assert "no part of" in failure(*words, "--distance", "MaterialIds=3")
    assert "does not tell regions apart" in failure(*words, "--regions", "w")


def test_parts_of_the_boundary_have_names_in_gmsh_files(tmp_path):
    points, cells = plate()
    inlet = np.flatnonzero(points[:, 0] == 0.0)
    lines = np.stack([inlet[:-1], inlet[1:]], axis=1)
    mesh = meshio.Mesh(
        np.pad(points, ((0, 0), (0, 1))),
        [("line", lines), ("triangle", cells)],
        point_data={"w": points[:, 0]},
        cell_data={
            "gmsh:physical": [np.full(len(lines), 3), np.full(len(cells), 3)],
            "gmsh:geometrical": [np.full(len(lines), 1), np.full(len(cells), 1)],
        },
        field_data={"inlet": np.array([3, 1]), "steel": np.array([3, 2])},
    )
    meshio.write(tmp_path / "a.msh", mesh, file_format="gmsh22")
    words = ("--regions", "gmsh:physical", "--distance", "gmsh:physical=inlet", "--out", tmp_path / "x.h5")
    success("import", tmp_path / "a.msh", "--targets", "w", *words)
    dataset = Dataset.load(tmp_path / "x.h5")
    found = {channel.name: dataset[0].inputs[:, column] for column, channel in enumerate(dataset.inputs)}
    assert list(found) == ["gmsh:physical=steel", "gmsh:physical=inlet", "gmsh:physical=inlet_distance"]
    assert set(found["gmsh:physical=steel"]) == {1.0}
    assert np.array_equal(found["gmsh:physical=inlet"], dataset[0].points[:, 0] == 0.0)
    np.testing.assert_allclose(found["gmsh:physical=inlet_distance"], dataset[0].points[:, 0], atol=1e-12)


def test_a_period_is_declared_and_suggested(tmp_path):
    x = np.arange(32) / 32
    phases = np.random.default_rng(0).random((6, 1))
    np.savez(
        tmp_path / "a.npz", points=x[:, None], f=np.sin(2 * np.pi * (x + phases)), u=np.cos(2 * np.pi * (x + phases))
    )
    words = ("import", tmp_path / "a.npz", "--inputs", "f", "--targets", "u", "--out", tmp_path / "a.h5")
    assert "may be periodic along x with the period 1;" in " ".join(success(*words).split())
    assert "may be periodic" not in success(*words, "--period", "x=1.0")
    assert Dataset.load(tmp_path / "a.h5").periods == (1.0,)
    assert "x with period 1" in success("inspect", tmp_path / "a.h5")
    assert "no axis 'y'" in failure(*words, "--period", "y=1.0")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("file,load\ncase_0.vtu,1\n", r"has no row for"),
        ("load\n1\n2\n", "has 2 rows for 8 simulations"),
        ("file,load\ncase_0,1\ncase_0,2\n", "has 2 rows called 'case_0'"),
        ("load\n1\n2\n3\n4\n5\n6\n7\nnan\n", "row 8, column 'load' is nan"),
        ("w\n1\n2\n3\n4\n5\n6\n7\n8\n", "'w' is the name of a parameter and of a target"),
    ],
)
def test_a_bad_table_is_refused(folder, table, message):
    (folder / "bad.csv").write_text(table)
    words = ("import", folder / "case_*.vtu", "--targets", "w", "--parameters", folder / "bad.csv")
    assert message in failure(*words, "--out", folder / "x.h5")


@pytest.fixture
def fitted(data, folder):
    success("train", data, "--operator", "pod_gp", "--num-train", 6, "--out", folder / "run")
    return folder / "run"


def test_training_evaluation_and_pictures_work_with_parameters_alone(fitted, data, folder):
    assert "Relative L2" in success("evaluate", fitted)
    success("plot", fitted)
    success("plot", fitted / "surrogate.gola")
    success("plot", data)
    success("compare", data, "--operators", "kernel,mean", "--num-train", 6, "--out", folder / "compared")
    assert (fitted / "fields.png").exists()


def test_predictions_take_parameters_from_the_file_a_table_or_the_command(fitted, data, folder, tmp_path):
    told = json.loads(success("predict", fitted, data, "--out", tmp_path / "all.h5", "--json"))
    assert len(told["errors"]) == 8
    from_file = Dataset.load(tmp_path / "all.h5")
    assert from_file.parameters == (Channel(name="load", unit="N"), Channel(name="angle", unit="deg"))
    # A mesh that says nothing of the angle.
    mesh = folder / "case_2.vtu"
    success("predict", fitted, mesh, "--parameter", f"angle={ANGLES[2]}", "--out", tmp_path / "one.vtu")
    one = meshio.read(tmp_path / "one.vtu")
    np.testing.assert_array_equal(one.point_data["w_predicted"], from_file[2].targets[:, 1])
    assert one.field_data["angle [deg]"] == ANGLES[2]
    # The row of the table that is called like the mesh.
    success("predict", fitted, mesh, "--parameters", folder / "cases.csv", "--out", tmp_path / "row.npz")
    np.testing.assert_array_equal(archive(tmp_path / "row.npz")["w_predicted"], from_file[2].targets[:, 1])
    # Any number of cases on one mesh.
    (tmp_path / "new.csv").write_text("angle,load\n12,1.5\n3,1.2\n9,1.9\n")
    (tmp_path / "mesh.vtu").write_bytes(mesh.read_bytes())
    success(
        "predict", fitted, tmp_path / "mesh.vtu", "--parameters", tmp_path / "new.csv", "--out", tmp_path / "new.h5"
    )
    cases = Dataset.load(tmp_path / "new.h5")
    assert cases.parameter_values.tolist() == [[1.5, 12.0], [1.2, 3.0], [1.9, 9.0]]
    assert [channel.name for channel in cases.targets] == ["w_predicted"]


def test_many_files_take_their_parameters_from_a_table(fitted, data, folder, tmp_path):
    words = ("predict", fitted, folder / "case_*.vtu", "--parameters", folder / "cases.csv")
    assert "relative L2 error" in success(*words, "--out", tmp_path / "all.h5")
    success("predict", fitted, data, "--out", tmp_path / "same.h5")
    found, same = Dataset.load(tmp_path / "all.h5"), Dataset.load(tmp_path / "same.h5")
    np.testing.assert_array_equal(found.parameter_values, same.parameter_values)
    np.testing.assert_array_equal(found[5].targets, same[5].targets)


def test_errors_are_not_measured_against_the_solution_of_other_parameters(fitted, data, folder, tmp_path):
    # A mesh that does not say for which parameters it was solved.
    mesh = folder / "case_2.vtu"
    words = ("predict", fitted, mesh, "--out", tmp_path / "one.npz")
    assert "relative L2 error" in success(*words, "--parameters", folder / "cases.csv")
    assert "relative L2 error" not in success(*words, "--parameter", "angle=20")
    (tmp_path / "new.csv").write_text("angle,load\n12,1.5\n")
    assert "relative L2 error" not in success(*words, "--parameters", tmp_path / "new.csv")
    words = ("predict", fitted, data, "--sample", 2, "--out", tmp_path / "one.npz")
    assert "relative L2 error" in success(*words)
    assert "relative L2 error" in success(*words, "--parameter", f"angle={ANGLES[2]}")
    assert "relative L2 error" not in success(*words, "--parameter", f"angle={ANGLES[2] + 1.0}")
    assert "w" not in archive(tmp_path / "one.npz")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "needs the parameter 'angle', which .*case_2.vtu does not have; add --parameter angle=NUMBER"),
        (("--parameter", "angel=3"), "no parameter of the surrogate called 'angel'; did you mean 'angle'"),
        (("--parameter", "angle=steep"), "The parameter angle is 'steep'"),
        (("--parameter", "angle"), "like Re=120; got 'angle'"),
    ],
)
def test_parameters_that_are_missing_or_unknown_are_named(fitted, folder, tmp_path, words, message):
    printed = failure("predict", fitted, folder / "case_2.vtu", *words, "--out", tmp_path / "x.vtu")
    with pytest.raises(ValueError, match=message):
        raise ValueError(printed)


def test_a_parameter_out_of_range_is_told(fitted, folder, tmp_path):
    words = ("--parameter", "angle=90", "--out", tmp_path / "x.vtu")
    result = run("predict", fitted, folder / "case_2.vtu", *words)
    assert "angle is 90 deg, and from 0 to 25 deg in the training samples" in " ".join(result.output.split())


@pytest.mark.parametrize(("name", "is_told"), [("angle [rad]", True), ("angle [deg]", False), ("angle", False)])
def test_a_parameter_in_another_unit_is_told(fitted, folder, tmp_path, name, is_told):
    words = ("--parameter", f"{name}=3", "--out", tmp_path / "x.vtu")
    printed = " ".join(run("predict", fitted, folder / "case_2.vtu", *words).output.split())
    told = "--parameter has angle [rad], and the surrogate was fitted to angle [deg]; values are not converted."
    assert (told in printed) == is_told


def test_a_mesh_to_predict_needs_labels_and_no_indicators(folder, tmp_path):
    words = ("--targets", "w", "--regions", "MaterialIds", "--distance", "boundary", "--inputs", "load")
    success("import", folder / "case_*.vtu", *words, "--out", folder / "x.h5")
    success("train", folder / "x.h5", "--operator", "nearest", "--num-train", 6, "--out", folder / "run")
    success("predict", folder / "run", folder / "case_3.vtu", "--out", tmp_path / "from_mesh.npz")
    success("predict", folder / "run", folder / "x.h5", "--sample", 3, "--out", tmp_path / "from_data.npz")
    mesh, data = archive(tmp_path / "from_mesh.npz"), archive(tmp_path / "from_data.npz")
    for name in ("MaterialIds=7", "boundary_distance", "load", "w_predicted"):
        np.testing.assert_array_equal(mesh[name], data[name])
