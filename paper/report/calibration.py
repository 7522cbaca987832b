"""Calibration: the test error that a fit estimates from its training samples, beside the one that it then has."""

import statistics
from collections.abc import Sequence

from gola.report.page import Table
from paper.cells import TARGETS, cells_of
from paper.protocol import TITLES
from paper.rows import Row
from paper.store import Store

_ESTIMATE = "cv_error"
_CAPTION = (
    "Test error divided by the error estimated by cross-validation on the training samples: the median over all runs of"
    " the tables and figures, in brackets the lowest and the highest, and the number of runs. Above 1 the estimate is"
    " too low. For an ensemble of networks it may be too high: each held-out sample is predicted by one network, and a"
    " test sample by the mean of all."
)


def calibration(store: Store) -> list[Table]:
    """Return test errors in units of estimated errors, by operator and problem; nothing without results."""
    problems = store.protocol.problems
    rows: dict[tuple[str, str], list[Row]] = {}
    for cell in cells_of(TARGETS, store.protocol, store.budget):
        found = [row for row in store.of(cell).values() if _ESTIMATE in row.scores]
        rows.setdefault((cell.operator, cell.problem), []).extend(found)
    lines = []
    for contender in store.protocol.contenders:
        by_problem = [rows.get((contender.operator, problem), []) for problem in problems]
        if any(by_problem):
            lines.append([contender.title, *map(_ratios_text, by_problem)])
    heading = ["test error ÷ estimated error", *(TITLES[problem] for problem in problems)]
    return [Table(heading=heading, rows=lines, caption=_CAPTION)] if lines else []


def _ratios_text(rows: Sequence[Row]) -> str:
    ratios = [row.errors.mean / row.scores[_ESTIMATE] for row in rows]
    if not ratios:
        return "–"
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}; {len(ratios)})"
