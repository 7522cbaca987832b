from dataclasses import replace
from pathlib import Path

import pytest

from gola.runs import code_version
from paper.budgets import BUDGETS
from paper.cells import Cell, cells_of, run_of
from paper.plan import missing
from paper.protocol import Protocol
from tests.paper.examples import made_row, made_store

CELL = Cell(problem="darcy", operator="linear", num_train=30, num_points=1000)

UNMEASURED = replace(BUDGETS["standard"], seconds={})


def run(seed=0, cell=CELL):
    return run_of(cell, Protocol(), BUDGETS["standard"], Path("data"), seed)


def store(*rows):
    return replace(made_store(lambda _cell, _seed: None), rows=rows)


def seeds_missing(found, **options):
    return [line.run.seed for line in missing(found.planned([CELL], **options))]


def test_all_seeds_that_were_done_count_even_more_than_the_budget_asks_for():
    found = store(*(made_row(run(seed), 0.1 + seed) for seed in (4, 0, 1)))
    assert list(found.errors(CELL)) == [0, 1, 4]
    assert found.errors(CELL)[4] == pytest.approx(4.1)
    assert seeds_missing(found) == [2]
    assert seeds_missing(found, num_seeds=1) == []


def test_the_newest_result_counts_on_whatever_machine_its_data_were_made():
    first, second = (
        made_row(run(), error, data=data, code_version="other", finished=f"2027-01-0{day}T00:00:00+00:00")
        for day, (data, error) in enumerate([("here", 0.3), ("there", 0.2)], start=1)
    )
    for rows in ([first, second], [second, first]):
        found = replace(store(*rows), fingerprints={"darcy": ["here", "there"]})
        assert found.errors(CELL) == {0: pytest.approx(0.2)}


def test_errors_at_other_numbers_of_points_are_found_in_the_same_row():
    cell = replace(CELL, num_train=100)
    found = store(made_row(run(cell=cell), 0.1))
    assert found.errors(cell, 100)[0] > found.errors(cell, 1000)[0] == pytest.approx(0.1)


def test_a_row_without_the_further_points_of_table_4_does_not_fill_it():
    cell = replace(CELL, num_train=100)
    found = store(made_row(replace(run(cell=cell), test_points=()), 0.1))
    assert found.errors(cell) == {}
    assert len(missing(found.planned([cell]))) == 3


def test_results_of_other_settings_or_data_do_not_count():
    other_size = made_row(replace(run(), num_train=31), 0.1)
    other_data = made_row(run(), 0.1, data="something else")
    assert store(other_size, other_data).of(CELL) == {}
    network = Cell(problem="darcy", operator="gola", num_train=30, num_points=1000)
    quick = run_of(network, Protocol(), BUDGETS["quick"], Path("data"), 0)
    assert store(made_row(quick, 0.1)).of(network) == {}


def test_a_result_of_other_code_counts_unless_fresh_ones_are_wanted():
    found = store(made_row(run(), 0.1, code_version="old"))
    assert found.num_outdated([CELL]) == 1
    assert seeds_missing(found) == [1, 2]
    assert seeds_missing(found, fresh=True) == [0, 1, 2]


def test_a_result_of_this_code_comes_before_any_other():
    ours = made_row(run(), 0.1, code_version=code_version(CELL.operator))
    newer = made_row(run(), 0.9, code_version="other", finished="2027-01-01T00:00:00+00:00")
    assert store(ours, newer).errors(CELL)[0] == pytest.approx(0.1)
    assert store(ours, newer).num_outdated([CELL]) == 0


def test_without_data_nothing_is_done():
    found = replace(store(made_row(run(), 0.1)), fingerprints={})
    assert found.of(CELL) == {}
    assert seeds_missing(found) == [0, 1, 2]


def test_rows_from_before_fingerprints_were_recorded_count():
    assert list(store(made_row(run(), 0.1, data="")).of(CELL)) == [0]


def test_results_of_another_machine_count():
    both = replace(store(made_row(run(), 0.1)), fingerprints={CELL.problem: ["elsewhere", CELL.problem]})
    assert list(both.of(CELL)) == [0]
    assert seeds_missing(both) == [1, 2]


def test_the_first_seed_of_all_comes_before_the_second():
    seeds = [line.run.seed for line in store().planned(cells_of(["table1"], Protocol(), BUDGETS["standard"]))]
    assert seeds == sorted(seeds)
    # 5 operators with one seed and 6 with three, on 4 problems; the three on the grid stand at points too, and the
    # GKN and GOLA in both protocols. On the second law of a problem all have one seed.
    assert len(seeds) == 4 * (2 * 3 + 2 + 6 * 3 + 1 + 1) + (2 * 3 + 2 + 6 + 1 + 1)


def test_the_time_of_a_run_is_that_of_a_quiet_core_where_it_was_measured():
    found = store(made_row(run(), 0.1, seconds=5000.0))
    assert found.planned([CELL])[1].seconds == found.budget.seconds["linear"][0]


def test_the_time_of_other_runs_is_estimated_from_similar_ones():
    found = replace(store(made_row(run(), 0.1, seconds=50.0)), budget=UNMEASURED)
    assert [line.seconds for line in found.planned([CELL])] == [0.0, pytest.approx(50.0), pytest.approx(50.0)]
    (larger, *_) = found.planned([replace(CELL, num_train=60)])
    assert larger.seconds == pytest.approx(100.0)
    (unknown, *_) = found.planned([replace(CELL, operator="pod_rbf")])
    assert unknown.seconds is None


def test_the_time_of_a_variant_is_estimated_from_the_same_variant():
    cell = replace(CELL, variant="mean of five networks")
    slow = replace(made_row(run(), 0.1, seconds=500.0), variant=cell.variant)
    found = replace(store(made_row(run(), 0.1, seconds=50.0), slow), budget=UNMEASURED)
    assert found.planned([cell])[1].seconds == pytest.approx(500.0)
    assert found.planned([CELL])[1].seconds == pytest.approx(50.0)


def test_the_error_bar_is_the_standard_error_over_the_test_samples():
    found = store(made_row(run(0), 0.2), made_row(run(1), 0.4))
    # 100 errors that are half and three halves of their mean.
    assert found.error_bar(CELL) == pytest.approx(0.3 * 0.5 * (100 / 99) ** 0.5 / 10.0)
    assert store().error_bar(CELL) == 0.0
