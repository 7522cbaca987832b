"""Warnings that point at the line of the user's program that caused them."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

# Calls from these packages are on the way from the user's program to the warning.
_WITHIN = ("gola", "torch")


def warn(message: str) -> None:
    """Warn whoever called this package."""
    warnings.warn(message, stacklevel=_distance_of_the_caller())


@contextmanager
def said_once(count: int) -> Iterator[None]:
    """Gather the warnings of many samples, and give those of the first kind once for all.

    Args:
        count: The number of samples.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    if caught:
        warn(f"{caught[0].message} There are {len(caught)} warnings for {count} samples; this is the first.")


def _distance_of_the_caller() -> int:
    """Return how many calls ago the caller of this package called, as seen by :func:`warn`."""
    frame, distance = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in (*_WITHIN, "contextlib"):
        frame, distance = frame.f_back, distance + 1
    return distance
