import json

from tests.cli.runs import failure, success
from tests.surrogate.uncertainty.test_bands import waves


def test_what_more_samples_would_bring_is_said_and_drawn(tmp_path):
    waves(16, num_points=40).save(tmp_path / "data.h5")
    command = ["learning-curve", tmp_path / "data.h5", "--operator", "nearest", "--more", 10]
    printed = success(*command, "--out", tmp_path / "curve.png")
    assert "10 more simulations: from " in printed
    assert (tmp_path / "curve.png").exists()
    found = json.loads(success(*command, "--json"))
    assert found["sizes"] == [4, 8, 12, 16]
    assert found["forecasts"][0]["num_samples"] == 26


def test_too_few_samples_and_no_more_of_them_are_refused(tmp_path):
    waves(8, num_points=40).save(tmp_path / "data.h5")
    assert "needs at least 12 samples" in failure("learning-curve", tmp_path / "data.h5", "--operator", "nearest")
    assert "--more needs at least 1 more sample" in failure("learning-curve", tmp_path / "data.h5", "--more", 0)
