"""Finished runs in a CSV file: each is written as soon as it ends, and none is done twice."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Runs:
    """The runs of one study.

    Attributes:
        path: The file.
        columns: Its columns.
        keys: Those that tell runs apart.
    """

    path: Path
    columns: Sequence[str]
    keys: Sequence[str]

    def finished(self) -> list[dict[str, str]]:
        """Return the rows that are on disk."""
        if not self.path.exists():
            return []
        with self.path.open() as file:
            return list(csv.DictReader(file))

    def is_done(self, *key: object) -> bool:
        """Whether the run with these values of the keys is on disk."""
        return [str(value) for value in key] in [[row[name] for name in self.keys] for row in self.finished()]

    def append(self, *values: object) -> None:
        """Add a finished run, and show it."""
        row = dict(zip(self.columns, values, strict=True))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = not self.path.exists()
        with self.path.open("a", newline="") as file:
            writer = csv.DictWriter(file, self.columns)
            if new:
                writer.writeheader()
            writer.writerow(row)
        print(row, flush=True)
