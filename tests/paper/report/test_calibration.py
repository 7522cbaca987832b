from dataclasses import replace

from paper.report.calibration import calibration
from tests.paper.examples import made_store


def said(store):
    """What is said of each operator and problem."""
    return {
        row[0]: dict(zip(table.heading[1:], row[1:], strict=True)) for table in calibration(store) for row in table.rows
    }


def with_estimates(store, share):
    """The same results, whose fits estimated a share of their test error, by the run."""
    rows = [
        replace(row, scores={"cv_error": share(row.run) * row.errors.mean}) if "cv_error" in row.scores else row
        for row in store.rows
    ]
    return replace(store, rows=tuple(rows))


def test_without_estimates_there_is_no_table():
    assert said(made_store(lambda _cell, _seed: None)) == {}
    assert said(made_store(lambda cell, _seed: 0.1 if cell.operator == "gkn" else None)) == {}


def test_the_test_error_is_divided_by_the_estimated_error():
    store = made_store(targets=["table1"])
    found = said(with_estimates(store, lambda run: {0: 0.5, 1: 1.0, 2: 2.0}[run.seed]))
    assert found["linear (closed form)"]["Darcy flow"] == "1.00 (0.50 to 2.00; 3)"
    assert "FNO" not in found


def test_a_problem_without_results_has_a_dash():
    store = made_store(lambda cell, _seed: 0.1 if cell.problem == "eikonal" else None, targets=["table1"])
    assert said(store)["kernel (closed form)"]["Darcy flow"] == "–"
    assert said(store)["kernel (closed form)"]["Eikonal"] == "1.00 (1.00 to 1.00; 3)"
