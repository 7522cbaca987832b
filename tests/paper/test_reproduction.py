import pytest

from gola.runs import run_all
from paper.data import DataRecord
from paper.reproduction import Reproduction
from tests.paper.examples import tiny_work


def done(work, target, **filters):
    """Do what is missing of a target, and return how many runs it has."""
    cells = work.cells(target, **filters)
    for problem in dict.fromkeys(cell.problem for cell in cells):
        work.prepare(problem, num_workers=1)
    outcomes = run_all(work.missing(cells), work.runs_folder, num_workers=1, keep=True)
    assert all(hasattr(outcome, "errors") for outcome in outcomes), outcomes
    return len(outcomes)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A reproduction whose Table 1 is done."""
    work = tiny_work(tmp_path_factory.mktemp("paper"))
    done(work, "table1")
    return work


def files(work):
    return {path: path.stat().st_mtime_ns for path in work.runs_folder.glob("*.json")}


def test_a_run_per_cell_and_seed_is_kept(finished):
    # Two problems; gcn on the grid and at points with one seed, two closed forms with two.
    assert len(files(finished)) == 2 * (2 + 2 * 2)


def test_deleting_one_result_does_exactly_that_one_again(finished):
    before = files(finished)
    deleted = sorted(before)[3]
    deleted.unlink()
    cells = finished.cells("table1")
    assert [line.run.name for line in finished.planned(cells) if not line.is_done] == [deleted.stem.rpartition("-")[0]]
    done(finished, "table1")
    after = files(finished)
    assert set(after) == set(before)
    assert {path for path in after if after[path] != before[path]} == {deleted}


def test_the_numbers_of_the_table_are_those_of_the_results(finished):
    (table,) = finished.tables("table1")
    row = next(row for row in table.rows if row[0] == "mean")
    assert row[1].strip("*").endswith("(2)")
    cell = next(cell for cell in finished.cells("table1", problems=["darcy"], operators=["mean"]))
    errors = finished.store().errors(cell)
    assert float(row[1].strip("*").split()[0]) == pytest.approx(sum(errors.values()) / 2, abs=1e-4)


def test_a_plan_needs_no_data(tmp_path):
    work = tiny_work(tmp_path)
    plan = work.planned(work.cells("all"))
    assert plan
    assert not any(line.is_done for line in plan)
    assert all(line.seconds > 0 for line in plan)
    assert not work.data.exists()


def test_tables_that_share_cells_share_runs(finished):
    done(finished, "table2", problems=["darcy"])
    before = files(finished)
    done(finished, "table4", problems=["darcy"])
    assert files(finished) == before
    (darcy, _) = finished.tables("table4")
    assert all("missing" not in cell for row in darcy.rows for cell in row)


def test_a_report_can_be_written_from_what_there_is(finished):
    html, page, listing = finished.write(finished.out / "results.md")
    assert html.stat().st_size > 10000
    assert "Table 1" in page.read_text()
    assert "darcy,mean" in listing.read_text()


def test_filters_choose_among_the_cells(finished):
    assert {cell.problem for cell in finished.cells("all", problems=["eikonal"])} == {"eikonal"}
    assert {cell.operator for cell in finished.cells("table1", operators=["gcn/default"])} == {"gcn"}
    assert finished.cells("complexity") == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"target": "table6"}, "no target 'table6' to reproduce; there are table1"),
        ({"target": "table1", "problems": ["stokes"]}, "no problem 'stokes'"),
        ({"target": "table1", "operators": ["gola/huge"]}, "no operator 'gola/huge'"),
    ],
)
def test_what_is_unknown_is_told_with_what_there_is(finished, words, message):
    with pytest.raises(ValueError, match=message):
        finished.cells(words.pop("target"), **words)


def test_an_unknown_budget_is_told(tmp_path):
    with pytest.raises(ValueError, match="no budget 'huge'; there are quick, standard, paper"):
        Reproduction.of("huge", out=tmp_path, data=tmp_path)


def test_results_are_never_continued_with_other_data(tmp_path):
    record = DataRecord(path=tmp_path / "data.json")
    assert record.fingerprints() == {}
    record.keep("darcy", "abc", {"f": (0.0, 1.0)})
    record.keep("eikonal", "def", {"f": (1.0, 2.0)})
    with pytest.raises(ValueError, match="made with other data of darcy"):
        record.keep("darcy", "xyz", {"f": (0.0, 1.001)})
    with pytest.raises(ValueError, match="made with other data of darcy"):
        record.keep("darcy", "xyz", {"a": (0.0, 1.0)})
    assert record.fingerprints() == {"darcy": ["abc"], "eikonal": ["def"]}


def test_results_are_continued_with_data_that_another_machine_rounded_otherwise(tmp_path):
    record = DataRecord(path=tmp_path / "data.json")
    record.keep("darcy", "theirs", {"f": (0.0, 1.0)})
    record.keep("darcy", "ours", {"f": (1e-9, 1.0 + 1e-9)})
    assert record.fingerprints() == {"darcy": ["ours", "theirs"]}
