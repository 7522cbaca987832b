"""Runs to do: which are done, and how long the others take."""

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from gola.runs import RunConfig
from paper.rows import Row, problem_of
from paper.versions import current_versions


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A run that a table or figure needs.

    Attributes:
        run: Its settings.
        variant: See :class:`paper.rows.Key`.
        row: What came out; None where it is to be done.
        seconds: Estimate of the time that it takes on one core; None where nothing similar was ever done.
    """

    run: RunConfig
    variant: str = ""
    row: Row | None
    seconds: float | None

    @property
    def is_done(self) -> bool:
        """Whether there is a result."""
        return self.row is not None

    @property
    def state(self) -> str:
        """Whether it is done, and by which code, in words."""
        if self.row is None:
            return "to do"
        return "done" if self.row.code_version in current_versions(self.run.operator) else "done by older code"

    @property
    def problem(self) -> str:
        """Name of the problem."""
        return problem_of(self.run)

    @property
    def label(self) -> str:
        """The operator, with what is changed of its preset."""
        changes = (f"{name}={_text(value)}" for name, value in self.run.settings.items())
        return " ".join([self.run.operator, *changes, *([f"({self.variant})"] if self.variant else [])])


def missing(lines: Iterable[Planned]) -> list[Planned]:
    """Return the runs that are to be done."""
    return [line for line in lines if not line.is_done]


def seconds_left(lines: Iterable[Planned]) -> float | None:
    """Estimate the time of the runs to do, one after the other; an unknown time counts like the mean of the others."""
    times = [line.seconds for line in missing(lines)]
    known = [seconds for seconds in times if seconds is not None]
    if not times:
        return 0.0
    return len(times) * statistics.fmean(known) if known else None


def progress(lines: Iterable[Planned]) -> str:
    """Say how many runs are done, and what is left."""
    lines = list(lines)
    left = missing(lines)
    time = f"; the others take {time_text(seconds_left(left))} on one core." if left else "."
    return f"{len(lines) - len(left)} of {len(lines)} runs are done{time}"


def time_text(seconds: float | None) -> str:
    """Write an estimate as roughly as it is.

    >>> time_text(20), time_text(400), time_text(9000), time_text(None)
    ('≈ 1 min', '≈ 7 min', '≈ 2.5 h', 'an unknown time')
    """
    if seconds is None:
        return "an unknown time"
    minutes = max(1, math.ceil(seconds / 60))
    return f"≈ {minutes} min" if minutes < 90 else f"≈ {seconds / 3600:.1f} h"


def _text(value: object) -> str:
    """Write a setting for people.

    >>> _text(0.00944882), _text(("mean", "green")), _text(False)
    ('0.00945', 'mean,green', 'False')
    """
    if isinstance(value, tuple | list):
        return ",".join(map(str, value))
    return f"{value:.3g}" if isinstance(value, float) else f"{value}"
