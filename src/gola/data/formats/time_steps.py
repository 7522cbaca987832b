"""One trajectory from many files: each holds one time of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float

from gola.data.formats.case import Case
from gola.data.formats.cases import read_cases
from gola.data.times import checked_times

# The last number in a name, with a decimal point perhaps, as in step_0010.vtu and T_0.25.vtu.
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?!.*\d)")
_TIME = ("time", "times", "t")
"""Columns of a table that hold times, in small letters."""


@dataclass(frozen=True, kw_only=True)
class NumberedFiles:
    """The files of one trajectory, told apart by a number in their names.

    Attributes:
        pattern: Their name, with a star for the number.
        paths: The files, by ascending number.
        numbers: The numbers.
    """

    pattern: Path
    paths: tuple[Path, ...]
    numbers: tuple[float, ...]


def grouped(paths: Sequence[Path]) -> list[NumberedFiles]:
    """Return files as trajectories: those whose paths differ in one number only belong together.

    It is the last number in the name of the file or, where this has none, of its folder.

    >>> names = ["case_1/T_1.vtu", "case_1/T_2.vtu", "case_2/T_1.vtu", "case_2/T_2.vtu"]
    >>> [str(one.pattern) for one in grouped([Path(name) for name in names])]
    ['case_1/T_*.vtu', 'case_2/T_*.vtu']

    Raises:
        ValueError: If a file has no number, or a trajectory only one file.
    """
    found: dict[Path, dict[float, Path]] = {}
    for path in paths:
        pattern, number = _numbered(path)
        steps = found.setdefault(pattern, {})
        if number in steps:
            raise ValueError(
                f"{steps[number]} and {path} have the same number, {number:g}; one of them is one too many."
            )
        steps[number] = path
    for pattern, steps in found.items():
        if len(steps) < 2:
            raise ValueError(
                f"{next(iter(steps.values()))} is the only file of its trajectory {pattern}; a series needs two or more"
                " files whose names differ in their last number."
            )
    return [
        NumberedFiles(
            pattern=pattern, paths=tuple(steps[number] for number in sorted(steps)), numbers=tuple(sorted(steps))
        )
        for pattern, steps in found.items()
    ]


def given_times(times: Path, files: Sequence[Path]) -> list[float]:
    """Read the times of some files: a number for each of them in their order, or a table with columns file and time.

    Raises:
        ValueError: If it is neither, or a file has no time.
    """
    try:
        return [float(text) for text in times.read_text(encoding="utf-8-sig").replace(",", " ").split()]
    except OSError as error:
        raise ValueError(f"{times} cannot be read as times ({error.strerror}).") from error
    except ValueError:
        table = read_cases(times)
    names = [channel.name.lower() for channel in table.channels]
    column = 0 if len(names) == 1 else next((place for place, name in enumerate(names) if name in _TIME), None)
    if column is None:
        raise ValueError(f"{times} has the columns {', '.join(names)}; call the one with the times `time`.")
    if table.names is None:
        return [float(row[column]) for row in table.values]
    return [float(row[column]) for row in table.values[table.rows_for([str(file) for file in files])]]


def joined(steps: Sequence[Case], times: Sequence[float] | Float[np.ndarray, " time"], label: str) -> Case:
    """Join the times of a trajectory to one case; what is the same at all times is constant.

    Raises:
        ValueError: If points move, or there are not as many times as steps, or they do not ascend.
    """
    first = steps[0]
    if len(times) != len(steps):
        raise ValueError(f"{label} has {len(steps)} files and {len(times)} times; give one time for each file.")
    for step in steps[1:]:
        if step.points.shape != first.points.shape or not np.array_equal(step.points, first.points):
            raise ValueError(
                f"{step.label} does not have the points of {first.label}; a trajectory has the same points at all"
                " times. Interpolate to the points of one time, or keep the mesh and write the displacement as a field."
            )
    constant, series, unusable = _merged([step.arrays for step in steps], [step.label for step in steps])
    numbers, changing, _ = _merged([_as_arrays(step.parameters) for step in steps], [step.label for step in steps])
    # A number that changes with time is a function of time, the same at all points.
    spread = {
        name: np.broadcast_to(array[:, None], (len(steps), len(first.points))) for name, array in changing.items()
    }
    return replace(
        first,
        label=label,
        arrays=constant,
        series={**spread, **series},
        parameters={name: float(number) for name, number in numbers.items()},
        unusable={**first.unusable, **unusable},
        times=checked_times(times, label),
    )


def _merged(
    steps: Sequence[Mapping[str, np.ndarray]], labels: Sequence[str]
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], dict[str, str]]:
    """Return what is the same in all steps, what changes with an axis for the time, and what cannot be joined."""
    constant, series, unusable = {}, {}, {}
    for name in dict.fromkeys(name for step in steps for name in step):
        lacking = [label for step, label in zip(steps, labels, strict=True) if name not in step]
        if lacking:
            unusable[name] = f"{lacking[0]} does not have it"
            continue
        values = [step[name] for step in steps]
        if len({value.shape for value in values}) > 1:
            unusable[name] = "its shape changes with time"
        elif all(np.array_equal(value, values[0], equal_nan=True) for value in values[1:]):
            constant[name] = values[0]
        else:
            series[name] = np.stack(values)
    return constant, series, unusable


def _as_arrays(numbers: Mapping[str, float]) -> dict[str, np.ndarray]:
    return {name: np.array(number) for name, number in numbers.items()}


def _numbered(path: Path) -> tuple[Path, float]:
    """Return a path with a star for its last number, and that number."""
    for place in range(len(path.parts) - 1, -1, -1):
        name = path.parts[place]
        stem, suffix = (Path(name).stem, Path(name).suffix) if place == len(path.parts) - 1 else (name, "")
        number = _NUMBER.search(stem)
        if number is not None:
            starred = stem[: number.start()] + "*" + stem[number.end() :] + suffix
            return Path(*path.parts[:place], starred, *path.parts[place + 1 :]), float(number[0])
    raise ValueError(f"{path} has no number in its name by which to tell its time; name files like T_0001.vtu.")
