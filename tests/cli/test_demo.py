import json
import re
from contextlib import contextmanager
from itertools import count

import numpy as np
import pytest

from gola.cli import training_progress
from gola.runs import RunConfig
from gola.surrogate.evaluation import evaluate
from gola.surrogate.surrogate import Surrogate
from tests.cli.runs import run, success
from tests.report.test_page import Page

NAMES = ("linear", "gola")


def demo(folder, *words):
    return run("demo", "--quick", "--out", folder, *words)


def surrogate(folder, name):
    return folder / name / "surrogate.gola"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a demo, and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    result = demo(folder)
    assert result.exit_code == 0, result.output
    return folder, result


def test_the_demo_leaves_data_runs_and_report(finished):
    folder, _ = finished
    assert sorted(path.name for path in folder.iterdir()) == ["gola", "linear", "quick.h5", "report.html"]


@pytest.mark.parametrize("name", NAMES)
def test_its_runs_are_runs_for_the_other_commands(finished, name):
    folder, _ = finished
    found = json.loads(success("evaluate", folder / name, "--json"))["evaluations"][0]
    kept = json.loads((folder / name / "evaluation.json").read_text())["evaluations"][0]
    assert found["errors"] == kept["errors"]


@pytest.mark.parametrize("name", NAMES)
def test_printed_and_reported_errors_are_those_of_the_saved_surrogates(finished, name):
    folder, result = finished
    _, test = RunConfig.load(folder / name).samples()
    evaluation = evaluate(Surrogate.load(surrogate(folder, name)), test)
    error = f"{evaluation.mean:.4f} ± {np.std(evaluation.errors):.4f}"
    assert re.search(rf"^ *{name} .*{error}", result.stdout, flags=re.MULTILINE)
    assert error in Page((folder / "report.html").read_text()).text


def test_the_report_needs_no_other_file_and_says_how_it_was_made(finished):
    folder, result = finished
    page = Page((folder / "report.html").read_text())
    assert len(page.all("img")) == 3
    assert all(reference.startswith("data:image/png;base64,") for reference in page.references)
    fingerprint = Surrogate.load(surrogate(folder, "gola")).provenance["data"]["fingerprint"]
    for said in ("--quick", fingerprint, "torch ", "num_steps 12", "seed 1"):
        assert said in page.text
    assert "Data: 10 solutions of Darcy flow at 32 × 32 = 1,024 grid points" in result.stderr
    assert "not the same task" in page.text


def test_a_second_call_fits_nothing_again(finished):
    folder, _ = finished
    before = {name: surrogate(folder, name).stat().st_mtime_ns for name in NAMES}
    result = demo(folder, "--json")
    assert result.stderr.count("fitted by an earlier call") == 2
    assert [one["run"]["operator"] for one in json.loads(result.stdout)["runs"]] == list(NAMES)
    assert before == {name: surrogate(folder, name).stat().st_mtime_ns for name in NAMES}
    assert "gola was fitted by an earlier call" in Page((folder / "report.html").read_text()).text


def test_an_interrupted_demo_continues_to_the_same_surrogate(finished, tmp_path, monkeypatch):
    @contextmanager
    def stop_at_the_fifth_step(_):
        calls = count(1)
        yield lambda: next(calls) >= 5

    with monkeypatch.context() as patch:
        patch.setattr(training_progress, "stop_on_signals", stop_at_the_fifth_step)
        interrupted = demo(tmp_path)
    assert interrupted.exit_code == 130
    assert "run the same command to continue" in interrupted.stderr
    assert not surrogate(tmp_path, "gola").exists()
    assert (tmp_path / "gola" / "checkpoint.pt").exists()

    assert demo(tmp_path).exit_code == 0
    assert not (tmp_path / "gola" / "checkpoint.pt").exists()
    weights, wanted = (
        Surrogate.load(surrogate(folder, "gola")).operator.state_dict() for folder in (tmp_path, finished[0])
    )
    assert all((weights[name] == wanted[name]).all() for name in wanted)


def test_other_settings_are_fitted_again(finished, tmp_path):
    folder, _ = finished
    (tmp_path / "quick.h5").write_bytes((folder / "quick.h5").read_bytes())
    assert demo(tmp_path).exit_code == 0
    before = surrogate(tmp_path, "linear").read_bytes()
    assert "fitted by an earlier call" not in demo(tmp_path, "--seed", 1).stderr
    assert surrogate(tmp_path, "linear").read_bytes() != before
