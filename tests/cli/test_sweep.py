import json
import shlex

import pytest

from tests.cli.runs import failure, generated, run, success

SMALL = ("--num-train", 6, "--num-points", 60, "--num-folds", 2, "--num-workers", 1)
TINY = (
    "--operator",
    "gcn",
    "--set",
    "width=4,8",
    "--training",
    "num_epochs=1",
    "--training",
    "learning_rate=1e-3,1e-2",
)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return generated(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def swept(data):
    """The folder of a sweep over four combinations, and what it printed."""
    folder = data.parent / "swept"
    return folder, success("sweep", data, *TINY, *SMALL, "--out", folder)


def test_the_table_has_every_combination_the_lowest_error_first(data, swept):
    folder, printed = swept
    assert "the test samples were not used" in printed
    found = json.loads(success("sweep", data, *TINY, *SMALL, "--out", folder, "--json"))
    errors = [one["error"] for one in found["candidates"]]
    assert errors == sorted(errors)
    assert len(errors) == 4
    assert all(f"{error:.4f} ±" in printed for error in errors)


def test_the_command_that_is_printed_trains_with_the_best_settings(data, swept, tmp_path):
    folder, printed = swept
    found = json.loads(success("sweep", data, *TINY, *SMALL, "--out", folder, "--json"))
    assert found["command"] in printed
    result = trained(found["command"], tmp_path / "best")
    kept = json.loads((tmp_path / "best" / "run.json").read_text())
    best = found["candidates"][0]
    assert kept["settings"] == best["settings"]
    assert {name: kept["training"][name] for name in best["training"]} == best["training"]
    assert kept["num_train"] == 6
    assert result["test"]["num_samples"] == 4


def test_lists_and_every_training_setting_can_be_swept_and_then_trained_with(data, tmp_path):
    lists = ("--set", "steps=mean", "--set", "steps=mean,symmetries", "--set", "num_modes=20")
    found = json.loads(
        success("sweep", data, "--operator", "linear", *lists, *SMALL, "--out", tmp_path / "a", "--json")
    )
    assert sorted(one["settings"]["steps"] for one in found["candidates"]) == [["mean"], ["mean", "symmetries"]]
    trained(found["command"], tmp_path / "linear")
    kept = json.loads((tmp_path / "linear" / "run.json").read_text())
    assert kept["settings"] == found["candidates"][0]["settings"]

    values = {"symmetries": "-xy,yx", "points_per_epoch": "40", "weight_decay": "0.1", "validation_from": "3"}
    words = [word for name, value in values.items() for word in ("--training", f"{name}={value}")]
    words += ["--operator", "gcn", "--set", "width=4", "--training", "num_epochs=1"]
    found = json.loads(success("sweep", data, *words, *SMALL, "--out", tmp_path / "b", "--json"))
    trained(found["command"], tmp_path / "gcn")
    kept = json.loads((tmp_path / "gcn" / "run.json").read_text())["training"]
    assert kept["symmetries"] == ["-xy", "yx"]
    assert {name: kept[name] for name in values if name != "symmetries"} == {
        "points_per_epoch": 40,
        "weight_decay": 0.1,
        "validation_from": 3,
    }


def trained(command, folder):
    """Do what a sweep recommends, in another folder."""
    program, *words = shlex.split(command)
    assert program == "gola"
    words[words.index("--out") + 1] = str(folder)
    return json.loads(success(*words, "--logger", "none", "--json"))


def test_a_larger_grid_does_only_what_is_new(data, swept):
    folder, _ = swept
    wider = (
        "--operator",
        "gcn",
        "--set",
        "width=4,8,6",
        "--training",
        "num_epochs=1",
        "--training",
        "learning_rate=1e-3",
    )
    assert "4 of 6 runs are done already" in run("sweep", data, *wider, *SMALL, "--out", folder).stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--operator", "gcn", "--set", "widht=3"),
            "no setting of the graph convolutional network 'widht'; did you mean 'width'",
        ),
        (("--set", "width"), "needs NAME=VALUE"),
        (("--set", "width=3,"), "needs NAME=VALUE,VALUE,... without gaps"),
        (("--set", "width=thin"), "width must be like its default"),
        (("--training", "epochs=3"), "no setting of training 'epochs'; did you mean 'num_epochs'"),
        (("--operator", "linear", "--training", "num_epochs=3"), "linear ignores training settings"),
        (("--operator", "nobody"), "no operator 'nobody'"),
        (("--num-folds", 7), "6 training samples into 7 folds"),
        (("--num-train", 11), "Cannot take 11 training samples"),
    ],
)
def test_a_mistake_is_reported_before_anything_is_done(data, tmp_path, words, message):
    assert message in failure("sweep", data, "--num-train", 6, *words, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()
