"""The part of the report that belongs to each target: a table or a figure, and how far it is done."""

from collections.abc import Callable

from gola.report.page import Block, Picture, Section, Table, Text
from paper.cells import cells_of
from paper.complexity import EXPONENTS, SYMBOLS, Complexity
from paper.plan import progress
from paper.report import figures, tables
from paper.report.grids import grids
from paper.store import Store

TITLES = {
    "table1": "Table 1: few samples, all operators",
    "table2": "Table 2: GOLA and GKN from many samples",
    "table3": "Table 3: few, some and many points",
    "table4": "Table 4: other points in testing than in training",
    "table5": "Table 5: many points, by the number of samples",
    "curves": "Error against the number of samples",
    "heatmaps": "Error reduction of GOLA over GKN",
    "densities": "Sizes and densities",
    "capacity": "Points, modes and width",
    "complexity": "Time and memory of a step",
}
"""Headings of the targets."""
_TABLES: dict[str, Callable[[Store], list[Table]]] = {
    "table1": tables.table1,
    "table2": tables.table2,
    "table3": tables.table3,
    "table4": tables.table4,
    "table5": tables.table5,
}
_SHARE_TO_DRAW = 0.1
_FIGURES: dict[str, Callable[[Store], Picture]] = {
    "curves": figures.curves,
    "heatmaps": figures.heatmaps,
    "densities": figures.densities,
    "capacity": figures.capacity,
}


def section_of(target: str, store: Store, measured: Complexity | None) -> Section:
    """Return the part of the report that shows a target."""
    return Section(TITLES[target], _blocks(target, store, measured))


def _blocks(target: str, store: Store, measured: Complexity | None) -> list[Block]:
    if target in _TABLES:
        return list(_TABLES[target](store))
    if target in _FIGURES:
        lines = store.planned(cells_of([target], store.protocol, store.budget))
        done = sum(line.is_done for line in lines)
        # With fewer results there is more grey than figure.
        drawn = [_FIGURES[target](store)] if done >= _SHARE_TO_DRAW * len(lines) else []
        state = Text(progress(lines) if drawn else f"Not drawn yet: {progress(lines)}")
        return [*drawn, state, *(grids(store) if target == "curves" else [])]
    return _complexity_blocks(measured)


def _complexity_blocks(measured: Complexity | None) -> list[Block]:
    if measured is None:
        return [Text("Not measured yet: `make paper TARGET=complexity` does.")]
    rows = [
        [
            f"{symbol}, {name.removeprefix('num_')}",
            _range(measured, name),
            _slope(measured, name, "seconds"),
            f"[{EXPONENTS[name]}]",
            _slope(measured, name, "mebibytes"),
        ]
        for name, symbol in SYMBOLS.items()
    ]
    table = Table(
        heading=["varied", "from, to", "slope of time", "the paper's formula", "slope of memory"],
        rows=rows,
        caption="Slopes on logarithmic scales: the exponents of power laws. The paper gives the time as"
        " O(MNC) + O(NkC²) + O(NkC), so each exponent depends on which term dominates; it gives no formula for memory."
        " Here messages and keys are combined per point instead of per edge, which is exact and makes the second term"
        " O(NC²).",
    )
    return [table, figures.complexity(measured)]


def _range(measured: Complexity, varied: str) -> str:
    sizes = list(measured.curve(varied, "seconds"))
    return f"{sizes[0]}, {sizes[-1]}" if sizes else "–"


def _slope(measured: Complexity, varied: str, cost: str) -> str:
    slope = measured.slope(varied, cost)
    return "–" if slope is None else f"{slope:.2f}"
