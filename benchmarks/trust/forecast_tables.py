"""Tables of forecasts beside what came true."""

from collections.abc import Sequence

import numpy as np

from benchmarks.trust.band_tables import Row

WITHIN = 0.25
"""A forecast is good if it is no more than this share off."""


def forecast_tables(rows: Sequence[Row]) -> list[str]:
    """Return the text and the table in Markdown, by problem and over all."""
    heading = "| problem | forecasts | within 25 % | in the range of 8 of 10 | median quotient |"
    lines = [_HEAD, heading, "|---|---|---|---|---|"]
    problems = dict.fromkeys(row["problem"] for row in rows)
    lines += [f"| {problem} {_line([row for row in rows if row['problem'] == problem])}" for problem in problems]
    for size in dict.fromkeys(row["samples"] for row in rows):
        here = [row for row in rows if row["samples"] == size]
        lines.append(f"| all, from {size} to {2 * int(size)} {_line(here)}")
    return lines


def _line(rows: Sequence[Row]) -> str:
    forecast, lower, upper, error = (
        np.array([float(row[name]) for row in rows]) for name in ("forecast", "lower", "upper", "error")
    )
    good, inside = np.abs(forecast / error - 1.0) <= WITHIN, (lower <= error) & (error <= upper)
    quotient = np.median(forecast / error)
    return f"| {len(rows)} | {100 * good.mean():.0f} % | {100 * inside.mean():.0f} % | {quotient:.2f} |"


_HEAD = """The error with twice the samples was forecast from a learning curve, and then measured: as many other samples
were added, and the error is that on all that were left. Wanted: 80 % of forecasts within 25 % of the truth.
"""
