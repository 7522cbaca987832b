"""Operators side by side: what their runs over several seeds say."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gola.runs.result import Outcome, RunResult

ESTIMATES = {"cv_error": "left out", "validation_error": "validation"}
"""Scores by which a fit judges itself without test samples, and what people call them."""
NOTABLE = 1.5
"""Times whose ratio is smaller are about the same."""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What the runs of one operator say together.

    Attributes:
        operator: Its name, and preset where one was chosen.
        errors: Mean test error of each seed.
        own_errors: Errors that the fits themselves came up with, without test samples; empty where they did not.
        own_kind: What those are, one of :data:`ESTIMATES`.
        fit_seconds: Median time to fit.
        predict_seconds: Median time to predict one sample.
        num_parameters: Median number of parameters.
        failures: What went wrong, by seed.
    """

    operator: str
    errors: Mapping[int, float]
    own_errors: tuple[float, ...] = ()
    own_kind: str = ""
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    num_parameters: int = 0
    failures: Mapping[int, str] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """Mean error over the seeds; infinite where no run has ended well."""
        return statistics.fmean(self.errors.values()) if self.errors else float("inf")

    @property
    def spread(self) -> float | None:
        """Standard deviation of the error over the seeds; None for fewer than two."""
        return spread(self.errors.values())

    @property
    def own_error(self) -> float | None:
        """Mean of the errors that the fits themselves came up with."""
        return statistics.fmean(self.own_errors) if self.own_errors else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "operator": self.operator,
            "error": self.mean if self.errors else None,
            "spread": self.spread,
            "errors": {str(seed): error for seed, error in self.errors.items()},
            "own_error": self.own_error,
            "own_kind": self.own_kind or None,
            "fit_seconds": self.fit_seconds,
            "predict_seconds": self.predict_seconds,
            "num_parameters": self.num_parameters,
            "failures": {str(seed): message for seed, message in self.failures.items()},
        }


def summarise(outcomes: Iterable[Outcome]) -> list[Summary]:
    """Bring runs of the same operator together, the lowest error first."""
    by_operator: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_operator.setdefault(outcome.run.operator, []).append(outcome)
    return sorted((_summary(name, runs) for name, runs in by_operator.items()), key=lambda summary: summary.mean)


def clearly_below(first: Mapping[int, float], second: Mapping[int, float]) -> bool:
    """Whether errors are lower in every seed or fold, and on average by more than the differences scatter.

    Runs of the same seed or fold share their samples, so differences are taken one by one: what makes a draw of
    samples hard for all cancels. Two draws at least are needed to be clear.

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
    """Write an error with its spread.

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
        own_errors=() if score is None else tuple(result.scores[score] for result in results),
        own_kind="" if score is None else ESTIMATES[score],
        fit_seconds=statistics.median(result.fit_seconds for result in results),
        predict_seconds=statistics.median(result.predict_seconds for result in results),
        num_parameters=round(statistics.median(result.num_parameters for result in results)),
        failures=failures,
    )
