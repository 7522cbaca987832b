"""Operators side by side: their runs over several seeds, summarised."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gola.runs.channels import ChannelError, mean_channel_errors
from gola.runs.result import Outcome, RunResult

ESTIMATES = {"cv_error": "cv error", "validation_error": "validation error"}
"""Scores that estimate the test error from the training samples alone, and their headings in tables."""
NOTABLE = 1.5
"""Times whose ratio is smaller are about the same."""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The runs of one operator, summarised.

    Attributes:
        operator: Its name, and preset where one was chosen.
        errors: Mean test error of each seed.
        channels: Mean test errors of each target channel over the seeds.
        estimates: Test errors that the fits estimated from the training samples alone; empty where they did not.
        estimate_kind: What those are, one of :data:`ESTIMATES`.
        fit_seconds: Median time to fit.
        predict_seconds: Median time to predict one sample.
        num_parameters: Median number of parameters.
        failures: Messages of failed runs, by seed.
    """

    operator: str
    errors: Mapping[int, float]
    channels: tuple[ChannelError, ...] = ()
    estimates: tuple[float, ...] = ()
    estimate_kind: str = ""
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    num_parameters: int = 0
    failures: Mapping[int, str] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """Mean error over the seeds; infinite where no run succeeded."""
        return statistics.fmean(self.errors.values()) if self.errors else float("inf")

    @property
    def spread(self) -> float | None:
        """Standard deviation of the error over the seeds; None for fewer than two."""
        return spread(self.errors.values())

    @property
    def estimate(self) -> float | None:
        """Mean of the estimated errors."""
        return statistics.fmean(self.estimates) if self.estimates else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "operator": self.operator,
            "error": self.mean if self.errors else None,
            "spread": self.spread,
            "errors": {str(seed): error for seed, error in self.errors.items()},
            "channels": [channel.to_dict() for channel in self.channels],
            "estimate": self.estimate,
            "estimate_kind": self.estimate_kind or None,
            "fit_seconds": self.fit_seconds,
            "predict_seconds": self.predict_seconds,
            "num_parameters": self.num_parameters,
            "failures": {str(seed): message for seed, message in self.failures.items()},
        }


def summarise(outcomes: Iterable[Outcome]) -> list[Summary]:
    """Summarise the runs of each operator, the lowest error first."""
    by_operator: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_operator.setdefault(outcome.run.operator, []).append(outcome)
    return sorted((_summary(name, runs) for name, runs in by_operator.items()), key=lambda summary: summary.mean)


def clearly_below(first: Mapping[int, float], second: Mapping[int, float]) -> bool:
    """Whether errors are lower in every seed or fold, and on average by more than the differences scatter.

    Runs of the same seed or fold share their samples, so differences are paired: what makes a draw of samples hard for
    all operators cancels. At least two draws are needed.

    >>> clearly_below({0: 0.10, 1: 0.20}, {0: 0.15, 1: 0.26}), clearly_below({0: 0.10, 1: 0.20}, {0: 0.19, 1: 0.18})
    (True, False)
    """
    differences = [second[draw] - first[draw] for draw in first if draw in second]
    if len(differences) < 2:
        return False
    return min(differences) > 0 and statistics.fmean(differences) > statistics.stdev(differences)


def spread(errors: Iterable[float]) -> float | None:
    """Return the standard deviation of errors as an estimate from a sample; None for fewer than two."""
    values = list(errors)
    return statistics.stdev(values) if len(values) > 1 else None


def error_text(mean: float, deviation: float | None) -> str:
    """Format an error with its spread.

    >>> error_text(0.06234, 0.0041), error_text(0.5, None)
    ('0.0623 ± 0.0041', '0.5000')
    """
    return f"{mean:.4f}" if deviation is None else f"{mean:.4f} ± {deviation:.4f}"


def _summary(operator: str, outcomes: Sequence[Outcome]) -> Summary:
    results = [outcome for outcome in outcomes if isinstance(outcome, RunResult)]
    failures = {outcome.run.seed: outcome.message for outcome in outcomes if not isinstance(outcome, RunResult)}
    if not results:
        return Summary(operator=operator, errors={}, failures=failures)
    score = next((name for name in ESTIMATES if all(name in result.scores for result in results)), None)
    return Summary(
        operator=operator,
        errors={result.run.seed: result.error for result in results},
        channels=mean_channel_errors([result.channels for result in results]),
        estimates=() if score is None else tuple(result.scores[score] for result in results),
        estimate_kind="" if score is None else ESTIMATES[score],
        fit_seconds=statistics.median(result.fit_seconds for result in results),
        predict_seconds=statistics.median(result.predict_seconds for result in results),
        num_parameters=round(statistics.median(result.num_parameters for result in results)),
        failures=failures,
    )
