"""The page and the figures of finished cells."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.trust.band_tables import Row, band_tables
from benchmarks.trust.bands import runs_in
from benchmarks.trust.forecast_tables import forecast_tables
from benchmarks.trust.forecasts import forecasts_in
from benchmarks.trust.suggestion_tables import suggestion_tables
from benchmarks.trust.suggestions import suggestions_in

PAGE, FIGURE = Path("docs/trust-measured.md"), Path("docs/images/trust.png")


def write_report(results: Path) -> None:
    """Write page and figures."""
    # Pictures are drawn by an extra that tests of the page do without.
    from benchmarks.trust.figure import draw_coverage
    from gola.plotting.style import write

    rows, suggested, forecast = (of(results).finished() for of in (runs_in, suggestions_in, forecasts_in))
    PAGE.write_text(page(rows, suggested, forecast))
    write(draw_coverage(rows), FIGURE)


def page(rows: Sequence[Row], suggested: Sequence[Row], forecast: Sequence[Row]) -> str:
    """Return the page in Markdown."""
    splits = len({row["split"] for row in rows})
    parts = [
        _HEAD.format(cells=len(rows), splits=splits),
        *([_FEW] if splits < 20 else []),
        *band_tables(rows),
        "",
        "## Suggested simulations",
        "",
        *suggestion_tables(suggested),
        "",
        "## Forecasts of learning curves",
        "",
        *forecast_tables(forecast),
    ]
    return "\n".join(parts) + "\n"


_HEAD = """# Trust, measured

`python -m benchmarks.trust` fits to random splits of coarse versions of all built-in problems, of seeds that nothing
was developed on; it continues where it stopped. `python -m benchmarks.trust --report` writes this page from
`results/trust/`. What bands promise, and how they are drawn, is [explained](trust.md).

## Bands

How often bands held for 30 test samples of each cell: a problem, an operator, a number of training samples and a split;
{cells} cells of up to {splits} splits, data of seed 26419, as are suggestions and forecasts.

![Actual against nominal coverage](images/trust.png)

Percent of fields (e, everywhere) or of points (p, pointwise) that lay in bands of 50, 80, 90 and 95 %, with the
standard error over cells; the half-width of the pointwise band of 90 % in units of the root mean square error, and the
rank correlation of estimated and actual errors over test samples, both as medians over cells. Levels that so few
samples do not support are left out. `auto` is without networks; `deeponet` is trained briefly, with five held-out
folds.
"""

_FEW = """**Fewer than 20 splits so far,** and not of all operators and numbers of samples: the means over problems say
something, single problems scatter by 10 points and more.
"""
