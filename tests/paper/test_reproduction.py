import pytest

from gola.runs import run_all
from paper.plan import missing
from paper.reproduction import Reproduction
from tests.paper.examples import tiny_work


def done(work, target, **filters):
    """Do the missing runs of a target, and return how many rows are new."""
    cells = work.cells(target, **filters)
    for problem in dict.fromkeys(cell.problem for cell in cells):
        work.prepare(problem, num_workers=1)
    runs = [line.run for line in missing(work.planned(cells))]
    outcomes = run_all(runs, work.runs_folder, num_workers=1)
    assert all(hasattr(outcome, "errors") for outcome in outcomes), outcomes
    return work.fold()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A reproduction whose Table 1 is done."""
    work = tiny_work(tmp_path_factory.mktemp("paper"))
    # Two problems; gcn on the grid and at points with one seed, two closed forms with two.
    assert done(work, "table1") == 2 * (2 + 2 * 2)
    return work


def test_what_is_done_is_not_done_again(finished):
    assert missing(finished.planned(finished.cells("table1"))) == []
    assert done(finished, "table1") == 0


def test_rows_are_complete(finished):
    for row in finished.table.rows():
        assert row.data in finished.store().fingerprints[row.problem]
        assert 0.0 <= row.errors.median <= row.errors.largest
        assert row.scores
        assert row.seconds > 0.0
        assert row.versions.startswith("gola ")


def test_a_row_that_was_lost_is_found_again_in_the_working_folder(finished):
    before = finished.table.path.read_text()
    finished.table.path.write_text("\n".join(before.splitlines()[:-1]) + "\n")
    assert missing(finished.planned(finished.cells("table1"))) == []
    assert finished.fold() == 1
    assert finished.table.path.read_text() == before


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
    assert not work.data.exists()


def test_tables_that_share_cells_share_runs(finished):
    done(finished, "table2", problems=["darcy"])
    assert done(finished, "table4", problems=["darcy"]) == 0
    (darcy, _) = finished.tables("table4")
    assert all(cell != "–" for row in darcy.rows for cell in row)


def test_a_report_can_be_written_from_what_there_is(finished):
    html, page, ablation = finished.write(finished.out)
    assert html.stat().st_size > 10000
    assert "Table 1" in page.read_text()
    assert "# What each step gains" in ablation.read_text()


def test_filters_choose_among_the_cells(finished):
    assert {cell.problem for cell in finished.cells("all", problems=["eikonal"])} == {"eikonal"}
    assert {cell.operator for cell in finished.cells("table1", operators=["gcn/default"])} == {"gcn"}
    assert {cell.problem for cell in finished.cells("ablation", problems=["heat_sink"])} == {"heat_sink"}
    assert finished.cells("complexity") == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"target": "table6"}, r"no target 'table6'; did you mean 'table5'\? There are table1"),
        ({"target": "table1", "problems": ["stokes"]}, "no problem of table1 'stokes'. There are darcy, eikonal"),
        ({"target": "table1", "operators": ["gola/huge"]}, "no operator of table1 'gola/huge'"),
    ],
    ids=["target", "problem", "operator"],
)
def test_an_unknown_name_is_answered_with_those_there_are(finished, words, message):
    with pytest.raises(ValueError, match=message):
        finished.cells(**words)


def test_an_unknown_budget_is_answered_with_those_there_are(tmp_path):
    with pytest.raises(ValueError, match=r"no budget 'huge'. There are quick, standard, paper"):
        Reproduction.of("huge", out=tmp_path, work=tmp_path, data=tmp_path)
