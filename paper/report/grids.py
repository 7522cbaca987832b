"""Whether the coarser grid of the curves gives the same errors as that of the tables."""

from gola.report.page import Table
from paper.cells import cell_at, curve_cell
from paper.contenders import Contender
from paper.report.sheets import MISSING, Number, number_of, problem_titles
from paper.store import Store


def grids(store: Store) -> list[Table]:
    """Return the errors of operators on both grids from few samples; nothing where there is one grid, or no result."""
    protocol = store.protocol
    if protocol.curve_resolution is None:
        return []
    rows = [
        [contender.title, *(_text(*_numbers(store, problem, contender)) for problem in protocol.problems)]
        for contender in protocol.of_target("curves")
        if contender.on_grid
    ]
    known = [row for row in rows if set(row[1:]) != {MISSING}]
    nodes = f"{protocol.curve_resolution} × {protocol.curve_resolution}"
    caption = f"From {protocol.few} samples: the error on {nodes} points, as in the curves, / on the grid of Table 1."
    return [Table(heading=["both grids", *problem_titles(store)], rows=known, caption=caption)] if known else []


def _numbers(store: Store, problem: str, contender: Contender) -> tuple[Number, Number]:
    protocol = store.protocol
    coarse = curve_cell(problem, contender, protocol.few, protocol)
    return number_of(store, coarse), number_of(store, cell_at(problem, contender, protocol.few, None, protocol))


def _text(coarse: Number, fine: Number) -> str:
    if coarse.mean is None or fine.mean is None:
        return MISSING
    return f"{coarse.mean:.4f} / {fine.mean:.4f}"
