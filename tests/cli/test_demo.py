import re
from contextlib import contextmanager
from itertools import count

import numpy as np
import pytest
from typer.testing import CliRunner

from gola.cli import app, demo
from gola.cli.demo_report import OWN_DATA
from gola.cli.demo_result import Entry, beside_the_paper, reason, result_rows, verdict
from gola.data.dataset import Dataset
from gola.runs import RunConfig
from gola.surrogate.evaluation import Evaluation, evaluate
from gola.surrogate.surrogate import Surrogate
from tests.fits import small_data, small_surrogate
from tests.test_report import Page


def run(folder, *words):
    return CliRunner().invoke(app, ["demo", "--quick", "--out", str(folder), *words], env={"COLUMNS": "80"})


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a demo, and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    result = run(folder)
    assert result.exit_code == 0, result.output
    return folder, result.output


def test_the_demo_leaves_data_surrogates_and_report(finished):
    folder, _ = finished
    assert sorted(path.name for path in folder.iterdir()) == ["gola.gola", "linear.gola", "quick.h5", "report.html"]


@pytest.mark.parametrize("name", ["linear", "gola"])
def test_printed_and_reported_errors_are_those_of_the_saved_surrogates(finished, name):
    folder, printed = finished
    config = RunConfig(data=str(folder / "quick.h5"), num_train=6, num_test=4, num_points=200)
    _, test = config.samples()
    evaluation = evaluate(Surrogate.load(folder / f"{name}.gola"), test)
    error = f"{evaluation.mean:.4f} ± {evaluation.errors.std():.4f}"
    assert re.search(rf"^ *{name} .*{error}", printed, flags=re.MULTILINE)
    assert error in Page((folder / "report.html").read_text()).text


def test_the_report_needs_no_other_file_and_says_what_was_run(finished):
    folder, printed = finished
    page = Page((folder / "report.html").read_text())
    assert len(page.all("img")) == 3
    assert all(reference.startswith("data:image/png;base64,") for reference in page.references)
    surrogate = Surrogate.load(folder / "gola.gola")
    for said in ("--quick", surrogate.provenance["data"]["fingerprint"], "torch ", "num_steps 12", "seed 1"):
        assert said in page.text
    assert printed.splitlines()[0] == "Data: 10 solutions of Darcy flow at 32 × 32 = 1,024 grid points"
    assert "not the same task" in page.text


def test_a_second_call_fits_nothing_again(finished):
    folder, _ = finished
    before = {name: (folder / f"{name}.gola").stat().st_mtime_ns for name in ("linear", "gola")}
    assert run(folder).output.count("was fitted by an earlier call") == 2
    assert before == {name: (folder / f"{name}.gola").stat().st_mtime_ns for name in before}
    assert "gola was fitted by an earlier call" in Page((folder / "report.html").read_text()).text


def test_an_interrupted_demo_goes_on_to_the_same_surrogate(finished, tmp_path, monkeypatch):
    @contextmanager
    def stop_at_the_fifth_step(_):
        calls = count(1)
        yield lambda: next(calls) >= 5

    with monkeypatch.context() as patch:
        patch.setattr(demo, "stop_on_signals", stop_at_the_fifth_step)
        interrupted = run(tmp_path)
    assert interrupted.exit_code == 130
    assert "run the same command to go on" in interrupted.output.replace("\n", " ")
    assert not (tmp_path / "gola.gola").exists()
    assert list(tmp_path.glob("gola-*/checkpoint.pt"))

    assert run(tmp_path).exit_code == 0
    assert not list(tmp_path.glob("gola-*"))
    weights, wanted = (Surrogate.load(folder / "gola.gola").operator.state_dict() for folder in (tmp_path, finished[0]))
    assert all((weights[name] == wanted[name]).all() for name in wanted)


def test_other_settings_are_fitted_anew(finished):
    folder, _ = finished
    train, _ = RunConfig(data=str(folder / "quick.h5"), num_train=6, num_test=4, num_points=200, seed=1).samples()
    config = RunConfig(data=str(folder / "quick.h5"), operator="linear", seed=1)
    assert demo._kept(config, train, folder / "linear.gola") is None


def entry(operator, errors, **settings):
    errors = np.array(errors)
    evaluation = Evaluation(errors=errors, channel_errors=errors[:, None], seconds=0.002)
    config = RunConfig(data="darcy.h5", operator=operator, **{"num_train": 30, "num_points": 1000, **settings})
    return Entry(config=config, surrogate=small_surrogate(operator, num_epochs=1), evaluation=evaluation)


@pytest.fixture(scope="module")
def entries():
    return {
        "linear": entry("linear", [0.02, 0.5, 0.04]),
        "gola": entry("gola", [0.1, 0.1, 0.1]),
        "good": entry("linear", [0.02, 0.02, 0.04]),
        "middling": entry("gola", [0.16, 0.16, 0.16]),
    }


def test_the_verdict_names_the_one_ahead_whoever_it_is(entries):
    first = verdict([entries["good"], entries["gola"]])
    assert first.startswith("linear is ahead: its mean error is 0.0267, that of gola 0.1000, which is 3.8 times")
    assert "better one on 3 of 3" in first
    second = verdict([entries["linear"], entries["gola"]])
    assert second.startswith("gola is ahead: its mean error is 0.1000")
    assert "better one on 1 of 3" in second
    assert "compare on your data" in reason([entries["good"], entries["gola"]])
    assert "second look" in reason([entries["linear"], entries["gola"]])


def test_the_papers_numbers_are_named_as_the_papers(entries):
    assert "linear is above both and gola is below both" in beside_the_paper([entries["linear"], entries["gola"]])
    text = beside_the_paper([entries["good"], entries["middling"]])
    assert "paper reports 0.1554 for its GOLA at 1000 points and 0.1678 for an FNO that sees the full" in text
    assert "linear is below both and gola is between the two" in text
    assert "one draw of training samples" in text
    assert "not the same task" in beside_the_paper([entry("linear", [0.1], num_train=10), entries["gola"]])


def test_operators_that_the_paper_does_not_have_get_a_dash(entries):
    linear, gola, fno = result_rows([entries["linear"], entries["gola"]])
    assert (linear[2], gola[2], fno[1:3]) == ("–", "0.1554", ["–", "0.1678"])


def test_the_code_for_the_users_own_data_runs(tmp_path, monkeypatch, capsys):
    small_data(num_samples=34, num_points=40).save(tmp_path / "my.h5")
    monkeypatch.chdir(tmp_path)
    exec(OWN_DATA, {})
    assert 0.0 < float(capsys.readouterr().out) < 1.0
    assert Surrogate.load("my.gola").provenance["data"]["num_samples"] == 30
    assert len(Dataset.load("my.h5")) == 34
