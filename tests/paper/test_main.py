import re
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import paper.__main__
from gola.runs import run_all
from paper.__main__ import app
from paper.contenders import Contender
from paper.protocol import Protocol
from paper.reproduction import Reproduction
from tests.paper.examples import tiny_work

ROOT = Path(__file__).parents[2]


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "160"})


def success(*words):
    """Run a command that must work, and return what it prints on standard output."""
    result = run(*words)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """The command with a tiny protocol, in an empty folder."""
    work = tiny_work(tmp_path)
    monkeypatch.setattr(Reproduction, "of", lambda *_args, **_options: work)
    return work


def planned(text):
    """Rows of a plan as problem, operator, samples, points, seed."""
    return re.findall(r"^ ?(\w+) ([\w/=. ]+?) +(\d+) +(\d+|all) +(\d+) +(?:to do|done)", text, flags=re.MULTILINE)


def test_a_dry_run_lists_exactly_the_runs_of_table_1(tmp_path):
    text = success("table1", "--dry-run", "--out", tmp_path / "out", "--data", tmp_path / "data")
    on_grid = {(name, points, 0) for name, points in product(("deeponet", "fno"), ("all", "1000"))}
    once = {*on_grid, ("gcn", "1000", 0), ("gkn width=32", "1000", 0), ("gola/paper", "1000", 0)}
    once |= {("gcn radius=0.00945", "all", 0)}
    repeated = set(product(("auto", "gola", "linear", "kernel", "nearest", "mean"), ("1000",), range(3)))
    rows = planned(text)
    # Long names continue on the next line of a narrow terminal.
    first_lines = [(problem, name.partition(" kernel_width")[0], *rest) for problem, name, *rest in rows]
    found = {(problem, name, points, int(seed)) for problem, name, _, points, seed in first_lines}
    protocol = Protocol()
    expected = {(problem, *run) for problem in protocol.compared for run in {*once, *repeated}}
    # The second law of a problem has one seed of everything.
    expected -= {(problem, *run) for problem in protocol.further_problems for run in repeated if run[-1] > 0}
    assert found == expected
    assert {samples for _, _, samples, _, _ in rows} == {"30"}
    assert f"{len(rows)} runs, 0 of them done, {len(rows)} to do" in text
    assert not list(tmp_path.iterdir())


def test_filters_narrow_the_plan(tmp_path):
    words = ("--problems", "darcy,eikonal", "--operators", "fno,gola/default", "--seeds", 2, "--out", tmp_path)
    rows = planned(success("table1", "--dry-run", *words))
    assert {(problem, name) for problem, name, *_ in rows} == set(product(("darcy", "eikonal"), ("fno", "gola")))
    assert {seed for *_, seed in rows} == {"0", "1"}


def test_the_stored_results_are_found(tmp_path):
    shutil.copytree(ROOT / "results" / "paper", tmp_path / "out")
    text = success("ablation", "--dry-run", "--operators", "linear", "--problems", "darcy", "--out", tmp_path / "out")
    assert re.search(r"darcy linear +30 +1000 +0 +done", text)


def test_runs_are_done_once_and_the_report_is_written(tiny):
    words = ("table1", "--workers", 1, "--operators", "nearest,mean", "--out", tiny.out)
    first = run(*words)
    assert "0 of 8 runs are done" in first.stderr
    assert "Table 1: 5 training samples" in first.stdout
    assert (tiny.work / "report.html").exists()
    assert "| mean |" in (tiny.out / "results.md").read_text()
    before = tiny.table.path.read_bytes()
    again = run(*words)
    assert "8 of 8 runs are done" in again.stderr
    assert again.stdout == first.stdout
    assert tiny.table.path.read_bytes() == before
    assert "8 of them done, 0 to do." in success(*words, "--dry-run")


def test_runs_that_an_interruption_left_are_brought_into_the_table(tiny):
    words = ("table1", "--workers", 1, "--operators", "mean", "--problems", "darcy", "--out", tiny.out)
    success(*words)
    tiny.table.path.unlink()
    assert "2 of them done, 0 to do." in success(*words, "--dry-run")
    assert not tiny.table.path.exists()
    success("report", "--out", tiny.out)
    assert len(tiny.table.rows()) == 2


def test_runs_that_were_finished_before_ctrl_c_are_in_the_table(tiny, monkeypatch):
    def interrupted(runs, folder, **_options):
        run_all(runs[:1], folder, num_workers=1)
        raise typer.Exit(130)

    monkeypatch.setattr(paper.__main__, "run_with_progress", interrupted)
    words = ("table1", "--workers", 1, "--operators", "mean", "--problems", "darcy", "--out", tiny.out)
    assert run(*words).exit_code == 130
    assert len(tiny.table.rows()) == 1
    assert "2 runs, 1 of them done, 1 to do" in success(*words, "--dry-run")


def test_a_report_alone_does_no_runs(tiny):
    success("report", "--out", tiny.out)
    assert "Not run yet" in (tiny.out / "results.md").read_text()
    assert "# What each step gains" in (tiny.out / "ablation.md").read_text()
    assert not tiny.data.exists()


def test_failed_runs_are_counted_and_shown_as_missing(tiny, monkeypatch):
    # Its inputs have to be parameters, and these are functions.
    contender = Contender(operator="pod_rbf", title="POD", targets=("table2",))
    work = replace(tiny, protocol=replace(tiny.protocol, contenders=(*tiny.protocol.contenders, contender)))
    monkeypatch.setattr(Reproduction, "of", lambda *_args, **_options: work)
    result = run("table2", "--operators", "pod_rbf", "--workers", 1, "--out", work.out)
    assert result.exit_code == 0
    assert "2 of 2 runs failed and are missing" in result.stderr
    assert re.search(r"Not run yet: [^.]*POD", (work.out / "results.md").read_text())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("table7",), "There is no target 'table7'"),
        (("table1", "--budget", "huge"), "There is no budget 'huge'"),
        (("table1", "--problems", "stokes"), "There is no problem of table1 'stokes'"),
        (("all", "--operators", "gola/huge"), "There is no operator of all 'gola/huge'"),
    ],
)
def test_a_mistake_is_answered_before_anything_is_done(tmp_path, words, message):
    result = run(*words, "--out", tmp_path / "out", "--data", tmp_path / "data")
    assert isinstance(result.exception, ValueError)
    assert message in str(result.exception)
    assert not list(tmp_path.iterdir())


def test_a_mistake_is_one_line_on_standard_error():
    command = [sys.executable, "-m", "paper", "table7"]
    asked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert asked.returncode == 2
    assert asked.stderr.startswith("Error: There is no target 'table7'")
    assert len(asked.stderr.splitlines()) == 1


def test_the_library_does_not_know_the_laboratory():
    sources = (ROOT / "src" / "gola").rglob("*.py")
    assert not [path for path in sources if re.search(r"^\s*(from|import) paper\b", path.read_text(), re.MULTILINE)]
