from dataclasses import replace

from paper.honesty import honesty
from tests.paper.examples import made_store


def said(store):
    """What is said of each operator and problem."""
    return {
        row[0]: dict(zip(table.heading[1:], row[1:], strict=True)) for table in honesty(store) for row in table.rows
    }


def with_foretold(store, share):
    """The same results, whose fits foretold a share of the error that they made, by the run."""
    results = [
        replace(one, scores={"cv_error": share(one.run) * one.error}) if "cv_error" in one.scores else one
        for one in store.results
    ]
    return replace(store, results=tuple(results))


def test_where_nothing_was_foretold_nothing_is_said():
    assert said(made_store(lambda _cell, _seed: None)) == {}
    assert said(made_store(lambda cell, _seed: 0.1 if cell.operator == "gkn" else None)) == {}


def test_the_error_that_was_made_is_divided_by_the_one_foretold():
    store = made_store(targets=["table1"])
    found = said(with_foretold(store, lambda run: {0: 0.5, 1: 1.0, 2: 2.0}[run.seed]))
    assert found["linear (closed form)"]["Darcy flow"] == "1.00 (0.50 to 2.00; 3)"
    assert "FNO" not in found


def test_a_problem_without_results_has_a_dash():
    store = made_store(lambda cell, _seed: 0.1 if cell.problem == "eikonal" else None, targets=["table1"])
    assert said(store)["kernel (closed form)"]["Darcy flow"] == "–"
    assert said(store)["kernel (closed form)"]["Eikonal"] == "1.00 (1.00 to 1.00; 3)"
