from dataclasses import replace

from paper.protocol import Protocol
from paper.report.grids import grids
from tests.paper.examples import made_store


def by_grid(cell, _seed):
    """An error that is larger on the coarser grid; DeepONet has not run there."""
    if cell.problem.endswith("_64"):
        return None if cell.operator == "deeponet" else 0.2
    return 0.1


def test_errors_on_both_grids_stand_side_by_side_where_both_are_known():
    (table,) = grids(made_store(by_grid, targets=["table1", "curves"]))
    assert [row[0] for row in table.rows] == ["GCN", "FNO"]
    assert {cell for row in table.rows for cell in row[1:]} == {"0.2000 / 0.1000"}


def test_there_is_no_table_without_results_or_with_one_grid():
    assert grids(made_store(lambda _cell, _seed: None, targets=["curves"])) == []
    one = replace(Protocol(), curve_resolution=None)
    assert grids(made_store(by_grid, protocol=one, targets=["table1"])) == []
