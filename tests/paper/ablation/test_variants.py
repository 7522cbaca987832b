from itertools import product

from gola.registry import PROBLEMS
from paper.ablation.other_trainings import OTHER_TRAININGS
from paper.ablation.variants import IRREGULAR_PROBLEMS, PAPER_PROBLEMS, VARIANTS, ablation_cells, without
from paper.budgets import BUDGETS
from paper.cells import cells_of
from paper.protocol import Protocol

PROTOCOL = Protocol()


def test_every_variant_is_another_cell_except_where_a_problem_has_no_symmetries():
    cells = ablation_cells(PROTOCOL)
    assert len(cells) == len(set(cells))
    num_usual, num_others = len(VARIANTS) - len(OTHER_TRAININGS), len(OTHER_TRAININGS)
    num_equal = 2 * len([problem for problem in PAPER_PROBLEMS if not PROBLEMS[problem].symmetries])
    num_cells = num_usual * (2 * len(PAPER_PROBLEMS) + len(IRREGULAR_PROBLEMS)) + num_others * 2 * len(PAPER_PROBLEMS)
    assert len(cells) == num_cells - num_equal


def test_what_stands_in_the_tables_too_is_the_same_cell():
    in_tables = set(cells_of(["table1", "table2"], PROTOCOL, BUDGETS["standard"]))
    for name, problem, num_train in product(("kernel", "linear", "auto"), PAPER_PROBLEMS, (30, 100)):
        assert VARIANTS[name].cell(problem, num_train, PROTOCOL) in in_tables


def test_networks_have_fewer_modes_in_space_than_in_the_plane():
    modes = {
        problem: dict(VARIANTS["spectral"].cell(problem, 30, PROTOCOL).settings) for problem in ("heat_sink", "darcy")
    }
    assert modes["heat_sink"] == {"num_modes": 4}
    assert modes["darcy"] == {"num_modes": 8}


def test_samples_are_augmented_by_the_symmetries_of_the_problem():
    variant = VARIANTS["spectral, augmented by symmetries"]
    assert variant.cell("advection", 30, PROTOCOL).training.symmetries == PROBLEMS["advection"].symmetries != ()
    assert VARIANTS["spectral"].cell("advection", 30, PROTOCOL).training.symmetries == ()


def test_a_step_that_is_left_out_is_no_step_of_linear():
    ((name, steps),) = without("diffusion", "reciprocity")
    assert name == "steps"
    assert "symmetries" in steps
    assert not {"diffusion", "reciprocity"} & set(steps)
