"""The result of ``gola demo`` in words and numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gola.runs import RunResult, error_text, summarise, verdict, worth_showing
from gola.surrogate.surrogate import Surrogate

PUBLISHED = {"gola": 0.1554, "fno": 0.1678}
"""Errors that the paper reports in its table 1 for Darcy flow and 30 training samples: of its GOLA at 1000 points, and
of an FNO on the full grid."""
_PUBLISHED_SIZES = (30, 1000)

CHANNEL_HEADING = ("operator", "channel", "test error", "relative to variation")
HEADING = ("operator", "test error", "paper", "fit [s]", "predict [ms]", "parameters")


@dataclass(frozen=True, kw_only=True, eq=False)
class Entry:
    """One operator of the comparison.

    Attributes:
        result: The result of its run.
        surrogate: The fitted surrogate.
        reused: Whether the surrogate is from an earlier call.
    """

    result: RunResult
    surrogate: Surrogate
    reused: bool = False

    @property
    def name(self) -> str:
        """Name of the operator."""
        return self.result.run.operator


def result_rows(entries: Sequence[Entry]) -> list[list[str]]:
    """Return the comparison: a row for each operator below :data:`HEADING`, and one for the FNO of the paper."""
    rows = [
        [
            entry.name,
            error_text(entry.result.error, float(np.std(entry.result.errors))),
            f"{PUBLISHED[entry.name]:.4f}" if entry.name in PUBLISHED else "–",
            f"{entry.result.fit_seconds:.1f}",
            f"{1000 * entry.result.predict_seconds:.1f}",
            f"{entry.result.num_parameters:,}",
        ]
        for entry in entries
    ]
    return [*rows, ["FNO, full grid", "–", f"{PUBLISHED['fno']:.4f}", "–", "–", "–"]]


def channel_rows(entries: Sequence[Entry]) -> list[list[str]]:
    """Return the errors by channel below :data:`CHANNEL_HEADING`; none where they are those of :func:`result_rows`."""
    if not any(worth_showing(entry.result.channels) for entry in entries):
        return []
    return [
        [entry.name, one.name, f"{one.error:.4f}", "–" if one.variation is None else f"{one.variation:.4f}"]
        for entry in entries
        for one in entry.result.channels
    ]


def headline(entries: Sequence[Entry]) -> str:
    """Say which operator has the lower error, by how much, and on how many samples."""
    best, other = sorted((entry.result for entry in entries), key=lambda result: result.error)
    wins = sum(mine < theirs for mine, theirs in zip(best.errors, other.errors, strict=True))
    sentence = verdict(summarise(entry.result for entry in entries))
    return f"{sentence} {best.run.operator} has the lower error on {wins} of {len(best.errors)} test samples."


def reason(entries: Sequence[Entry]) -> str:
    """Say what the result means for other problems."""
    best = min(entries, key=lambda entry: entry.result.error)
    facts = (
        "The coefficient of this problem is the same in all samples, so the solution depends linearly on the source,"
        " and an operator that is linear by construction has far less to learn."
    )
    if best.name == "linear":
        return f"{facts} Where the solution is not a linear function of the input it loses this advantage."
    return f"{facts} That {best.name} has the lower error all the same is surprising: repeat it with other seeds."


def beside_the_paper(entries: Sequence[Entry]) -> str:
    """Compare the errors with the published ones, and say how far that comparison goes."""
    run = entries[0].result.run
    places = " and ".join(f"{entry.name} is {_place(entry.result.error)}" for entry in entries)
    text = (
        f"The paper reports {PUBLISHED['gola']:.4f} for its GOLA at 1000 points and {PUBLISHED['fno']:.4f} for an FNO"
        f" that sees the full 128 × 128 grid, both from 30 samples. Here {places}."
    )
    if (run.num_train, run.num_points) != _PUBLISHED_SIZES:
        return f"{text} But this run had {run.num_train} samples at {run.num_points} points: not the same task."
    return (
        f"{text} The data, code and training length of the paper are not public: this is the same problem by its"
        f" definition, with one draw of training samples and {run.training.num_steps} training steps for gola."
    )


def _place(error: float) -> str:
    if error < min(PUBLISHED.values()):
        return "below both"
    return "above both" if error > max(PUBLISHED.values()) else "between the two"
