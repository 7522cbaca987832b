"""Tables of what suggested simulations brought beside random ones."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.trust.band_tables import Row
from benchmarks.trust.suggestions import BATCH, HOW, LAST, NUM_POOL, NUM_TEST, START
from gola.problems import make_problem

JUDGED = 30
"""The number of random samples whose error is to be reached."""

_Curves = Mapping[int, list[float]]


def suggestion_tables(rows: Sequence[Row]) -> list[str]:
    """Return the text and the table in Markdown."""
    shares: dict[bool, list[float]] = {False: [], True: []}
    lines = []
    for problem in dict.fromkeys(row["problem"] for row in rows):
        curves = {how: _curves([row for row in rows if (row["problem"], row["how"]) == (problem, how)]) for how in HOW}
        if any(not curve.get(LAST) for curve in curves.values()):
            continue
        needed = needed_samples(curves["suggested"], mean(curves["random"][JUDGED]))
        shares[bool(make_problem(problem).inputs)].append(needed / JUDGED)
        ratio, spread = _ratio(curves["suggested"][JUDGED], curves["random"][JUDGED])
        random, suggested = (mean(curves[how][JUDGED]) for how in HOW)
        quotient = f"{ratio:.2f} ×÷ {spread:.2f}"
        lines.append(
            f"| {problem} | {len(curves['random'][JUDGED])} | {random:.3g} | {suggested:.3g} | {quotient} |"
            f" {needed:.0f}, {100 * needed / JUDGED:.0f} % |"
        )
    medians = {"parameters": _median(shares[False]), "functions": _median(shares[True])}
    medians["all"] = _median(shares[False] + shares[True])
    return [
        _HEAD.format(start=START, batch=BATCH, pool=NUM_POOL, test=NUM_TEST, judged=JUDGED, **medians),
        f"| problem | splits | random, {JUDGED} | suggested, {JUDGED} | quotient | samples for the error of random |",
        "|---|---|---|---|---|---|",
        *lines,
    ]


def needed_samples(curve: _Curves, error: float) -> float:
    """Return with how many samples a curve first reaches an error, its logarithm linear between known numbers."""
    sizes = sorted(curve)
    logs = [np.log(mean(curve[size])) for size in sizes]
    for place in range(1, len(sizes)):
        if logs[place] <= np.log(error):
            low, high = sizes[place - 1], sizes[place]
            fall = logs[place - 1] - logs[place]
            return low + (high - low) * min(1.0, (logs[place - 1] - np.log(error)) / fall) if fall > 0.0 else high
    return float(sizes[-1])


def mean(errors: Sequence[float]) -> float:
    """Return the geometric mean, as errors of splits differ by factors."""
    return float(np.exp(np.mean(np.log(errors))))


def _median(shares: Sequence[float]) -> str:
    return f"{100 * np.median(shares):.0f} %" if shares else "not measured yet"


def _curves(rows: Sequence[Row]) -> _Curves:
    found = defaultdict(list)
    for row in rows:
        found[int(row["samples"])].append(float(row["error"]))
    return found


def _ratio(suggested: Sequence[float], random: Sequence[float]) -> tuple[float, float]:
    """Return the quotient of mean errors, and the factor of its standard error over splits."""
    pairs = np.log(suggested) - np.log(random)
    return float(np.exp(pairs.mean())), float(np.exp(pairs.std() / np.sqrt(max(1, len(pairs) - 1))))


_HEAD = """From the same {start} samples on, batches of {batch} out of a pool of {pool} were added and the operator
fitted again: suggested ones, or random ones. Errors are on {test} other samples, geometric means over splits. The last
column says with how many suggested samples the error of {judged} random ones is reached, and how much of {judged} that
is; the median over problems is {all} (wanted: 70 % at most), {parameters} for parameters and {functions} for input
functions. `pod_gp` for parameters and moved meshes, `kernel` for input functions.

Why so little: on development data (18 problems, two splits, 10 to 30 samples with the settings of a fit to all 100;
measured by a script that is not kept), samples chosen by the covariance of that fit, which nobody has beforehand, took
84 % of random's number in the median. Samples chosen one by one with the solutions of the whole pool known took 70 %.
Chosen as `gola suggest` does, with a new fit after ten, they took 83 %; the farthest from others (maximin) 102 %.
"""
