import json

from tests.cli.runs import failure, success
from tests.surrogate.uncertainty.test_bands import waves


def test_bands_are_counted_over_splits_of_a_file(tmp_path):
    waves(14, num_points=40).save(tmp_path / "data.h5")
    command = ["calibration", tmp_path / "data.h5", "--operator", "nearest", "--num-train", 10, "--num-splits", 2]
    printed = success(*command)
    assert "of fields, everywhere" in printed
    assert "(10 training and 4 test samples, 2 splits)" in printed
    found = json.loads(success(*command, "--json"))
    assert [one["level"] for one in found["coverages"]] == [0.5, 0.8, 0.9, 0.5, 0.8, 0.9]


def test_a_run_says_what_to_fit_and_to_how_many_samples(tmp_path):
    waves(14, num_points=40).save(tmp_path / "data.h5")
    success("train", tmp_path / "data.h5", "--operator", "nearest", "--num-train", 10, "--out", tmp_path / "run")
    printed = success("calibration", tmp_path / "run", "--num-splits", 1, "--out", tmp_path / "calibration.png")
    assert "(10 training and 4 test samples, 1 split)" in printed
    assert (tmp_path / "calibration.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_neither_data_nor_a_run_is_refused(tmp_path):
    assert "is not the folder of a run" in failure("calibration", tmp_path)
    assert "is not a file" in failure("calibration", tmp_path / "nothing.h5")
    waves(8, num_points=40).save(tmp_path / "data.h5")
    few = ["calibration", tmp_path / "data.h5", "--num-train", 8, "--operator", "nearest"]
    assert "test" in failure(*few)
