"""Every combination of some settings, each evaluated by cross-validation on the training samples."""

import itertools
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gola.protocol import TrainingConfig
from gola.runs.checks import require_alike
from gola.runs.comparison import NOTABLE, clearly_below, spread
from gola.runs.config import RunConfig, as_text
from gola.runs.result import Outcome, RunResult


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One combination of settings, with the errors of its folds.

    Attributes:
        settings: Changes to the operator's preset.
        training: Changes to how it is trained.
        errors: Mean error on the held-out samples of each fold.
        fit_seconds: Median time to fit.
        failures: Messages of failed runs, by fold.
    """

    settings: Mapping[str, Any]
    training: Mapping[str, Any]
    errors: Mapping[int, float]
    fit_seconds: float = 0.0
    failures: Mapping[int, str] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """Mean error over the folds; infinite where one of them failed, since the others may be the easy ones."""
        return float("inf") if self.failures else statistics.fmean(self.errors.values())

    @property
    def spread(self) -> float | None:
        """Standard deviation of the error over the folds."""
        return spread(self.errors.values())

    @property
    def label(self) -> str:
        """The settings as text."""
        return " ".join(f"{name}={as_text(value)}" for name, value in {**self.settings, **self.training}.items())

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "settings": dict(self.settings),
            "training": dict(self.training),
            "error": None if self.failures else self.mean,
            "spread": self.spread,
            "errors": {str(fold): error for fold, error in self.errors.items()},
            "fit_seconds": self.fit_seconds,
            "failures": {str(fold): message for fold, message in self.failures.items()},
        }


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A grid of settings.

    Attributes:
        base: What all runs have in common.
        settings: Values to try of the operator's settings.
        training: Values to try of how to train.
        num_folds: Folds that the training samples are split into; each is held out once.
    """

    base: RunConfig
    settings: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    training: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    num_folds: int = 3

    def __post_init__(self) -> None:
        if self.training and not self.base.heeds("training"):
            raise ValueError(
                f"{self.base.operator} ignores training settings, so there is nothing to choose for"
                f" {', '.join(self.training)}; leave it out."
            )
        for _, training in self.combinations():
            require_alike(training, TrainingConfig().to_dict(), "Training")

    def combinations(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Return every combination, as settings of the operator and of the training."""
        return list(itertools.product(_grid(self.settings), _grid(self.training)))

    def runs(self) -> list[RunConfig]:
        """Return a run for every combination and fold, fold by fold."""
        return [
            self._run(settings, training, fold)
            for fold in range(self.num_folds)
            for settings, training in self.combinations()
        ]

    def candidates(self, outcomes: Sequence[Outcome]) -> list[Candidate]:
        """Collect the folds of every combination, the lowest error first.

        Args:
            outcomes: Outcomes of :meth:`runs`, in the same order.
        """
        combinations = self.combinations()
        found = [
            _candidate(settings, training, outcomes[number :: len(combinations)])
            for number, (settings, training) in enumerate(combinations)
        ]
        return sorted(found, key=lambda candidate: candidate.mean)

    def _run(self, settings: Mapping[str, Any], training: Mapping[str, Any], fold: int) -> RunConfig:
        return replace(
            self.base,
            settings={**self.base.settings, **settings},
            training=TrainingConfig.from_dict({**self.base.training.to_dict(), **training}),
            num_folds=self.num_folds,
            fold=fold,
        )


def advice(candidates: Sequence[Candidate]) -> str:
    """Say how sure it is that the first candidate is the best."""
    sound = [candidate for candidate in candidates if not candidate.failures]
    if not sound:
        return "No combination succeeded in all its folds."
    best, *others = sound
    if not others:
        return "There is only one combination, so there was nothing to compare."
    close = [other for other in others if not clearly_below(best.errors, other.errors)]
    if not close:
        return f"It has a lower error than {_others(len(others))} in every fold."
    cheapest = min(close, key=lambda candidate: candidate.fit_seconds)
    quicker = cheapest.fit_seconds * NOTABLE <= best.fit_seconds
    saving = f", of which {cheapest.label} is the fastest to fit" if quicker else ""
    which = _others(1) if len(others) == 1 else f"{len(close)} of {_others(len(others))}"
    return f"The {len(best.errors)} folds cannot distinguish {which} from it{saving}."


def _others(count: int) -> str:
    return "the other one" if count == 1 else f"the {count} others"


def _candidate(settings: Mapping[str, Any], training: Mapping[str, Any], outcomes: Sequence[Outcome]) -> Candidate:
    results = {fold: outcome for fold, outcome in enumerate(outcomes) if isinstance(outcome, RunResult)}
    failures = {fold: outcome.message for fold, outcome in enumerate(outcomes) if not isinstance(outcome, RunResult)}
    return Candidate(
        settings=settings,
        training=training,
        errors={fold: result.error for fold, result in results.items()},
        fit_seconds=statistics.median(result.fit_seconds for result in results.values()) if results else 0.0,
        failures=failures,
    )


def _grid(choices: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())]
