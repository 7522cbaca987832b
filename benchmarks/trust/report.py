"""The page and the figure of finished cells."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.trust.bands import BANDS, METHODS, SIZES, runs_in
from benchmarks.trust.cases import PROBLEMS

PAGE, FIGURE = Path("docs/trust-measured.md"), Path("docs/images/trust.png")

Row = dict[str, str]


def write_report(results: Path) -> None:
    """Write page and figure."""
    # Pictures are drawn by an extra that tests of the page do without.
    from benchmarks.trust.figure import draw_coverage
    from gola.plotting.style import write

    rows = runs_in(results).finished()
    PAGE.write_text(page(rows))
    write(draw_coverage(rows), FIGURE)


def page(rows: Sequence[Row]) -> str:
    """Return the page in Markdown."""
    splits = len({row["split"] for row in rows})
    operators = [name for name in METHODS if any(row["operator"] == name for row in rows)]
    lines = [
        _HEAD.format(cells=len(rows), splits=splits),
        *([_FEW] if splits < 20 else []),
        "| operator | samples | cells |" + "".join(f" {_label(band)} |" for band in BANDS) + " half-width | rank |",
        "|---|---|---|" + "---|" * (len(BANDS) + 2),
    ]
    for operator in operators:
        for size in SIZES:
            here = [row for row in rows if (row["operator"], row["samples"]) == (operator, str(size))]
            if here:
                lines.append(f"| `{operator}` | {size} | {len(here)} | {_cells(here)}")
    lines += ["", "## By problem", "", *_by_problem(rows)]
    return "\n".join(lines) + "\n"


_HEAD = """# Bands, measured

`python -m benchmarks.trust` fits to random splits of coarse versions of all built-in problems, of seeds that nothing
was developed on, and counts how often bands hold for 30 test samples each; it continues where it stopped.
`python -m benchmarks.trust --report` writes this page from `results/trust/bands.csv`: {cells} cells of up to {splits}
splits so far. What bands promise, and how they are drawn, is [explained](trust.md).

![Actual against nominal coverage](images/trust.png)

Percent of fields (e, everywhere) or of points (p, pointwise) that lay in bands of 50, 80, 90 and 95 %, with the
standard error over cells; the half-width of the pointwise band of 90 % in units of the root mean square error, and the
rank correlation of estimated and actual errors over test samples, both as medians over cells. Levels that so few
samples do not support are left out. `auto` is without networks; `deeponet` is trained briefly, with five held-out
folds.
"""

_FEW = """**Fewer than 20 splits so far:** the means over problems say something, single problems scatter by 10 points
and more.
"""


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


def _by_problem(rows: Sequence[Row]) -> list[str]:
    """Bands of 90 % by problem, for the operators together."""
    lines = [
        "Bands of 90 %, all operators together; the estimated error over the actual one is the median.",
        "",
        "| problem | samples | cells | everywhere | pointwise | half-width | rank | estimated ÷ actual |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for problem in PROBLEMS:
        for size in SIZES:
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
