import json
import shutil

import numpy as np
import pytest

import gola
from gola.data.dataset import Dataset
from gola.runs import RunConfig
from gola.surrogate.surrogate import Surrogate
from tests.cli.runs import failure, generated, run, success


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return generated(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def finished(data):
    """A run of a closed form on 6 of 10 samples, at 100 of 256 points."""
    folder = data.parent / "finished"
    success("train", data, "--operator", "mean", "--num-train", 6, "--num-points", 100, "--seed", 3, "--out", folder)
    return folder


def evaluations(*words):
    return json.loads(success("evaluate", *words, "--json"))["evaluations"]


def test_the_test_samples_of_the_run_are_drawn_at_each_number_of_points(finished):
    rows = evaluations(finished, "--num-points", "50,100,256")
    assert [(row["num_points"], row["num_samples"]) for row in rows] == [(50, 4), (100, 4), (256, 4)]
    _, test = RunConfig.load(finished).whole_samples()
    expected = gola.evaluate(Surrogate.load(finished / "surrogate.gola"), test, num_points=50, seed=4)
    assert rows[0]["errors"] == expected.errors.tolist()
    kept = json.loads((finished / "evaluation.json").read_text())
    assert kept["evaluations"] == rows


def test_by_default_it_repeats_what_training_found(data, tmp_path):
    facts = json.loads(
        success("train", data, "--operator", "mean", "--num-train", 6, "--num-points", 80, "--out", tmp_path, "--json")
    )
    [row] = evaluations(tmp_path)
    assert row["errors"] == facts["test"]["errors"]
    assert row["num_points"] == 80


def test_a_table_is_printed_for_people(finished):
    printed = success("evaluate", finished, "--num-points", "50,100")
    assert "Relative L2 error of mean on 4 samples" in printed
    assert "mean ± std" in printed
    assert "Median time of a prediction: " in printed


def test_estimated_errors_stand_beside_the_actual_ones(data, tmp_path):
    success("train", data, "--operator", "kernel", "--num-train", 6, "--num-points", 60, "--out", tmp_path)
    printed = success("evaluate", tmp_path, "--by-sample")
    assert "Estimated for each prediction at 60 points: " in printed
    assert "of 4 errors lay in their intervals of 85.71 %" in " ".join(printed.split())
    assert "estimated" in printed
    [row] = evaluations(tmp_path)
    assert [set(one) for one in row["estimates"]] == [{"value", "lower", "upper"}] * 4
    assert f"{row['errors'][2]:.4f}" in printed


def test_further_metrics_are_computed_by_name(finished):
    [row] = evaluations(finished, "--num-points", 100, "--metrics", "rmse,r2")
    _, test = RunConfig.load(finished).whole_samples()
    surrogate = Surrogate.load(finished / "surrogate.gola")
    expected = gola.evaluate(surrogate, test, metrics=["rmse", "r2"], num_points=100, seed=4)
    for name in ("rmse", "r2"):
        assert row["metrics"][name]["channels"] == expected.channel_metrics[name].mean(axis=0).tolist()
    printed = success("evaluate", finished, "--num-points", 100, "--metrics", "rmse,r2")
    assert f"{row['metrics']['rmse']['channels'][0]:.4g}" in printed
    assert "no metric 'rmes'; did you mean 'rmse'" in failure("evaluate", finished, "--metrics", "rmes")


def test_a_single_file_is_evaluated_on_all_samples_of_another_data_set(finished, data):
    [row] = evaluations(finished / "surrogate.gola", "--data", data)
    assert row["num_samples"] == 10
    assert row["num_points"] is None
    assert "was made like the training data" in run("evaluate", finished / "surrogate.gola", "--data", data).stderr
    assert "name a data set with --data" in failure("evaluate", finished / "surrogate.gola")


def test_a_copy_of_the_runs_own_data_set_still_gives_the_test_samples_only(finished, data, tmp_path):
    shutil.copy(data, tmp_path / "moved.h5")
    own, moved = evaluations(finished), evaluations(finished, "--data", tmp_path / "moved.h5", "--num-points", 100)
    assert moved[0]["errors"] == own[0]["errors"]


def test_other_data_are_used_whole(finished, data, tmp_path):
    Dataset.load(data)[:4].save(tmp_path / "other.h5")
    [row] = evaluations(finished, "--data", tmp_path / "other.h5")
    assert row["num_samples"] == 4
    assert json.loads((finished / "evaluation.json").read_text())["data"] == str(data)


def test_data_that_have_changed_since_bring_a_warning(data, tmp_path):
    own = tmp_path / "own.h5"
    shutil.copy(data, own)
    success("train", own, "--operator", "mean", "--num-train", 6, "--out", tmp_path / "run")
    assert "Warning" not in run("evaluate", tmp_path / "run").stderr
    Dataset.load(data).select(np.arange(10)[::-1]).save(own)
    assert "has changed since the fit" in run("evaluate", tmp_path / "run").stderr


def test_mistakes_are_explained(finished, data, tmp_path):
    assert "Cannot draw 300 points from every sample: the smallest has 256" in failure(
        "evaluate", finished, "--num-points", "10,300"
    )
    assert "whole numbers above 0" in failure("evaluate", finished, "--num-points", "ten")
    assert "is not the folder of a run" in failure("evaluate", tmp_path)
    assert "There is no surrogate" in failure("evaluate", tmp_path / "missing.gola")
    success("train", data, "--operator", "mean", "--out", tmp_path / "all")
    assert "used all its samples for training" in failure("evaluate", tmp_path / "all")
    (tmp_path / "all" / "surrogate.gola").unlink()
    assert "holds an unfinished run; resume it with" in failure("evaluate", tmp_path / "all")
