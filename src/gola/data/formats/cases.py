"""A table of cases: the parameters of each simulation, by the name of its file or row by row."""

import csv
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from gola.data.sample import Channel
from gola.data.validation import as_channels

_NAMING = ("file", "files", "filename", "file name", "path", "name", "case", "sample", "run", "id")
"""Columns that say which simulation a row belongs to, in small letters."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CaseTable:
    """Parameters of simulations.

    Attributes:
        path: The file it was read from.
        channels: Name and unit of each parameter.
        values: A row for each simulation.
        names: What the rows are called, usually a file; None where they are told by their order.
    """

    path: Path
    channels: tuple[Channel, ...]
    values: Float[np.ndarray, "row parameter"]
    names: tuple[str, ...] | None = None

    def rows_for(self, files: Sequence[str]) -> list[int]:
        """Return the row of each simulation.

        Args:
            files: The file of each simulation; one that holds several comes several times.

        Raises:
            ValueError: If a file has no row, or there are no names and not as many rows as simulations.
        """
        if self.names is not None and len(set(files)) == len(files):
            found = self._by_name(files)
            missing = [file for file in files if file not in found]
            if not missing:
                return self._each_its_own(found, files)
            if found or not self._names_are_numbers:
                raise ValueError(
                    f"{self.path} has no row for {missing[0]} ({len(missing)} of {len(files)} files lack one); its rows"
                    f" are called {', '.join(self.names[:3])}, …"
                )
        if len(self.values) != len(files):
            raise ValueError(
                f"{self.path} has {len(self.values)} rows for {len(files)} simulations; give one row for each, in the"
                " same order, or a column `file` with their names."
            )
        return list(range(len(files)))

    def _each_its_own(self, found: Mapping[str, int], files: Sequence[str]) -> list[int]:
        rows = [found[file] for file in files]
        for place, row in enumerate(rows):
            if row in rows[:place]:
                assert self.names is not None
                first = files[rows.index(row)]
                raise ValueError(
                    f"{self.path}: the row {self.names[row]!r} fits {first} and {files[place]}; write their paths into"
                    " the table, or say that they are a series if they are the times of one simulation."
                )
        return rows

    def row_named(self, file: str) -> int | None:
        """Return the row that is called like a file, if there is one."""
        return None if self.names is None else self._by_name([file]).get(file)

    @property
    def _names_are_numbers(self) -> bool:
        return all(name.isdecimal() for name in self.names or ())

    def _by_name(self, files: Sequence[str]) -> dict[str, int]:
        assert self.names is not None
        rows = {name: row for row, name in enumerate(self.names)}
        found = {}
        for file in files:
            path = Path(file)
            likely = [file, path.name, path.stem, *(part.as_posix() for part in _tails(path))]
            row = next((rows[name] for name in likely if name in rows), None)
            if row is not None:
                found[file] = row
        if found or not self._names_are_numbers:
            return found
        return self._by_number(files)

    def _by_number(self, files: Sequence[str]) -> dict[str, int]:
        """Match case 7 with case_007.vtu, where the last numbers in the names of the files tell them apart."""
        rows = {int(name): row for row, name in enumerate(self.names or ())}
        numbers = {file: re.findall(r"\d+", Path(file).stem) for file in files}
        last = {file: int(found[-1]) for file, found in numbers.items() if found}
        if len(set(last.values())) < len(files):
            return {}
        return {file: rows[number] for file, number in last.items() if number in rows}


def read_cases(path: str | Path) -> CaseTable:
    """Read a table with one row per simulation: parameters, with units in brackets, and perhaps a column of names.

    Raises:
        ValueError: If it is not such a table; the row and the column are named.
    """
    path = Path(path)
    headings, rows = _read_texts(path)
    naming = _naming_column(headings, rows, path)
    names = None if naming is None else _names([row[naming] for row in rows], headings[naming], path)
    columns = [column for column in range(len(headings)) if column != naming]
    if not columns:
        raise ValueError(f"{path} names simulations and has no parameters; add a column for each.")
    channels = as_channels([Channel.parse(headings[column]) for column in columns])
    values = [
        [_number(row[column], f"{path}, row {number}, column {headings[column]!r}") for column in columns]
        for number, row in enumerate(rows, start=1)
    ]
    return CaseTable(path=path, channels=channels, values=np.array(values), names=names)


def _read_texts(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the headings and the rows of a table of texts."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as a table of parameters ({error}).") from error
    lines = [line for line in text.splitlines() if line.strip().strip(",;")]
    if len(lines) < 2:
        raise ValueError(f"{path} needs a first line that names the parameters, and a row for each simulation.")
    delimiter = max(",;\t", key=lines[0].count)
    try:
        table = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    except csv.Error as error:
        raise ValueError(f"{path} is not a table ({error}).") from error
    headings = [heading.strip() for heading in table[0]]
    for number, row in enumerate(table[1:], start=1):
        if len(row) != len(headings):
            raise ValueError(
                f"{path}, row {number} has {len(row)} entries; the first line names {len(headings)} columns."
            )
    return headings, [[entry.strip() for entry in row] for row in table[1:]]


def _naming_column(headings: Sequence[str], rows: Sequence[Sequence[str]], path: Path) -> int | None:
    """Return the column that says which simulation a row belongs to: by its heading, or the only one of texts."""
    by_heading = [column for column, heading in enumerate(headings) if heading.lower() in _NAMING]
    of_texts = [column for column in range(len(headings)) if not all(_is_number(row[column]) for row in rows)]
    if by_heading:
        return next((column for column in by_heading if column in of_texts), by_heading[0])
    # A column with a few words among numbers is a mistake in a parameter, which is named when it is read.
    words = [
        column for column in of_texts if not any(_is_number(row[column]) or _has_comma(row[column]) for row in rows)
    ]
    if len(words) > 1:
        raise ValueError(
            f"{path} has several columns of texts, {', '.join(headings[column] for column in words)}; call the one with"
            " the names of the files `file`, and leave the others out."
        )
    return words[0] if words else None


def _names(names: Sequence[str], heading: str, path: Path) -> tuple[str, ...]:
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise ValueError(
            f"{path} has {names.count(repeated)} rows called {repeated!r} in the column {heading!r}, which is taken for"
            " the names of the files; each simulation needs its own row. Parameters must be numbers."
        )
    return tuple(names)


def _of_commas(text: str) -> str:
    """Say what to do about a number like 1,5."""
    return f" Numbers need a decimal point: {text.replace(',', '.')}, not {text}." if _has_comma(text) else ""


def _has_comma(text: str) -> bool:
    return text.count(",") == 1 and _is_number(text.replace(",", "."))


def _tails(path: Path) -> list[Path]:
    """Return the ends of a path, with and without suffix, and the folders in it."""
    ends = [Path(*path.parts[start:]) for start in range(len(path.parts))]
    # A folder may be what tells simulations apart: case_1/result.vtu.
    return [*ends, *(end.with_suffix("") for end in ends), *(Path(part) for part in reversed(path.parts[:-1]))]


def _number(text: str, place: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"{place} is {text!r}; a parameter is a number.{_of_commas(text)}") from None
    if not math.isfinite(number):
        raise ValueError(f"{place} is {text}; a parameter is a finite number.")
    return number


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def parse_numbers(texts: Sequence[str]) -> dict[Channel, float]:
    """Read parameters, with their units if they say any, as a command line gives them.

    >>> parse_numbers(["Re = 120", "angle [deg]=5"])
    {Channel(name='Re', unit=''): 120.0, Channel(name='angle', unit='deg'): 5.0}
    """
    numbers: dict[Channel, float] = {}
    for text in texts:
        name, separator, number = (part.strip() for part in text.rpartition("="))
        if not separator or not name:
            raise ValueError(f"A parameter is a name and a number, like Re=120; got {text!r}.")
        channel = Channel.parse(name)
        if channel.name in {known.name for known in numbers}:
            raise ValueError(f"The parameter {channel.name} is given twice.")
        numbers[channel] = _number(number, f"The parameter {channel.name}")
    return numbers
