import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import fields

import pytest
import torch

from gola.protocol import TrainingConfig
from gola.surrogate.surrogate import Surrogate
from tests.cli.runs import TINY, failure, generated, run, success

SMALL = ("--num-train", 7, "--num-points", 60, *TINY)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return generated(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def finished(data):
    """A finished run of four epochs."""
    folder = data.parent / "finished"
    success("train", data, *SMALL, "--num-epochs", 4, "--out", folder)
    return folder


def command(*words):
    return [sys.executable, "-m", "gola", *map(str, words)]


def environment():
    alone = {name: value for name, value in os.environ.items() if name not in ("LOCAL_RANK", "NODE_RANK", "RANK")}
    return {**alone, "OMP_NUM_THREADS": "1"}


def called(*words):
    return subprocess.run(command(*words), capture_output=True, text=True, env=environment())


def killed(folder, *words, with_signal=signal.SIGKILL):
    """Start a command, end it by a signal once it has a checkpoint, and return its exit code and standard error."""
    process = subprocess.Popen(command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    try:
        while not (folder / "checkpoint.pt").exists() and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(with_signal)
        _, printed = process.communicate()
    finally:
        process.kill()
    return process.returncode, printed.decode()


def assert_same(first, second, tolerance=0.0):
    one, other = Surrogate.load(first / "surrogate.gola"), Surrogate.load(second / "surrogate.gola")
    for name, tensor in one.operator.state_dict().items():
        assert torch.allclose(tensor, other.operator.state_dict()[name], rtol=0.0, atol=tolerance), name
    for before, after in zip(one.provenance["history"], other.provenance["history"], strict=True):
        assert before["training_error"] == pytest.approx(after["training_error"], rel=0.0, abs=tolerance)
        assert {**before, "training_error": 0, "seconds": 0} == {**after, "training_error": 0, "seconds": 0}


def test_a_run_leaves_a_surrogate_its_history_and_its_errors(finished, data):
    assert sorted(path.name for path in finished.iterdir()) == [
        "evaluation.json",
        "history.csv",
        "run.json",
        "surrogate.gola",
    ]
    surrogate = Surrogate.load(finished / "surrogate.gola")
    rows = list(csv.DictReader((finished / "history.csv").read_text().splitlines()))
    assert [float(row["training_error"]) for row in rows] == [
        epoch["training_error"] for epoch in surrogate.provenance["history"]
    ]
    settings = json.loads((finished / "run.json").read_text())
    assert (settings["num_train"], settings["operator"], settings["settings"]["width"]) == (7, "gola", 8)
    assert settings["data"] == str(data.resolve())
    evaluation = json.loads((finished / "evaluation.json").read_text())["evaluations"][0]
    assert (evaluation["num_samples"], evaluation["num_points"]) == (3, 60)


def test_what_came_out_is_printed_for_people_and_for_scripts(data, tmp_path):
    printed = success("train", data, *SMALL, "--num-epochs", 1, "--out", tmp_path / "people")
    assert re.search(r"test error\W+\d\.\d{4} ± \d\.\d{4} \(mean ± std of 3 samples\)", printed)
    assert f"gola evaluate {tmp_path / 'people'}" in printed.replace("\n", "")
    facts = json.loads(success("train", data, *SMALL, "--num-epochs", 1, "--out", tmp_path / "script", "--json"))
    assert facts["test"]["num_samples"] == 3
    assert facts["scores"]["training_error"] > 0
    assert facts["num_parameters"] == 1857


def test_a_closed_form_needs_no_training_and_all_samples_may_be_used(data, tmp_path):
    result = run("train", data, "--operator", "mean", "--num-epochs", 3, "--out", tmp_path / "mean")
    assert "cross-validation error" in result.stdout
    assert "representation alone" in result.stdout
    assert "test error" not in result.stdout
    assert "mean ignores training settings" in result.stderr
    assert sorted(path.name for path in (tmp_path / "mean").iterdir()) == ["run.json", "surrogate.gola"]


def test_epochs_are_logged_for_tensorboard_or_as_a_table(data, tmp_path):
    common = ("train", data, "--num-train", 3, "--num-points", 40, *TINY[:-2], "--num-epochs", 2)
    success(*common, "--out", tmp_path / "a")
    assert [path.name[:19] for path in (tmp_path / "a/logs").iterdir()] == ["events.out.tfevents"]
    success(*common, "--logger", "csv", "--out", tmp_path / "b")
    rows = list(csv.DictReader((tmp_path / "b/logs/version_0/metrics.csv").read_text().splitlines()))
    assert [row["step"] for row in rows] == ["1", "2"]


def test_the_best_epoch_is_chosen_by_samples_set_aside_if_asked(data, tmp_path):
    facts = json.loads(
        success(
            "train",
            data,
            *SMALL,
            *("--num-epochs", 2, "--validation-share", 0.3, "--validation-from", 7, "--out", tmp_path / "a", "--json"),
        )
    )
    assert facts["scores"]["validation_error"] > 0


def test_a_validation_share_that_has_no_effect_brings_a_warning(data, tmp_path):
    words = ("train", data, *SMALL, "--num-epochs", 1, "--validation-share", 0.3, "--out", tmp_path / "a")
    assert "No samples are set aside for validation: there are 7" in run(*words).stderr


def test_a_finished_run_is_left_alone_unless_asked_otherwise(finished, data):
    words = ("train", data, *SMALL, "--num-epochs", 4, "--out", finished)
    before = (finished / "surrogate.gola").read_bytes()
    assert "holds a finished run; choose another folder, or replace it with --overwrite" in failure(*words)
    assert "choose one" in failure(*words, "--overwrite", "--resume")
    errors = (finished / "evaluation.json").read_text()
    (finished / "evaluation.json").unlink()  # as if the process had died after training
    assert "training error" in success(*words, "--resume")
    assert (finished / "surrogate.gola").read_bytes() == before
    again = json.loads((finished / "evaluation.json").read_text())["evaluations"][0]
    assert again["errors"] == json.loads(errors)["evaluations"][0]["errors"]


def test_a_run_can_be_replaced(data, tmp_path):
    words = ("train", data, "--num-train", 4, "--out", tmp_path / "a")
    success(*words, "--operator", "mean")
    success(*words, *TINY, "--num-points", 40, "--num-epochs", 1, "--overwrite")
    assert Surrogate.load(tmp_path / "a/surrogate.gola").operator.name == "gola"


def test_mistakes_are_explained_and_leave_no_folder(data, tmp_path):
    out = ("--out", tmp_path / "a")
    assert "not a file" in failure("train", tmp_path / "missing.h5", *out)
    assert "no operator 'lineal'; did you mean 'linear'" in failure("train", data, "--operator", "lineal", *out)
    assert "no preset of gola 'papre'; did you mean 'paper'" in failure("train", data, "--operator", "gola/papre", *out)
    assert "no setting of the GOLA operator 'colour'" in failure(
        "train", data, "--operator", "gola", "--set", "colour=3", *out
    )
    assert "NAME=VALUE" in failure("train", data, "--set", "width", *out)
    assert "Cannot take 8 training and 5 test" in failure("train", data, "--num-train", 8, "--num-test", 5, *out)
    assert "All 10 samples are for training" in failure("train", data, "--num-train", 10, "--num-test", 5, *out)
    assert "ask for 1 to 256" in failure("train", data, "--num-points", 9999, *out)
    assert "learning_rate must be greater than 0" in failure("train", data, "--learning-rate", -1, *out)
    assert "numbers with commas between them" in failure("train", data, "--rates", "fast", *out)
    assert "written as the image of xy or xyz" in failure("train", data, "--symmetries", "xx", *out)
    assert "needs the package comet-ml" in failure("train", data, "--logger", "comet", *out)
    assert "'16-mixed' needs a CUDA device" in failure("train", data, "--precision", "16-mixed", *out)
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("field", fields(TrainingConfig), ids=lambda field: field.name)
def test_every_training_setting_is_an_option_of_the_same_name_whose_help_has_the_default(field):
    option = f"--{field.name.replace('_', '-')}"
    help_text = re.sub(r"[│\s]+", " ", run("train", "--help").output)
    said = re.search(rf"{option} [^;]*?; ([\d.]+) (\(none\) )?by default", help_text)
    assert option in help_text
    if isinstance(field.default, int | float):
        assert float(said[1]) == field.default


def test_every_training_setting_reaches_the_run(data, tmp_path):
    given = {"num_epochs": 1, "num_steps": 7, "batch_size": 3, "learning_rate": 0.01, "weight_decay": 0.02}
    given |= {"warmup": 0.3, "clip": 0.5, "averaging": 0.9, "residual_weight": 0.0, "points_per_epoch": 40}
    given |= {"validation_share": 0.2, "validation_from": 5, "patience": 3}
    words = [word for name, value in given.items() for word in (f"--{name.replace('_', '-')}", value)]
    tiny = TINY[: TINY.index("--batch-size")]
    common = ("--num-train", 7, "--num-points", 60, *tiny, "--symmetries", "-xy,yx", "--logger", "none")
    success("train", data, *common, *words, "--rates", "0.01,0.02", "--out", tmp_path / "a")
    kept = json.loads((tmp_path / "a" / "run.json").read_text())["training"]
    assert kept == {**given, "symmetries": ["-xy", "yx"], "rates": [0.01, 0.02]}


def test_settings_that_are_lists_are_given_with_commas(data, tmp_path):
    words = ("--operator", "auto", "--set", "members=mean,nearest", "--num-train", 7, "--num-points", 60)
    facts = json.loads(success("train", data, *words, "--out", tmp_path / "a", "--json"))
    assert set(facts["choice"]["candidates"]) >= {"mean", "nearest"}
    kept = json.loads((tmp_path / "a" / "run.json").read_text())
    assert kept["settings"] == {"members": ["mean", "nearest"]}


def test_processes_share_the_candidates_of_an_automatic_choice(data, tmp_path):
    words = ("--operator", "auto", "--set", "members=mean,nearest", "--num-train", 7, "--num-points", 60)
    apart, here = (
        json.loads(success("train", data, *words, *more, "--out", tmp_path / folder, "--json"))
        for folder, more in (("a", ("--num-workers", 2)), ("b", ()))
    )
    assert apart["choice"] == here["choice"]


def test_a_named_operator_says_that_it_has_no_candidates_to_share(data, tmp_path):
    words = ("--operator", "mean", "--num-train", 7, "--num-points", 60, "--num-workers", 2)
    assert "mean ignores --num-workers" in run("train", data, *words, "--out", tmp_path / "a").stderr


def test_a_killed_run_resumes_to_the_very_same_surrogate(finished, data, tmp_path):
    words = ("train", data, *SMALL, "--num-epochs", 4, "--out", tmp_path / "a")
    code, _ = killed(tmp_path / "a", *words, "--checkpoint-seconds", 0)
    assert code == -signal.SIGKILL
    assert not (tmp_path / "a/surrogate.gola").exists()
    assert "holds an unfinished run; resume it with --resume, or replace it with --overwrite" in failure(*words)
    other = failure(*words, "--resume", "--learning-rate", 0.5)
    assert "training.learning_rate 0.001 (now 0.5); resume with the same settings" in other
    success(*words, "--resume")
    assert_same(tmp_path / "a", finished)
    assert not (tmp_path / "a/checkpoint.pt").exists()


def test_ctrl_c_keeps_the_state_and_says_how_to_resume(data, tmp_path):
    words = ("train", data, *SMALL, "--num-epochs", 10_000, "--out", tmp_path / "a", "--checkpoint-seconds", 0)
    code, printed = killed(tmp_path / "a", *words, with_signal=signal.SIGINT)
    assert code == 130
    assert "run the same command with --resume to continue" in printed
    assert "Traceback" not in printed
    assert torch.load(tmp_path / "a/checkpoint.pt", weights_only=True)["batch"] > 0


def test_two_processes_train_as_one_does(finished, data, tmp_path):
    # Seven samples in batches of three, two and two: no batch of three divides evenly.
    result = called(
        "train", data, *SMALL, "--num-epochs", 4, "--out", tmp_path / "a", "--devices", 2, "--accelerator", "cpu"
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("training error") == 1
    assert_same(tmp_path / "a", finished, tolerance=1e-6)
