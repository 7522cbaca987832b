"""In which order cells are done: what the paper prints first, then what costs much and shows little."""

from collections.abc import Iterable

from paper.budgets import Budget
from paper.cells import Cell, cell_at, cells_of, places_of
from paper.protocol import Protocol

ORDER = (("table1", "table2"), ("table3", "table4", "table5"), ("curves",), ("heatmaps", "densities"), ("capacity",))
"""Targets in the order in which they are done, those together that are done together."""


def in_order(cells: Iterable[Cell], protocol: Protocol, budget: Budget) -> list[list[Cell]]:
    """Return cells in the order in which they are done, in groups; those of no target come last."""
    left = dict.fromkeys(cells)
    groups = []
    for wanted in (
        *printed_cells(protocol),
        *(cells_of(targets, protocol, budget) for targets in ORDER),
    ):
        groups.append([cell for cell in wanted if cell in left])
        left = {cell: None for cell in left if cell not in set(wanted)}
    return [*groups, list(left)]


def printed_cells(protocol: Protocol) -> tuple[list[Cell], list[Cell]]:
    """Return the cells of Tables 1 and 2 that the paper prints a number for, one for each of its models."""
    return _printed("table1", protocol.few, protocol), _printed("table2", protocol.many, protocol)


def _printed(target: str, num_train: int, protocol: Protocol) -> list[Cell]:
    return [
        cell_at(problem, contender, num_train, places_of(contender, protocol)[0], protocol)
        for problem in protocol.problems
        for contender in protocol.of_target(target)
        if contender.is_papers
    ]
