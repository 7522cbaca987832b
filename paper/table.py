"""The table of all finished runs: one CSV file, a line for each."""

import csv
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from gola.files import replacing
from gola.protocol import TrainingConfig
from gola.runs import RunConfig
from paper.rows import NOT_KNOWN, Errors, Row, as_json

_ERRORS = {"error": "mean", "error_std": "std", "error_median": "median", "error_max": "largest"}
_SCORES = ("training_error", "validation_error", "cv_error")
COLUMNS = (
    *("problem", "operator", "variant", "settings", "training"),
    *("num_train", "num_test", "num_points", "redrawn", "seed"),
    *(*_ERRORS, "by_points", *_SCORES),
    *("num_parameters", "fit_seconds", "predict_seconds", "seconds", "num_threads", "why"),
    *("data", "versions", "code_version", "finished"),
)
"""Columns of the file; ``docs/reproducing.md`` explains them."""
_TRUTHS = {"True": True, "False": False}


@dataclass(frozen=True)
class RunTable:
    """Finished runs on disk, the oldest first.

    Attributes:
        path: The file; made when the first run is added.
    """

    path: Path

    def rows(self) -> list[Row]:
        """Read all rows.

        Raises:
            ValueError: If a line cannot be read, with its number.
        """
        if not self.path.exists():
            return []
        with self.path.open(newline="", encoding="utf-8") as file:
            return [self._read(number, line) for number, line in enumerate(csv.DictReader(file), start=1)]

    def add(self, rows: Iterable[Row]) -> int:
        """Add finished runs that the table does not have yet, and return how many."""
        known = self.rows()
        merged = {_identity(row): row for row in known}
        for row in rows:
            merged.setdefault(_identity(row), row)
        if len(merged) > len(known):
            self._write(sorted(merged.values(), key=lambda row: row.finished))
        return len(merged) - len(known)

    def _write(self, rows: Iterable[Row]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self.path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(_line(row) for row in rows)

    def _read(self, number: int, line: Mapping[str, str]) -> Row:
        try:
            return _row(line)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"Row {number} of {self.path} cannot be read ({error}); correct it, or delete it to do its run again."
            ) from error


def _identity(row: Row) -> tuple[object, ...]:
    return row.key, row.run.seed, tuple(sorted(row.by_points)), row.data, row.code_version


def _line(row: Row) -> dict[str, object]:
    run = row.run
    by_points = {
        str(number): [_rounded(value) for value in astuple(errors)] for number, errors in row.by_points.items()
    }
    return {
        "problem": row.problem,
        "operator": run.operator,
        "variant": row.variant,
        "settings": as_json(run.settings),
        "training": row.key.training,
        "num_train": _count_text(run.num_train),
        "num_test": _count_text(run.num_test),
        "num_points": _count_text(run.num_points),
        "redrawn": run.whole_training,
        "seed": run.seed,
        **{column: _rounded(getattr(row.errors, name)) for column, name in _ERRORS.items()},
        "by_points": as_json(by_points),
        **{name: _rounded(row.scores.get(name, NOT_KNOWN)) for name in _SCORES},
        **{name: _rounded(getattr(row, name), 4) for name in ("fit_seconds", "predict_seconds", "seconds")},
        **{name: getattr(row, name) for name in ("num_parameters", "num_threads")},
        **{name: getattr(row, name) for name in ("why", "data", "versions", "code_version", "finished")},
    }


def _row(line: Mapping[str, str]) -> Row:
    by_points = {int(number): Errors(*map(_number, values)) for number, values in _values(line["by_points"]).items()}
    run = RunConfig(
        data=line["problem"],
        operator=line["operator"],
        settings=_values(line["settings"]),
        training=TrainingConfig.from_dict(_values(line["training"])),
        num_train=_count(line["num_train"]),
        num_test=_count(line["num_test"]),
        num_points=_count(line["num_points"]),
        whole_training=_TRUTHS[line["redrawn"]],
        test_points=tuple(sorted(by_points)),
        seed=int(line["seed"]),
    )
    return Row(
        run=run,
        variant=line["variant"],
        data=line["data"],
        errors=Errors(*(_number(line[column]) for column in _ERRORS)),
        by_points=by_points,
        scores={name: float(line[name]) for name in _SCORES if line[name]},
        num_parameters=int(line["num_parameters"]) if line["num_parameters"] else None,
        fit_seconds=_number(line["fit_seconds"]),
        predict_seconds=_number(line["predict_seconds"]),
        seconds=_number(line["seconds"]),
        num_threads=int(line["num_threads"]) if line["num_threads"] else None,
        why=line["why"],
        versions=line["versions"],
        code_version=line["code_version"],
        finished=line["finished"],
    )


def _values(text: str) -> dict[str, Any]:
    return json.loads(text) if text else {}


def _count_text(count: int | None) -> str:
    return "all" if count is None else f"{count}"


def _count(text: str) -> int | None:
    return None if text == "all" else int(text)


def _rounded(value: float, num_digits: int = 8) -> float | None:
    """Keep that many significant digits; None where nothing is known."""
    return None if math.isnan(value) else float(f"{value:.{num_digits}g}")


def _number(value: str | float | None) -> float:
    return NOT_KNOWN if value is None or value == "" else float(value)
