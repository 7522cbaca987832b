import json

import meshio
import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.data.sample import Channel
from gola.surrogate.surrogate import Surrogate
from tests.cli.runs import failure, run, success

POINTS = np.random.default_rng(0).random((40, 2))
CHANNELS = {"input_channels": ["heat [W]", "cooling"], "target_channels": ["T [K]"]}


def made(num_samples=6, swapped=False):
    """Samples whose target is a multiple of an input, on the same points."""
    rng = np.random.default_rng(1)
    heat = [rng.random() * np.sin(3 * POINTS[:, 0]) for _ in range(num_samples)]
    cooling = [rng.random() * POINTS[:, 1] for _ in range(num_samples)]
    inputs = [np.stack(pair, axis=1) for pair in zip(heat, cooling, strict=True)]
    targets = [2 * values + 300 for values in heat]
    channels = {name: [Channel.parse(text) for text in texts] for name, texts in CHANNELS.items()}
    if swapped:
        inputs = [values[:, ::-1].copy() for values in inputs]
        channels["input_channels"].reverse()
    return Dataset.from_arrays(POINTS, inputs, targets, **channels)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("predict")
    made().save(folder / "data.h5")
    success("train", folder / "data.h5", "--operator", "nearest", "--num-train", 4, "--out", folder / "run")
    return folder


@pytest.fixture(scope="module")
def surrogate(folder):
    return Surrogate.load(folder / "run/surrogate.gola")


def expected(surrogate, index=0, at=None):
    sample = made()[index]
    return surrogate.predict(sample.points, sample.inputs, at=at)[:, 0]


def test_a_sample_of_a_data_set_becomes_a_mesh_with_inputs_truth_prediction_and_error(folder, surrogate, tmp_path):
    printed = success("predict", folder / "run", folder / "data.h5", "--sample", 2, "--out", tmp_path / "a.vtu")
    assert "sample 2 of 6" in printed
    mesh = meshio.read(tmp_path / "a.vtu")
    assert set(mesh.point_data) == {"heat", "cooling", "T", "T_predicted", "T_error", "prediction_unusual"}
    np.testing.assert_array_equal(mesh.point_data["T_predicted"], expected(surrogate, 2))
    difference = mesh.point_data["T_predicted"] - mesh.point_data["T"]
    np.testing.assert_allclose(mesh.point_data["T_error"], difference, atol=1e-12)


def test_all_samples_fit_into_a_folder_or_a_data_set(folder, surrogate, tmp_path):
    success("predict", folder / "run", folder / "data.h5", "--out", tmp_path / "vtu")
    assert sorted(path.name for path in (tmp_path / "vtu").iterdir()) == [f"sample_000{i}.vtu" for i in range(6)]
    success("predict", folder / "run/surrogate.gola", folder / "data.h5", "--out", tmp_path / "all.h5")
    written = Dataset.load(tmp_path / "all.h5")
    assert [str(channel) for channel in written.targets] == ["T [K]", "T_predicted [K]", "T_error [K]"]
    np.testing.assert_array_equal(written[5].targets[:, 1], expected(surrogate, 5))


@pytest.mark.parametrize("suffix", [".npz", ".csv"])
def test_archives_and_tables_go_in_and_out(folder, tmp_path, suffix):
    """What was written is read again, and predicted the same."""
    first, second = tmp_path / f"first{suffix}", tmp_path / f"second{suffix}"
    success("predict", folder / "run", folder / "data.h5", "--out", first)
    facts = json.loads(success("predict", folder / "run", first, "--out", second, "--json"))
    assert facts["errors"][0] > 0
    assert second.read_bytes() == first.read_bytes()


def test_inputs_alone_are_enough_and_may_come_in_any_order(folder, surrogate, tmp_path):
    sample = made()[1]
    table = np.column_stack([sample.inputs[:, 1], POINTS, sample.inputs[:, 0]])
    np.savetxt(tmp_path / "in.csv", table, delimiter=",", header="cooling,x,y,heat [W]", comments="", fmt="%.17g")
    printed = success("predict", folder / "run", tmp_path / "in.csv", "--out", tmp_path / "out.npz")
    assert "relative L2 error" not in printed
    with np.load(tmp_path / "out.npz") as written:
        judged = {"prediction_unusual", "prediction_estimated_error"}
        assert set(written) == {"points", "heat", "cooling", "T_predicted", *judged}
        np.testing.assert_array_equal(written["T_predicted"], expected(surrogate, 1))
    made(swapped=True).save(tmp_path / "swapped.h5")
    success("predict", folder / "run", tmp_path / "swapped.h5", "--sample", 1, "--out", tmp_path / "b.npz")
    with np.load(tmp_path / "b.npz") as written:
        np.testing.assert_array_equal(written["T_predicted"], expected(surrogate, 1))


def test_predictions_can_be_made_elsewhere_on_the_cells_of_another_mesh(folder, surrogate, tmp_path):
    corners = np.array([[0.1, 0.1, 0.0], [0.9, 0.1, 0.0], [0.5, 0.9, 0.0]])
    meshio.Mesh(corners, [("triangle", np.array([[0, 1, 2]]))]).write(tmp_path / "at.vtu")
    words = ("predict", folder / "run", folder / "data.h5", "--at", tmp_path / "at.vtu", "--out")
    success(*words, tmp_path / "out.vtu")
    mesh = meshio.read(tmp_path / "out.vtu")
    assert list(mesh.point_data) == ["T_predicted", "prediction_unusual"]
    assert mesh.cells[0].type == "triangle"
    np.testing.assert_array_equal(mesh.point_data["T_predicted"], expected(surrogate, at=corners[:, :2]))
    assert "inputs at its points, and --at has none" in failure(*words, tmp_path / "out.h5")


def test_points_far_outside_bring_one_line(folder, tmp_path):
    (tmp_path / "at.csv").write_text("x,y\n0.5,0.5\n40,0.5\n")
    words = ("--at", tmp_path / "at.csv", "--out", tmp_path / "vtu")
    result = run("predict", folder / "run", folder / "data.h5", *words)
    assert result.exit_code == 0
    assert result.stderr.count("Warning: 1 of 2 rows of at lie outside the training points") == 1
    assert "There are 6 warnings for 6 samples" in result.stderr.replace("\n", " ")
    assert ".py" not in result.stderr


def test_other_units_bring_a_warning(folder, tmp_path):
    table = np.column_stack([POINTS, made()[0].inputs])
    np.savetxt(tmp_path / "in.csv", table, delimiter=",", header="x,y,heat [kW],cooling", comments="")
    result = run("predict", folder / "run", tmp_path / "in.csv", "--out", tmp_path / "out.csv")
    assert "has heat [kW], and the surrogate was fitted to heat [W]" in result.stderr.replace("\n", " ")


def test_mistakes_are_explained(folder, tmp_path):
    def mistake(file, *words, out="x.vtu"):
        return failure("predict", folder / "run", file, *words, "--out", tmp_path / out)

    data = folder / "data.h5"
    assert "No file matches" in mistake(tmp_path / "missing.vtu")
    assert "not a file" in mistake(tmp_path / "missing.h5")
    assert "its name must end in .vtu" in mistake(data, out="x.xyz")
    assert "can hold one sample, not 2" in mistake(data, "--sample", 0, "--sample", 1)
    assert "no sample 6; the data set has samples 0 to 5" in mistake(data, "--sample", 6)
    (tmp_path / "in.csv").write_text("x,y,heta,cooling\n0,0,1,1\n")
    assert "has no channel 'heat'; it has heta, cooling. Did you mean 'heta'?" in mistake(tmp_path / "in.csv")
    (tmp_path / "line.csv").write_text("x,heat,cooling\n0,1,1\n1,1,1\n")
    assert "has points in 1D, and the surrogate was fitted in 2D" in mistake(tmp_path / "line.csv")
    assert "has points in 1D" in mistake(data, "--at", tmp_path / "line.csv")
    Dataset.from_arrays(POINTS, [POINTS[:, 0]], input_channels=["heat"]).save(tmp_path / "less.h5")
    assert "needs the input channel 'cooling'" in mistake(tmp_path / "less.h5")
    assert not (tmp_path / "x.vtu").exists()


def test_a_band_is_written_beside_the_prediction_and_the_error_to_expect_is_told(folder, tmp_path):
    command = ["predict", folder / "run", folder / "data.h5", "--interval", 0.8]
    printed = success(*command, "--sample", 2, "--out", tmp_path / "a.vtu")
    assert "estimated error" in printed
    mesh = meshio.read(tmp_path / "a.vtu")
    assert (mesh.point_data["T_lower"] < mesh.point_data["T_predicted"]).all()
    assert (mesh.point_data["T_predicted"] < mesh.point_data["T_upper"]).all()
    assert (mesh.point_data["prediction_unusual"] <= 1.0).all()
    found = json.loads(success(*command, "--out", tmp_path / "all.h5", "--json"))
    assert len(found["judged"]) == 6
    assert set(found["judged"][0]["estimated_error"]) == {"value", "lower", "upper"}
    names = [channel.name for channel in Dataset.load(tmp_path / "all.h5").targets]
    assert names == ["T", "T_predicted", "T_error", "T_lower", "T_upper"]


def test_the_error_is_estimated_and_unusual_places_are_marked_without_a_band_too(folder, tmp_path):
    nowhere = tmp_path / "places.csv"
    nowhere.write_text("x,y\n0.5,0.5\n3,3\n")
    command = ["predict", folder / "run", folder / "data.h5", "--at", nowhere, "--out", tmp_path / "a.vtu"]
    printed = success(*command)
    assert "estimated error" in printed
    assert "1 places outside the domain" in " ".join(printed.split())
    mesh = meshio.read(tmp_path / "a.vtu")
    assert set(mesh.point_data) == {"T_predicted", "prediction_unusual"}
    assert mesh.point_data["prediction_unusual"][1] == 1.0 > mesh.point_data["prediction_unusual"][0]
    assert mesh.field_data["prediction_estimated_error"] > 0.0


def test_bands_that_cannot_be_drawn_are_refused(folder, tmp_path):
    command = ["predict", folder / "run", folder / "data.h5", "--out", tmp_path / "a.vtu"]
    assert "needs at least 9 training samples" in failure(*command, "--interval", 0.9)
    assert "kind must be 'everywhere' or 'pointwise'" in failure(*command, "--interval", 0.5, "--kind", "somewhere")
