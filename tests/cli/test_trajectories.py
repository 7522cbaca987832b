"""Trajectories from files to predictions by the command line."""

import json

import meshio
import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.surrogate.surrogate import Surrogate
from tests.cli.runs import failure, success
from tests.data.formats.steps import TIMES, write_numbered
from tests.data.trajectories import cooling


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trajectories")
    cooling(8).save(folder / "data.h5")
    success("train", folder / "data.h5", "--operator", "pod_gp", "--num-train", 6, "--out", folder / "run")
    return folder


def test_numbered_files_are_imported_and_inspected(tmp_path):
    pattern = write_numbered(tmp_path)
    out = tmp_path / "a.h5"
    listed = ",".join(map(str, TIMES))
    printed = success("import", pattern, "--series", "--times", listed, "--inputs", "k", "--targets", "T", "--out", out)
    assert "3 trajectories in 2D: k -> T" in printed
    assert Dataset.load(out)[0].times.tolist() == list(TIMES)
    printed = success("inspect", out)
    assert "4 / 4 / 4" in printed
    assert "0 to 2" in printed
    found = json.loads(success("inspect", out, "--json"))["times"]
    assert found == {"num_times": [4, 4, 4], "first": 0.0, "last": 2.0, "shared": True, "inputs_change": False}


def test_different_times_are_shown(tmp_path):
    cooling(3, own_times=True).save(tmp_path / "a.h5")
    printed = success("inspect", tmp_path / "a.h5")
    assert "6 / 7 / 8" in printed
    assert "different" in printed


def test_exported_trajectories_can_be_imported_again(folder, tmp_path):
    success("export", folder / "data.h5", "--sample", 1, "--out", tmp_path / "one.pvd")
    assert len(list((tmp_path / "one").glob("one_*.vtu"))) == 6
    success("import", tmp_path / "one.pvd", "--inputs", "rate,wave", "--targets", "T", "--out", tmp_path / "a.h5")
    again, first = Dataset.load(tmp_path / "a.h5")[0], Dataset.load(folder / "data.h5")[1]
    for name in ("points", "targets", "times", "parameters"):
        np.testing.assert_allclose(getattr(again, name), getattr(first, name), rtol=1e-12)
    success("export", folder / "data.h5", "--out", tmp_path / "all")
    assert len(list((tmp_path / "all").glob("*.pvd"))) == 8
    assert "name a .pvd or an .npz file" in failure(
        "export", folder / "data.h5", "--sample", 0, "--out", tmp_path / "a.vtu"
    )


def test_trajectories_are_predicted_from_file_to_file(folder, tmp_path):
    printed = success("predict", folder / "run", folder / "data.h5", "--sample", 2, "--out", tmp_path / "a.pvd")
    assert "sample 2 of 8" in printed
    assert "relative L2 error" in printed
    mesh = meshio.read(tmp_path / "a/a_0003.vtu")
    sample = Dataset.load(folder / "data.h5")[2]
    expected = Surrogate.load(folder / "run/surrogate.gola").predict_sample(sample)[3, :, 0]
    np.testing.assert_allclose(mesh.point_data["T_predicted"], expected, rtol=1e-12)
    np.testing.assert_allclose(mesh.point_data["T_error"], expected - sample.targets[3, :, 0], atol=1e-12)


def test_other_times_are_predicted_without_the_truth(folder, tmp_path):
    run, data = folder / "run", folder / "data.h5"
    printed = success("predict", run, data, "--times", "0:1:3", "--out", tmp_path / "a.npz")
    assert "relative L2 error" not in printed
    with np.load(tmp_path / "a.npz") as archive:
        assert archive["times"].tolist() == [0.0, 0.5, 1.0]
        assert archive["T_predicted"].shape == (3, 40)
        assert "T" not in archive
    success("predict", run, data, "--times", "0.3", "--out", tmp_path / "all.h5")
    assert Dataset.load(tmp_path / "all.h5")[7].targets.shape == (1, 40, 1)


def test_a_mesh_without_time_is_predicted_at_the_times_of_the_training_samples(folder, tmp_path):
    sample = Dataset.load(folder / "data.h5")[0]
    np.savez(tmp_path / "points.npz", points=sample.points)
    numbers = ("--parameter", "rate=1.0", "--parameter", "wave=1.5")
    success("predict", folder / "run", tmp_path / "points.npz", *numbers, "--out", tmp_path / "a.pvd")
    assert len(list((tmp_path / "a").glob("*.vtu"))) == 6
    places = ("--at", tmp_path / "points.npz", "--times", "1,2")
    success("predict", folder / "run", folder / "data.h5", *places, "--out", tmp_path / "b.pvd")
    assert len(list((tmp_path / "b").glob("*.vtu"))) == 2


def test_evaluation_and_mistakes(folder, tmp_path):
    assert "0.0" in success("evaluate", folder / "run")
    message = failure("predict", folder / "run", folder / "data.h5", "--times", "0:1", "--out", tmp_path / "a.npz")
    assert "FIRST:LAST:NUMBER" in message
