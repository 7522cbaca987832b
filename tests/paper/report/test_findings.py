from dataclasses import replace

from paper.budgets import BUDGETS
from paper.report.findings import findings
from tests.paper.examples import made_store, plausible


def found(errors, **options):
    return {
        table.heading[0]: {row[0]: row[1:] for row in table.rows} for table in findings(made_store(errors, **options))
    }


def test_where_there_are_no_results_nothing_is_said():
    assert found(lambda _cell, _seed: None) == {}


def test_the_lowest_is_named_with_its_error():
    said = found(plausible)["30 samples"]
    assert said["lowest of all"][0].startswith("linear (closed form), 0.06")
    assert said["lowest of the networks"][0].startswith("FNO on the grid, 0.1")
    assert said["networks not below `mean`"][0] == "GCN on the grid, GCN"


def test_a_claim_that_does_not_hold_is_a_no_with_its_numbers():
    said = found(plausible)["GOLA, preset default"]
    assert said["below FNO, 30 samples"][0] == "no, 0.3150 ≥ 0.1372"
    assert said["below GKN, 30 samples"][0].startswith("yes, 0.3150 < ")
    assert said["falls along Table 4"][0].startswith("yes, ")


def test_rising_errors_are_found():
    said = found(lambda cell, _seed: cell.num_train / 100)["GOLA, preset default"]
    assert said["falls along Table 5"][0] == "no, up from 20 to 40, 40 to 60, 60 to 80, 80 to 100"


def test_a_difference_that_changes_with_the_seed_is_not_clear():
    def errors(cell, seed):
        return 0.2 + (0.01 * (-1) ** seed if cell.operator == "gola" else 0.0)

    several = replace(BUDGETS["standard"], num_other_seeds=2, num_seeds=2)
    said = found(errors, budget=several, targets=["table1"])["GOLA, preset default"]
    assert said["below GKN, 30 samples"][0] == "not clear, 0.2000, 0.2000"


def test_the_lowest_of_few_says_of_how_many():
    said = found(lambda cell, _seed: 0.5 if cell.operator == "nearest" else None)["30 samples"]
    assert said["lowest of all"][0] == "nearest (closed form), 0.5000 (1 of 14 done)"
    assert "lowest of the networks" not in said
