"""The result of a run, or its failure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gola.runs.channels import ChannelError
from gola.runs.config import RunConfig


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """A finished run, ready for JSON.

    Attributes:
        run: Its settings.
        data: Fingerprint of the data set.
        errors: Relative L2 error of each test sample.
        channels: Mean errors of each target channel; empty in results of earlier versions.
        errors_by_points: Those of ``errors`` at each further number of points.
        scores: Errors known from fitting: ``training_error``, ``validation_error``, ``cv_error``
            (on held-out training samples).
        operator: All settings of the operator, with those that the data decided.
        why: Why an automatic choice kept what it kept; empty for other operators.
        num_parameters: A complex number counted once.
        fit_seconds: Time to fit.
        predict_seconds: Median time to predict one sample.
        seconds: Total time, reading and evaluation included.
        num_threads: Number of threads.
        versions: Of the packages that matter.
        code_version: Of the code that decides results, see :func:`gola.runs.code_version`.
        finished: When, in UTC.
    """

    run: RunConfig
    data: str
    errors: tuple[float, ...]
    channels: tuple[ChannelError, ...] = ()
    errors_by_points: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    operator: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""
    num_parameters: int
    fit_seconds: float
    predict_seconds: float
    seconds: float
    num_threads: int = 1
    versions: Mapping[str, str] = field(default_factory=dict)
    code_version: str
    finished: str

    @property
    def error(self) -> float:
        """Mean error."""
        return sum(self.errors) / len(self.errors)

    def error_at(self, num_points: int) -> float:
        """Mean error at one of the further numbers of points."""
        errors = self.errors_by_points[num_points]
        return sum(errors) / len(errors)

    @property
    def identity(self) -> str:
        """That of the run, on the data it had."""
        return self.run.identity(self.data)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            **{name: value for name, value in vars(self).items() if name not in ("run", "errors_by_points")},
            "run": self.run.to_dict(),
            "error": self.error,
            "errors": list(self.errors),
            "channels": [channel.to_dict() for channel in self.channels],
            "errors_by_points": {str(number): list(errors) for number, errors in self.errors_by_points.items()},
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "RunResult":
        """Undo ``to_dict``."""
        by_points = {int(number): tuple(errors) for number, errors in values["errors_by_points"].items()}
        derived = {"error", "run", "errors", "channels", "errors_by_points"}
        return cls(
            **{name: value for name, value in values.items() if name not in derived},
            run=RunConfig.from_dict(values["run"]),
            errors=tuple(values["errors"]),
            channels=tuple(ChannelError(**channel) for channel in values.get("channels", ())),
            errors_by_points=by_points,
        )


@dataclass(frozen=True, kw_only=True)
class RunFailure:
    """A run that ended with an error.

    Attributes:
        run: Its settings.
        message: What went wrong, in one line.
        details: The traceback.
    """

    run: RunConfig
    message: str
    details: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"run": self.run.to_dict(), "message": self.message, "details": self.details}


Outcome = RunResult | RunFailure
