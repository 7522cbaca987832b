from paper.budgets import BUDGETS
from paper.cells import TARGETS, cells_of
from paper.order import in_order
from paper.protocol import Protocol

PROTOCOL, STANDARD = Protocol(), BUDGETS["standard"]


def cells(*targets):
    return cells_of(targets, PROTOCOL, STANDARD)


def test_what_the_paper_prints_is_done_first():
    few, many, *_ = in_order(cells(*TARGETS), PROTOCOL, STANDARD)
    assert len(few) == 20
    assert len(many) == 8
    assert set(few) < set(cells("table1"))
    assert set(many) < set(cells("table2"))


def test_the_rest_of_the_tables_follows_and_figures_come_last():
    groups = in_order(cells(*TARGETS), PROTOCOL, STANDARD)
    assert set().union(*groups[:3]) == set(cells("table1", "table2"))
    assert {cell.operator for cell in groups[5]} == {"gkn", "gola"}


def test_every_cell_is_done_once():
    found = [cell for group in in_order(cells(*TARGETS), PROTOCOL, STANDARD) for cell in group]
    assert len(found) == len(set(found)) == len(cells(*TARGETS))


def test_cells_that_are_not_asked_for_are_left_out():
    wanted = [cell for cell in cells("table1") if cell.operator == "gola"]
    assert {cell for group in in_order(wanted, PROTOCOL, STANDARD) for cell in group} == set(wanted)
