"""All numbers in one file, for those who want to draw their own figures."""

import csv
import statistics
from pathlib import Path

from gola.files import replacing
from gola.runs.comparison import spread
from paper.cells import TARGETS, Cell, cells_of
from paper.store import Store

COLUMNS = (
    "problem",
    "operator",
    "settings",
    "num_train",
    "num_points",
    "test_points",
    "error",
    "spread",
    "num_seeds",
    "fit_seconds",
    "num_parameters",
)


def write_listing(store: Store, path: Path) -> None:
    """Write a row for every cell that has a result, and for every further number of points that it was tested at."""
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for cell in cells_of(TARGETS, store.protocol, store.budget):
            writer.writerows(_rows(store, cell))


def _rows(store: Store, cell: Cell) -> list[list[object]]:
    results = list(store.of(cell).values())
    if not results:
        return []
    numbers = dict.fromkeys([None, *results[0].errors_by_points])
    return [_row(store, cell, number) for number in numbers if number != cell.num_points]


def _row(store: Store, cell: Cell, test_points: int | None) -> list[object]:
    results = list(store.of(cell).values())
    errors = list(store.errors(cell, test_points).values())
    deviation = spread(errors)
    return [
        cell.problem,
        cell.operator,
        " ".join(f"{name}={value:g}" for name, value in cell.settings),
        cell.num_train,
        cell.num_points or "grid",
        test_points or cell.num_points or "grid",
        f"{statistics.fmean(errors):.6f}",
        "" if deviation is None else f"{deviation:.6f}",
        len(errors),
        f"{statistics.median(result.fit_seconds for result in results):.1f}",
        results[0].num_parameters,
    ]
