"""Tables of how often bands held."""

from collections.abc import Sequence

import numpy as np

from benchmarks.trust.bands import BANDS, METHODS, NETWORK_SIZES, SIZES
from benchmarks.trust.cases import PROBLEMS

Row = dict[str, str]
# Means over so many splits say something of one problem; so many points off is far.
_MANY_SPLITS, _FAR = 20, 5


def band_tables(rows: Sequence[Row]) -> list[str]:
    """Return the tables by operator and by problem in Markdown."""
    operators = [name for name in METHODS if any(row["operator"] == name for row in rows)]
    lines = [
        "| operator | samples | cells |" + "".join(f" {_label(band)} |" for band in BANDS) + " half-width | rank |",
        "|---|---|---|" + "---|" * (len(BANDS) + 2),
    ]
    for operator in operators:
        for size in SIZES:
            here = [row for row in rows if (row["operator"], row["samples"]) == (operator, str(size))]
            if here:
                lines.append(f"| `{operator}` | {size} | {len(here)} | {_cells(here)}")
    return [*lines, "", *_single_problems(rows), "", "### By problem", "", *_by_problem(rows)]


def _label(band: str) -> str:
    kind, level = band.split("_")
    return f"{kind[0]} {level}"


def _cells(rows: Sequence[Row]) -> str:
    held = []
    for band in BANDS:
        found = np.array([float(row[band]) for row in rows if row[band]])
        error = found.std() / np.sqrt(max(1, len(found) - 1)) if len(found) else 0.0
        held.append(f"{100 * found.mean():.0f} ± {100 * error:.0f}" if len(found) else "")
    medians = [np.median([float(row[name]) for row in rows]) for name in ("half_width_90", "rank_correlation")]
    return " | ".join([*held, *(f"{one:.2f}" for one in medians)]) + " |"


def _single_problems(rows: Sequence[Row]) -> list[str]:
    """Say how many means over the splits of one problem, operator and size are far from their level."""
    cells: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        cells.setdefault((row["problem"], row["operator"], row["samples"]), []).append(row)
    whole = {key: found for key, found in cells.items() if len(found) >= _MANY_SPLITS}
    lines = []
    for level in (80, 90, 95):
        gaps = [
            100 * float(np.mean([float(row[band]) for row in found])) - level
            for found in whole.values()
            for band in (f"everywhere_{level}", f"pointwise_{level}")
            if found[0][band]
        ]
        low, high = (sum(sign * gap > _FAR for gap in gaps) for sign in (-1, 1))
        lines.append(f"- {level} %: {low} of {len(gaps)} held more than {_FAR} points too rarely, {high} too often.")
    return [f"Single problems, operators and sizes with {_MANY_SPLITS} splits:", "", *lines]


def _by_problem(rows: Sequence[Row]) -> list[str]:
    """Bands of 90 % by problem, for the operators together."""
    lines = [
        f"Bands of 90 % from {' and '.join(map(str, NETWORK_SIZES))} samples, all operators together; the median of the"
        " estimated error over the actual one.",
        "",
        "| problem | samples | cells | everywhere | pointwise | half-width | rank | estimated ÷ actual |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for problem in PROBLEMS:
        for size in NETWORK_SIZES:
            here = [row for row in rows if (row["problem"], row["samples"]) == (problem, str(size))]
            if here:
                held = [100 * np.mean([float(row[band]) for row in here]) for band in ("everywhere_90", "pointwise_90")]
                half, rank = (
                    np.median([float(row[name]) for row in here]) for name in ("half_width_90", "rank_correlation")
                )
                ratio = np.median([float(row["estimated_error"]) / float(row["error"]) for row in here])
                numbers = f"{held[0]:.0f} | {held[1]:.0f} | {half:.2f} | {rank:.2f} | {ratio:.2f} |"
                lines.append(f"| {problem} | {size} | {len(here)} | {numbers}")
    return lines
