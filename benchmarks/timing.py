"""Compare by ratio: both sides in one run, in turns, and the median of several."""

import statistics
import time
from collections.abc import Callable


def seconds(call: Callable[[], object]) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def alternate(calls: dict[str, Callable[[], object]], *, repeats: int) -> dict[str, float]:
    """Return the median seconds of each call; every round runs all of them, after one round to warm up."""
    for call in calls.values():
        call()
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            times[name].append(seconds(call))
    return {name: statistics.median(measured) for name, measured in times.items()}
