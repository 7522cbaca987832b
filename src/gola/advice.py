"""Warnings that point at the line of the user's program that caused them."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

# Calls from these packages are on the way from the user's program to the warning.
_WITHIN = ("gola", "torch", "contextlib", "jaxtyping", "beartype")


def warn(message: str) -> None:
    """Warn whoever called this package."""
    frame, distance = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _WITHIN:
        frame, distance = frame.f_back, distance + 1
    warnings.warn(message, stacklevel=distance)


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
        further = f" There are {len(caught)} warnings for {count} samples; this is the first."
        warn(f"{caught[0].message}{further if len(caught) > 1 else ''}")
