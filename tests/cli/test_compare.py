import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.runs import failure, generated, run, success

SMALL = ("--num-train", 6, "--num-points", 60, "--num-workers", 1)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return generated(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def compared(data):
    """The folder of a comparison over two seeds, and what it printed."""
    folder = data.parent / "compared"
    return folder, success("compare", data, "--operators", "nearest,mean", *SMALL, "--num-seeds", 2, "--out", folder)


def test_one_table_and_a_sentence_say_which_operator_to_use(compared):
    _, printed = compared
    assert all(word in printed for word in ("nearest", "mean", "test", "cv", "parameters", "±"))
    assert "6 training samples, 60 points each" in printed
    assert "Use " in printed


def test_a_second_call_takes_the_results_and_says_so(data, compared):
    folder, printed = compared
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    words = ("compare", data, "--operators", "nearest,mean", *SMALL, "--num-seeds", 2, "--out", folder)
    again = run(*words)
    assert again.stdout == printed
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    (deleted, *_) = before
    deleted.unlink()
    assert "3 of 4 runs are done already; 1 run to do" in run(*words).stderr
    assert deleted.exists()


def test_json_is_for_scripts(data, compared):
    folder, _ = compared
    words = ("--operators", "nearest,mean", *SMALL, "--num-seeds", 2, "--out", folder, "--json")
    found = json.loads(success("compare", data, *words))
    assert {summary["operator"] for summary in found["summaries"]} == {"nearest", "mean"}
    assert found["verdict"].startswith("Use ")
    assert len(found["runs"]) == 4
    assert len(found["runs"][0]["errors"]) == 4


def test_a_network_is_trained_for_as_long_as_asked(data, tmp_path):
    words = ("--operators", "gcn", *SMALL, "--num-seeds", 1, "--num-steps", 3, "--out", tmp_path, "--json")
    (result,) = json.loads(success("compare", data, *words))["runs"]
    assert result["run"]["training"]["num_steps"] == 3
    assert result["scores"]["training_error"] > 0


def test_a_failed_run_is_shown(data, tmp_path):
    # Its inputs have to be parameters, and these are functions.
    result = run("compare", data, "--operators", "nearest,pod_rbf", *SMALL, "--num-seeds", 1, "--out", tmp_path)
    assert result.exit_code == 0
    assert "Failed: pod_rbf, seed 0" in result.stderr
    assert "failed" in result.stdout
    assert "Not considered, because of failed runs: pod_rbf" in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--num-train", 6, "--operators", "linaer"), "no operator 'linaer'; did you mean 'linear'"),
        (("--operators", " , "), "--operators needs at least one name"),
        (("--num-train", 99), "Cannot take 99 training samples"),
        (("--num-train", 6, "--num-points", 257), "the smallest has 256"),
    ],
)
def test_a_mistake_is_reported_before_anything_is_done(data, tmp_path, words, message):
    assert message in failure("compare", data, *words, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_ctrl_c_ends_a_run_of_hours_and_keeps_what_is_finished(data, tmp_path):
    words = (
        "--operators",
        "nearest,gcn",
        "--num-epochs",
        100000,
        "--num-train",
        6,
        "--num-points",
        60,
        "--num-seeds",
        1,
    )
    command = [sys.executable, "-m", "gola", "compare", data, *words, "--num-workers", 2, "--out", tmp_path]
    process = subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        # Shells tell what they run in the background to ignore Ctrl-C, and tests may be run there.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not list(tmp_path.glob("nearest*.json")) and process.poll() is None:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    try:
        _, printed = process.communicate()
    finally:
        process.kill()
    assert process.returncode == 130, printed
    assert "run the same command to continue" in printed
    assert "Traceback" not in printed
    assert [path.name.split("-")[0] for path in tmp_path.glob("*.json")] == ["nearest"]
