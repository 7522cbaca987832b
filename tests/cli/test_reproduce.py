import re
from dataclasses import replace
from itertools import product

import pytest

from paper.contenders import Contender
from paper.published import PROBLEMS
from paper.reproduction import Reproduction
from tests.cli.runs import failure, run, success
from tests.paper.examples import tiny_work


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """The command with a tiny protocol, in an empty folder."""
    work = tiny_work(tmp_path)
    monkeypatch.setattr(Reproduction, "of", lambda *_args, **_options: work)
    return work


def planned(text):
    """Rows of a plan as problem, operator, samples, points, seed."""
    return re.findall(r"^ ?(\w+) ([\w/=. ]+?) +(\d+) +(\d+|grid) +(\d+) +(?:to do|done)", text, flags=re.MULTILINE)


def test_a_dry_run_lists_exactly_the_runs_of_table_1(tmp_path):
    text = success("reproduce", "table1", "--dry-run", "--out", tmp_path / "out", "--data", tmp_path / "data")
    on_grid = {(name, points, 0) for name, points in product(("deeponet", "fno"), ("grid", "1000"))}
    once = {*on_grid, ("gcn", "1000", 0), ("gkn", "1000", 0), ("gola/paper", "1000", 0)}
    repeated = set(product(("auto", "gola", "linear", "kernel", "nearest", "mean"), ("1000",), range(3)))
    rows = planned(text)
    # The longest names are folded, so the budget's own setting of the kernel is not seen everywhere.
    found = {
        (problem, name.removesuffix(" kernel_width=64"), points, int(seed)) for problem, name, _, points, seed in rows
    }
    grid_graph = {(problem, "gcn radius=0.00945", "grid", 0) for problem in PROBLEMS}
    assert found == {(problem, *one) for problem in PROBLEMS for one in {*once, *repeated}} | grid_graph
    assert {samples for _, _, samples, _, _ in rows} == {"30"}
    assert f"{len(rows)} runs, 0 of them done, {len(rows)} missing: about " in text
    assert not list(tmp_path.iterdir())


def test_filters_narrow_the_plan(tmp_path):
    words = ("--problems", "darcy,eikonal", "--operators", "fno,gola/default", "--seeds", 2, "--out", tmp_path)
    rows = planned(success("reproduce", "table1", "--dry-run", *words))
    assert {(problem, name) for problem, name, *_ in rows} == set(product(("darcy", "eikonal"), ("fno", "gola")))
    assert {seed for *_, seed in rows} == {"0", "1"}


def test_runs_are_done_once_and_the_report_is_written(tiny):
    words = ("reproduce", "table1", "--workers", 1, "--operators", "nearest,mean", "--out", tiny.out)
    first = success(*words)
    assert "Table 1: 5 training samples" in first
    assert (tiny.out / "report.html").exists()
    assert "| mean |" in (tiny.out / "results.md").read_text()
    (deleted, *_) = tiny.runs_folder.glob("mean*.json")
    deleted.unlink()
    again = run(*words)
    assert "7 of 8 runs are done already" in again.stderr
    assert again.stdout == first
    assert deleted.exists()
    assert "8 of them done, 0 missing." in success(*words, "--dry-run")


def test_a_report_alone_runs_nothing(tiny, tmp_path):
    page = tmp_path / "docs" / "page.md"
    success("reproduce", "table1", "--report-only", "--out", tiny.out, "--page", page)
    assert "missing" in page.read_text()
    assert not tiny.data.exists()


def test_failed_runs_are_told_and_shown_as_missing(tiny, monkeypatch):
    # Its inputs have to be parameters, and these are functions.
    contender = Contender(operator="pod_rbf", title="POD", targets=("table2",))
    work = replace(tiny, protocol=replace(tiny.protocol, contenders=(*tiny.protocol.contenders, contender)))
    monkeypatch.setattr(Reproduction, "of", lambda *_args, **_options: work)
    result = run("reproduce", "table2", "--operators", "pod_rbf", "--workers", 1, "--out", work.out)
    assert result.exit_code == 0
    assert "2 of 2 runs failed and are missing" in result.stderr
    assert "| POD | missing, " in (work.out / "results.md").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("table7",), "There is no target 'table7' to reproduce; there are table1, table2"),
        (("table1", "--budget", "huge"), "There is no budget 'huge'"),
        (("table1", "--problems", "stokes"), "There is no problem 'stokes'"),
        (("all", "--operators", "gola/huge"), "There is no operator 'gola/huge'"),
    ],
)
def test_a_mistake_is_told_before_anything_is_done(tmp_path, words, message):
    assert message in failure("reproduce", *words, "--out", tmp_path / "out", "--data", tmp_path / "data")
    assert not list(tmp_path.iterdir())
