from dataclasses import replace
from pathlib import Path

import pytest

from gola.runs import code_version
from paper.budgets import BUDGETS
from paper.cells import Cell, cells_of, run_of
from paper.costs import Costs
from paper.protocol import Protocol
from tests.paper.examples import made_result, made_store

CELL = Cell(problem="darcy", operator="linear", num_train=30, num_points=1000)


def run(seed=0, cell=CELL):
    return run_of(cell, Protocol(), BUDGETS["standard"], Path("data"), seed)


def store(*results):
    return replace(made_store(lambda _cell, _seed: None), results=results)


def test_all_seeds_that_were_done_count_even_more_than_the_budget_asks_for():
    found = store(*(made_result(run(seed), 0.1 + seed) for seed in (4, 0, 1)))
    assert list(found.errors(CELL)) == [0, 1, 4]
    assert found.errors(CELL)[4] == pytest.approx(4.1)
    assert [one.seed for one in found.missing([CELL])] == [2]
    assert [one.seed for one in found.missing([CELL], num_seeds=1)] == []


def test_the_newest_result_counts_on_whatever_machine_its_data_were_made():
    first, second = (
        made_result(run(), error, data=data, code_version="other", finished=f"2027-01-0{day}T00:00:00+00:00")
        for day, (data, error) in enumerate([("here", 0.3), ("there", 0.2)], start=1)
    )
    for order in (["here", "there"], ["there", "here"]):
        found = replace(store(first, second), fingerprints={"darcy": order})
        assert found.errors(CELL) == {0: pytest.approx(0.2)}


def test_errors_at_other_numbers_of_points_are_found_in_the_same_result():
    cell = replace(CELL, num_train=100)
    found = store(made_result(run(cell=cell), 0.1))
    assert found.errors(cell, 100)[0] > found.errors(cell, 1000)[0] == pytest.approx(0.1)


def test_results_of_other_settings_or_data_do_not_count():
    other_size = made_result(replace(run(), num_train=31), 0.1)
    other_data = made_result(run(), 0.1, data="something else")
    assert store(other_size, other_data).of(CELL) == {}
    network = Cell(problem="darcy", operator="gola", num_train=30, num_points=1000)
    quick = run_of(network, Protocol(), BUDGETS["quick"], Path("data"), 0)
    assert store(made_result(quick, 0.1)).of(network) == {}


def test_a_result_of_other_code_counts_unless_fresh_ones_are_wanted():
    old = made_result(run(), 0.1, code_version="old")
    found = store(old)
    assert found.num_outdated([CELL]) == 1
    assert [one.seed for one in found.missing([CELL])] == [1, 2]
    assert [one.seed for one in found.missing([CELL], fresh=True)] == [0, 1, 2]


def test_a_result_of_this_code_comes_before_any_other():
    ours = made_result(run(), 0.1, code_version=code_version())
    newer = made_result(run(), 0.9, code_version="other", finished="2027-01-01T00:00:00+00:00")
    assert store(ours, newer).errors(CELL)[0] == pytest.approx(0.1)
    assert store(ours, newer).num_outdated([CELL]) == 0


def test_without_data_nothing_is_done():
    found = replace(store(made_result(run(), 0.1)), fingerprints={})
    assert found.of(CELL) == {}
    assert len(found.missing([CELL])) == 3


def test_results_of_another_machine_count():
    both = replace(store(made_result(run(), 0.1)), fingerprints={CELL.problem: ["elsewhere", CELL.problem]})
    assert list(both.of(CELL)) == [0]
    assert len(both.missing([CELL])) == 2


def test_the_first_seed_of_all_comes_before_the_second():
    cells = cells_of(["table1"], Protocol(), BUDGETS["standard"])
    seeds = [one.seed for one in store().runs(cells)]
    assert seeds == sorted(seeds)
    # 5 operators with one seed and 6 with three, on 4 problems; the three on the grid stand at points too.
    assert len(seeds) == 4 * (2 * 3 + 2 + 6 * 3)


def test_time_is_estimated_from_similar_runs():
    done = made_result(run(), 0.1, seconds=50.0)
    costs = Costs.of([done])
    assert costs.seconds(run(seed=1)) == pytest.approx(50.0)
    larger = costs.seconds(replace(run(), num_train=100))
    assert 50.0 < larger < 500.0


def test_runs_on_the_same_data_tell_more_about_time_than_others():
    slow, fast = (replace(run(), data=f"{name}.h5") for name in ("slow", "fast"))
    costs = Costs.of([made_result(slow, 0.1, seconds=500.0), *[made_result(fast, 0.1, seconds=5.0)] * 3])
    assert costs.seconds(replace(slow, num_train=slow.num_train + 1)) > 400.0
    assert costs.seconds(replace(slow, data="new.h5")) == pytest.approx(5.0)


def test_without_similar_runs_time_grows_with_samples_points_and_epochs():
    usual = run(cell=replace(CELL, operator="gkn"))
    seconds = Costs().seconds
    assert seconds(replace(usual, num_points=2000)) > 1.8 * seconds(usual)
    epochs = {number: replace(usual.training, num_epochs=number) for number in (100, 200)}
    double = seconds(replace(usual, training=epochs[200])) / seconds(replace(usual, training=epochs[100]))
    assert 1.8 < double < 2.0
    assert seconds(replace(usual, operator="something new")) > 0
