"""A folder of results: one small file for each run, written as soon as the run ends."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gola.files import CHECKSUM, json_checksum, write_json
from gola.runs.config import RunConfig
from gola.runs.fingerprints import code_version
from gola.runs.result import Outcome, RunFailure, RunResult

FORMAT = "gola run"
FORMAT_VERSION = 1
_FAILED = ".failed.json"


@dataclass(frozen=True, kw_only=True)
class ResultFolder:
    """Results of runs on disk, each in a file named by the content of its settings and data, and by the code version.

    A result of another code version is another file, so they never replace each other.

    Attributes:
        path: The folder; created with the first result.
    """

    path: Path

    def results(self) -> list[RunResult]:
        """Read all results, of all code versions, the oldest first.

        Raises:
            ValueError: If a file is damaged or of a newer format.
        """
        paths = [path for path in sorted(self.path.glob("*.json")) if not path.name.endswith(_FAILED)]
        found = [_read(path) for path in paths]
        return sorted((result for result in found if result is not None), key=lambda result: result.finished)

    def write(self, outcome: Outcome) -> Path:
        """Write a result, or the record of a failure; a crash never leaves half a file."""
        failed = isinstance(outcome, RunFailure)
        path = self.place_of(outcome.run, _FAILED if failed else ".json")
        self.path.mkdir(parents=True, exist_ok=True)
        write_json(path, {"format": FORMAT, "version": FORMAT_VERSION, **outcome.to_dict()})
        if not failed:
            self.place_of(outcome.run, _FAILED).unlink(missing_ok=True)
        return path

    def place_of(self, run: RunConfig, suffix: str) -> Path:
        """Return the path of something that belongs to a run and the current version of its code."""
        return self.path / f"{run.name}-{code_version(run.operator)}{suffix}"


def _read(path: Path) -> RunResult | None:
    """Read a result; None for a file of something else."""
    try:
        values: Any = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
            return None
        stored = values.pop(CHECKSUM, None)
        # Results that were written before there were checksums have none.
        if stored is not None and stored != json_checksum({"format": FORMAT, **values}):
            raise ValueError("its checksum does not fit its content")
        version = values.pop("version")
        if type(version) is not int or version < 1:
            raise ValueError(f"its format version is {version!r}")
        if version > FORMAT_VERSION:
            raise ValueError(f"its format version is {version} and this gola knows {FORMAT_VERSION}; update gola")
        result = RunResult.from_dict(values)
        _require_types(result)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"{path} cannot be read as the result of a run ({error}); delete it to repeat the run."
        ) from error
    return result


def _require_types(result: RunResult) -> None:
    """Check what tables are made of."""
    numbers = [*result.errors, *(error for errors in result.errors_by_points.values() for error in errors)]
    numbers += [result.num_parameters, result.fit_seconds, result.predict_seconds, result.seconds]
    wrong = next((value for value in numbers if not isinstance(value, int | float)), None)
    if wrong is not None or not result.errors:
        raise ValueError(f"its errors and times must be numbers; one is {wrong!r}")
    if not isinstance(result.finished, str) or not isinstance(result.scores, dict):
        raise ValueError("`finished` must be a text and `scores` numbers by name")
