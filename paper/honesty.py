"""Whether operators know how wrong they are: the error that a fit foretells, beside the one it then makes."""

import statistics
from collections.abc import Sequence

from gola.report.page import Table
from gola.runs import RunResult
from paper.cells import TARGETS, cells_of
from paper.protocol import TITLES
from paper.store import Store

_FORETOLD = "cv_error"
_CAPTION = (
    "Test error divided by the error that the fit foretells from training samples left out: the median over all runs"
    " of the tables and figures, in brackets the lowest and the highest, and how many runs. Above 1 an operator"
    " promises too much. An ensemble of networks may well keep more than it promises: each sample left out is predicted"
    " by one network, and a test sample by all."
)


def honesty(store: Store) -> list[Table]:
    """Return test errors in units of those foretold, by operator and problem; nothing without results."""
    problems = store.protocol.problems
    runs: dict[tuple[str, str], list[RunResult]] = {}
    for cell in cells_of(TARGETS, store.protocol, store.budget):
        found = [result for result in store.of(cell).values() if _FORETOLD in result.scores]
        runs.setdefault((cell.operator, cell.problem), []).extend(found)
    rows = []
    for one in store.protocol.contenders:
        by_problem = [runs.get((one.operator, problem), []) for problem in problems]
        if any(by_problem):
            rows.append([one.title, *map(_ratios_text, by_problem)])
    heading = ["made ÷ foretold", *(TITLES[problem] for problem in problems)]
    return [Table(heading=heading, rows=rows, caption=_CAPTION)] if rows else []


def _ratios_text(results: Sequence[RunResult]) -> str:
    ratios = [result.error / result.scores[_FORETOLD] for result in results]
    if not ratios:
        return "–"
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}; {len(ratios)})"
