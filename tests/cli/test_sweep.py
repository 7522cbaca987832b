import json
import shlex

import pytest

from gola.cli.sweep import _choices
from tests.cli.runs import failure, generated, run, success

SMALL = ("--num-train", 6, "--num-points", 60, "--folds", 2, "--workers", 1)
TINY = ("--operator", "gcn", "--set", "width=4,8", "--train", "num_epochs=1", "--train", "learning_rate=1e-3,1e-2")


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
    assert "the test samples were not looked at" in printed
    found = json.loads(success("sweep", data, *TINY, *SMALL, "--out", folder, "--json"))
    errors = [one["error"] for one in found["candidates"]]
    assert errors == sorted(errors)
    assert len(errors) == 4
    assert all(f"{error:.4f} ±" in printed for error in errors)


def test_the_command_that_is_printed_trains_with_the_best_settings(data, swept, tmp_path):
    folder, printed = swept
    found = json.loads(success("sweep", data, *TINY, *SMALL, "--out", folder, "--json"))
    assert found["command"] in printed
    program, *words = shlex.split(found["command"])
    assert program == "gola"
    words[words.index("--out") + 1] = str(tmp_path / "best")
    trained = json.loads(success(*words, "--logger", "none", "--json"))
    kept = json.loads((tmp_path / "best" / "run.json").read_text())
    best = found["candidates"][0]
    assert kept["settings"] == best["settings"]
    assert {name: kept["training"][name] for name in best["training"]} == best["training"]
    assert kept["num_train"] == 6
    assert trained["test"]["num_samples"] == 4


def test_what_gola_train_has_no_option_for_is_told(data, tmp_path):
    words = ("--operator", "gcn", "--set", "width=4", "--train", "num_epochs=1", "--train", "weight_decay=0.1")
    printed = success("sweep", data, *words, *SMALL, "--out", tmp_path)
    assert "gola.TrainingConfig(weight_decay=0.1)" in printed
    assert "--weight-decay" not in printed


def test_a_larger_grid_does_only_what_is_new(data, swept):
    folder, _ = swept
    wider = ("--operator", "gcn", "--set", "width=4,8,6", "--train", "num_epochs=1", "--train", "learning_rate=1e-3")
    assert "4 of 6 runs are done already" in run("sweep", data, *wider, *SMALL, "--out", folder).stderr


def test_values_are_numbers_words_and_truths():
    texts = ["width=32,64", "radius=0.1", "learning-rate=1e-3,3e-3", "norm=layer,none", "residual=true,false"]
    assert _choices(texts) == {
        "width": [32, 64],
        "radius": [0.1],
        "learning_rate": [1e-3, 3e-3],
        "norm": ["layer", "none"],
        "residual": [True, False],
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--set", "widht=3"), "no setting widht"),
        (("--set", "width"), "needs NAME=VALUE"),
        (("--set", "width=3,"), "needs NAME=VALUE"),
        (("--set", "width=thin"), "width must be like its default"),
        (("--train", "epochs=3"), "Training has no setting epochs; it has num_epochs"),
        (("--operator", "linear", "--train", "num_epochs=3"), "linear is fitted at once"),
        (("--operator", "nobody"), "no operator 'nobody'"),
        (("--folds", 7), "6 training samples into 7 folds"),
        (("--num-train", 11), "Cannot take 11 training samples"),
    ],
)
def test_a_mistake_is_told_before_anything_is_done(data, tmp_path, words, message):
    assert message in failure("sweep", data, "--num-train", 6, *words, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()
