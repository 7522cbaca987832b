import json

from tests.cli.runs import success
from tests.surrogate.uncertainty.test_bands import waves


def test_bands_are_counted_over_splits_of_a_file(tmp_path):
    waves(14, num_points=40).save(tmp_path / "data.h5")
    command = ["calibration", tmp_path / "data.h5", "--operator", "nearest", "--num-train", 10, "--num-splits", 2]
    printed = success(*command)
    assert "of fields, everywhere" in printed
    assert "(10 training and 4 test samples, 2 splits)" in printed
    found = json.loads(success(*command, "--json"))
    assert [one["level"] for one in found["coverages"]] == [0.5, 0.8, 0.9, 0.5, 0.8, 0.9]
