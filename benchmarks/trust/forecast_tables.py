"""Tables of forecasts beside what came true."""

from collections.abc import Sequence

import numpy as np

from benchmarks.trust.band_tables import Row

WITHIN = 0.25
"""A forecast is good if it is no more than this share off."""


def forecast_tables(rows: Sequence[Row]) -> list[str]:
    """Return the text and the table in Markdown, by problem and over all."""
    heading = "| problem | forecasts | within 25 % | at best | in the range of 8 of 10 | median quotient |"
    lines = [_HEAD, heading, "|---|---|---|---|---|---|"]
    problems = dict.fromkeys(row["problem"] for row in rows)
    lines += [f"| {problem} {_line([row for row in rows if row['problem'] == problem])}" for problem in problems]
    for size in dict.fromkeys(row["samples"] for row in rows):
        here = [row for row in rows if row["samples"] == size]
        lines.append(f"| all, from {size} to {2 * int(size)} {_line(here)}")
    return lines


def _line(rows: Sequence[Row]) -> str:
    forecast, lower, upper, error, now, estimated = (
        np.array([float(row[name]) for row in rows])
        for name in ("forecast", "lower", "upper", "error", "error_now", "estimated_now")
    )
    good, inside = np.abs(forecast / error - 1.0) <= WITHIN, (lower <= error) & (error <= upper)
    # Who knows by what factor the error falls still does not know the error that it falls from.
    at_best = np.abs(estimated / now - 1.0) <= WITHIN
    shares = " | ".join(f"{100 * one.mean():.0f} %" for one in (good, at_best, inside))
    return f"| {len(rows)} | {shares} | {np.median(forecast / error):.2f} |"


_HEAD = """The error with twice the samples was forecast from a learning curve, and then measured: as many other samples
were added, and the error is that on all that were left. Wanted: 80 % of forecasts within 25 % of the truth. At best:
what a forecast would reach that knew by what factor the error falls, and started from the error that the samples
themselves tell by leave-one-out, which among few samples is not better known.
"""
