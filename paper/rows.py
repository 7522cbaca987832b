"""One finished run: what was done, and the few numbers that are kept of it."""

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gola.runs import RunConfig, RunResult

NOT_KNOWN = math.nan


@dataclass(frozen=True, kw_only=True)
class Key:
    """What runs have in common that answer the same question, whatever their seed, machine and code version.

    Attributes:
        problem: Name of the problem.
        operator: Name of the operator, and preset where it is not the default.
        variant: What was done in a way that no setting describes, see :mod:`paper.ablation.other_trainings`.
        settings: Changes to the preset, as JSON.
        training: How it was trained, as JSON; empty for operators that decide that by themselves.
        num_train: Training samples.
        num_test: Test samples.
        num_points: Points of each sample; None for all.
        redrawn: Whether the points of training samples are drawn again in every epoch, from all that they have.
    """

    problem: str
    operator: str
    variant: str = ""
    settings: str
    training: str
    num_train: int | None
    num_test: int | None
    num_points: int | None
    redrawn: bool = False

    @classmethod
    def of(cls, run: RunConfig, variant: str = "") -> "Key":
        """Return the key of a run."""
        return cls(
            problem=problem_of(run),
            operator=run.operator.removesuffix("/default"),
            variant=variant,
            settings=as_json(run.settings),
            training=as_json(run.training.to_dict()) if run.heeds("training") else "",
            num_train=run.num_train,
            num_test=run.num_test,
            num_points=run.num_points,
            redrawn=run.whole_training,
        )


@dataclass(frozen=True)
class Errors:
    """What is kept of the relative L2 errors of some test samples.

    Attributes:
        mean: Their mean.
        std: Their standard deviation, as an estimate from a sample.
        median: Their median.
        largest: The largest of them.
    """

    mean: float
    std: float = NOT_KNOWN
    median: float = NOT_KNOWN
    largest: float = NOT_KNOWN

    @classmethod
    def of(cls, errors: Sequence[float]) -> "Errors":
        """Summarise the errors of single samples."""
        std = statistics.stdev(errors) if len(errors) > 1 else NOT_KNOWN
        return cls(statistics.fmean(errors), std, statistics.median(errors), max(errors))


@dataclass(frozen=True, kw_only=True)
class Row:
    """A finished run. Numbers that were not recorded are NaN or None, texts empty.

    Attributes:
        run: Its settings, with the name of the problem for its data.
        variant: See :class:`Key`.
        data: Fingerprint of the data set.
        errors: On the test samples.
        by_points: The same at further numbers of points.
        scores: Errors known from fitting: ``training_error``, ``validation_error``, ``cv_error``.
        num_parameters: A complex number counted once.
        fit_seconds: Time to fit.
        predict_seconds: Median time to predict one sample.
        seconds: Time in all.
        num_threads: Threads that it had.
        why: Why an automatic choice kept what it kept.
        versions: Of the packages that matter.
        code_version: Of the code that decides results.
        finished: When, in UTC.
    """

    run: RunConfig
    variant: str = ""
    data: str = ""
    errors: Errors
    by_points: Mapping[int, Errors] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    num_parameters: int | None = None
    fit_seconds: float = NOT_KNOWN
    predict_seconds: float = NOT_KNOWN
    seconds: float = NOT_KNOWN
    num_threads: int | None = None
    why: str = ""
    versions: str = ""
    code_version: str = ""
    finished: str = ""

    @classmethod
    def of(cls, result: RunResult) -> "Row":
        """Keep the few numbers of a result that tables and figures need."""
        return cls(
            run=replace(result.run, data=problem_of(result.run)),
            data=result.data,
            errors=Errors.of(result.errors),
            by_points={number: Errors.of(errors) for number, errors in result.errors_by_points.items()},
            scores=dict(result.scores),
            num_parameters=result.num_parameters,
            fit_seconds=result.fit_seconds,
            predict_seconds=result.predict_seconds,
            seconds=result.seconds,
            num_threads=result.num_threads,
            why=result.why,
            versions=versions_text(result.versions),
            code_version=result.code_version,
            finished=result.finished,
        )

    @property
    def key(self) -> Key:
        """What it has in common with runs of other seeds."""
        return Key.of(self.run, self.variant)

    @property
    def problem(self) -> str:
        """Name of the problem."""
        return problem_of(self.run)

    def errors_at(self, num_points: int | None) -> Errors:
        """Return the errors at a further number of points, or at that of the training samples for None."""
        return self.errors if num_points is None else self.by_points[num_points]

    def answers(self, run: RunConfig) -> bool:
        """Whether this row, of the same key, has all the numbers that a run would give."""
        return set(run.test_points) <= set(self.by_points)

    def as_result(self) -> RunResult:
        """Return what is left of the result, to estimate the time of other runs; the mean stands for all errors."""
        return RunResult(
            run=self.run,
            data=self.data,
            errors=(self.errors.mean,),
            num_parameters=self.num_parameters or 0,
            fit_seconds=self.fit_seconds,
            predict_seconds=self.predict_seconds,
            seconds=self.seconds,
            code_version=self.code_version,
            finished=self.finished,
        )


def problem_of(run: RunConfig) -> str:
    """Return the name of a run's problem, which its data are named by."""
    return Path(run.data).stem


def as_json(values: Mapping[str, Any]) -> str:
    """Write settings in one way only, so that equal ones are equal texts.

    >>> as_json({"b": (1, 2), "a": None}), as_json({})
    ('{"a": null, "b": [1, 2]}', '')
    """
    return json.dumps(dict(values), sort_keys=True) if values else ""


def versions_text(versions: Mapping[str, str]) -> str:
    """Write versions of packages down.

    >>> versions_text({"gola": "0.2.0", "numpy": "2.4.6"})
    'gola 0.2.0, numpy 2.4.6'
    """
    return ", ".join(f"{name} {version}" for name, version in versions.items())
