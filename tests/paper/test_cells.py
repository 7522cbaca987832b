from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import torch

from gola.data.dataset import Dataset
from gola.data.frame import Frame
from gola.operators.cloud import Cloud
from gola.problems import make_problem
from paper.budgets import BUDGETS
from paper.cells import TARGETS, Cell, cell_at, cells_of, run_of, seeds_of
from paper.contenders import CONTENDERS, TABLES, Contender
from paper.protocol import Protocol
from paper.published import DENSITIES, PROBLEMS, SIZES

PROTOCOL, STANDARD = Protocol(), BUDGETS["standard"]


def cells(*targets, budget=STANDARD, protocol=PROTOCOL):
    return cells_of(targets, protocol, budget)


def run(cell, budget=STANDARD, seed=0):
    return run_of(cell, PROTOCOL, budget, Path("data"), seed)


def test_table_1_gives_grid_operators_the_grid_and_then_the_points_of_the_others():
    found = {(cell.operator, cell.num_points) for cell in cells("table1") if cell.problem == "darcy"}
    assert found == {
        *product(("gcn", "deeponet", "fno"), (None, 1000)),
        *((name, 1000) for name in ("auto", "gkn", "gola", "gola/paper", "linear", "kernel", "nearest", "mean")),
    }
    assert {cell.num_train for cell in cells("table1")} == {30}
    redrawn = [cell for cell in cells("table1") if not cell.known_points]
    assert len(redrawn) == len(PROTOCOL.compared) * len(found)


def test_tables_1_and_2_have_both_protocols_of_operators_whose_points_are_drawn_again():
    for target in ("table1", "table2"):
        strict = [cell for cell in cells(target) if cell.known_points]
        assert {cell.operator for cell in strict} == {"gkn", "gola"}
        assert {run(cell).training.points_per_epoch for cell in strict if cell.operator == "gola"} == {None}
        drawn = [run(replace(cell, known_points=False)) for cell in strict]
        assert all(one.whole_training and one.num_points == 1000 for one in drawn)
        seen = {one.operator: one.training.points_per_epoch for one in drawn}
        assert seen == {"gkn": STANDARD.drawn["gkn"], "gola": 1000}


def test_operators_on_the_full_grid_and_closed_forms_see_the_same_points_always():
    others = [run(cell) for cell in cells(*TARGETS) if not PROTOCOL.redraws(cell.operator)]
    assert not any(one.whole_training or one.training.points_per_epoch for one in others)


def test_a_cell_of_two_tables_is_one_run():
    assert set(cells("table4")) < set(cells("table2"))
    assert {cell for cell in cells("table4") if cell.operator == "gola"} < set(cells("table3"))
    identities = [run(cell).identity("data of " + cell.problem) for cell in cells(*TARGETS)]
    assert len(identities) == len(set(identities))


def test_only_the_cells_of_table_4_are_tested_at_further_numbers_of_points():
    tested = {cell for cell in cells(*TARGETS) if run(cell).test_points}
    assert {cell for cell in tested if cell.problem in PROBLEMS and not cell.known_points} == set(cells("table4"))
    assert {run(cell).test_points for cell in tested} == {(100, 500, 1000, 2000, 4000)}


def test_closed_forms_stand_in_every_table():
    for target in TABLES:
        assert {"linear", "kernel", "nearest", "mean"} <= {cell.operator for cell in cells(target)}


def test_the_paper_budget_has_the_whole_grid_of_the_figures():
    wanted = set(product(PROBLEMS, ("gkn", "gola"), SIZES, DENSITIES))
    found = {
        (cell.problem, cell.operator, cell.num_train, cell.num_points)
        for cell in cells("heatmaps", budget=BUDGETS["paper"])
    }
    assert found == wanted
    assert len(cells("heatmaps")) < len(wanted) / 2


def test_what_the_preset_says_anyway_is_no_change():
    changed = {cell.settings for cell in cells("capacity")}
    assert (("num_modes", 256),) not in changed
    assert (("num_modes", 4),) in changed
    usual = Cell(problem="darcy", operator="gola", num_train=100, num_points=1000)
    assert usual in cells("capacity")
    assert usual in cells("table2")


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_convolution_on_the_grid_has_the_grid_graph(problem):
    (gcn, *_) = CONTENDERS
    small = replace(PROTOCOL, parameters={"resolution": 9})
    (_, radius) = cell_at(problem, gcn, 30, None, small).settings[0]
    data = make_data(problem, resolution=9)
    points = torch.from_numpy(Frame.around(data).encode(data[0].points)).float()
    degrees = Cloud.of(points, points[:, :1]).with_neighbours(radius).neighbourhood.degrees
    assert (int(degrees.min()), int(degrees.max())) == (2, 4)
    assert cell_at(problem, gcn, 30, 1000, small).settings == ()


def make_data(problem, **parameters):
    kind = make_problem(problem, **parameters)
    return Dataset.from_samples(kind.generate(0, range(1)), inputs=kind.inputs, targets=kind.targets)


def test_one_line_puts_an_operator_into_all_tables():
    more = replace(PROTOCOL, contenders=(*CONTENDERS, Contender(operator="pod_rbf", title="POD")))
    for target in TABLES:
        added = set(cells(target, protocol=more)) - set(cells(target))
        assert {cell.operator for cell in added} == {"pod_rbf"}
        assert {cell.problem for cell in added} >= set(PROBLEMS)


@pytest.mark.parametrize(("operator", "number"), [("gola", 3), ("linear", 3), ("gola/paper", 1), ("fno", 1)])
def test_the_standard_budget_repeats_what_the_tables_are_about(operator, number):
    cell = Cell(problem="darcy", operator=operator, num_train=30, num_points=1000)
    assert len(seeds_of(cell, PROTOCOL, STANDARD)) == number
    assert len(seeds_of(cell, PROTOCOL, BUDGETS["paper"])) == 5
    assert len(seeds_of(cell, PROTOCOL, BUDGETS["quick"])) == 1


@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
def test_no_network_sets_training_samples_aside(budget):
    for cell in cells(*TARGETS, budget=budget):
        assert run(cell, budget).training.num_validation(cell.num_train) == 0


def test_fno_is_trained_as_published():
    lengths = {}
    for cell in cells("table1"):
        if cell.operator == "fno":
            training = run(cell).training
            lengths[cell.problem] = (training.num_epochs, training.batch_size)
    assert lengths == {**dict.fromkeys(PROTOCOL.compared, (150, 10)), "advection": (300, 10)}


def test_steps_grow_with_the_square_root_of_the_samples():
    steps = {cell.num_train: run(cell).training.num_steps for cell in cells("curves") if cell.operator == "gola"}
    assert steps[30] == BUDGETS["standard"].training["gola"].num_steps
    assert steps[5] < steps[30] < steps[100] == round(steps[30] * (100 / 30) ** 0.5)


def test_cells_at_other_densities_choose_no_rate():
    rates = {cell.num_points: run(cell).training.rates for cell in cells("table3", "table5") if cell.operator == "gola"}
    assert [number for number, tried in rates.items() if tried] == [1000]


def test_steps_at_many_points_take_fewer_samples():
    batches = {cell.num_points: run(cell).training.batch_size for cell in cells("capacity") if cell.operator == "gola"}
    assert batches[1000] == 2
    assert batches[2000] == 1


def test_grid_operators_see_a_coarser_grid_in_the_curves():
    found = {cell.problem for cell in cells("curves") if cell.operator == "fno"}
    assert found == {f"{problem}_64" for problem in PROBLEMS}
    assert PROTOCOL.law_of("nonlinear_diffusion_64").parameters["resolution"] == 64
    assert PROTOCOL.law_of("nonlinear_diffusion_64").parameters["mean_forcing"] > 0
    assert PROTOCOL.law_of("zero_mean_diffusion").parameters == {"resolution": 128}


def test_steps_of_gkn_see_some_of_a_samples_points_in_both_protocols():
    usual = Cell(problem="darcy", operator="gkn", num_train=30, num_points=1000)
    drawn = STANDARD.drawn["gkn"]
    for cell in (usual, replace(usual, known_points=True)):
        assert run(cell).training.points_per_epoch == drawn
        assert run(cell).num_points == 1000
    assert run(usual).whole_training
    assert not run(replace(usual, known_points=True)).whole_training


def test_with_fewer_points_than_a_step_sees_the_radius_follows_them():
    sparse = run(Cell(problem="darcy", operator="gkn", num_train=30, num_points=20))
    assert sparse.training.points_per_epoch == 20
    assert "radius" not in sparse.settings
    assert "radius" in run(Cell(problem="darcy", operator="gkn", num_train=30, num_points=500)).settings
