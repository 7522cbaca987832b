"""Checks on samples as they enter a data set: every mistake is named by sample, channel or parameter, and row."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from gola.data.sample import Channel, Sample
from gola.data.times import checked_times, input_tables, require_alike_in_time, target_tables

_OPTIONAL = ("boundary", "cells", "weights")


def as_channels(channels: Sequence[str | Channel]) -> tuple[Channel, ...]:
    """Turn names, or names with their units in brackets, into channels, and refuse a name that comes twice."""
    named = tuple(channel if isinstance(channel, Channel) else _channel(channel) for channel in channels)
    names = [channel.name for channel in named]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"Channel names must differ; {repeated[0]!r} comes {names.count(repeated[0])} times.")
    if "" in names:
        raise ValueError(f"A channel needs a name; channel {names.index('')} of {len(names)} has none.")
    return named


def _channel(name: str) -> Channel:
    return Channel.parse(name) if isinstance(name, str) and name.rstrip().endswith("]") else Channel(name=name)


def checked_samples(
    samples: Iterable[Sample],
    inputs: Sequence[Channel],
    targets: Sequence[Channel],
    parameters: Sequence[Channel] = (),
    labels: Iterable[str] | None = None,
) -> Iterator[Sample]:
    """Pass samples on one by one, each checked by itself and against the first.

    They are read once, so a generator may be larger than memory. Messages call them by their labels, or by number.
    """
    named = (f"Sample {index}" for index in itertools.count()) if labels is None else labels
    labelled = zip(samples, named, strict=False)
    return alike(
        (
            checked_sample(
                sample.points,
                sample.inputs,
                sample.targets,
                boundary=sample.boundary,
                cells=sample.cells,
                weights=sample.weights,
                parameter_values=sample.parameters,
                times=sample.times,
                inputs=inputs,
                targets=targets,
                parameters=parameters,
                label=label,
            ),
            label,
        )
        for sample, label in labelled
    )


def as_plain(array: np.ndarray) -> np.ndarray:
    """Return an array that PyTorch can share: with no axis that runs backwards, and not read-only."""
    if array.flags.writeable and all(stride >= 0 for stride in array.strides):
        return array
    return array.copy()


def alike(labelled_samples: Iterable[tuple[Sample, str]]) -> Iterator[Sample]:
    """Pass samples on one by one as long as they agree with the first in what the set has in common."""
    first = None
    for sample, label in labelled_samples:
        first = first or sample
        _require_alike(sample, first, label)
        yield sample


def checked_sample(
    points: Any,
    input_values: Any,
    target_values: Any,
    *,
    inputs: Sequence[Channel],
    targets: Sequence[Channel],
    parameters: Sequence[Channel] = (),
    parameter_values: Any = (),
    boundary: Any = None,
    cells: Any = None,
    weights: Any = None,
    times: Any = None,
    label: str,
) -> Sample:
    """Build a float64 sample from array-likes, or say what is wrong with them.

    Arrays that have the right type already are not copied.
    """
    points = _points(points, label)
    times = None if times is None else checked_times(times, label)
    return Sample(
        points=points,
        inputs=_values(input_values, "input", inputs, len(points), times, label),
        targets=_values(target_values, "target", targets, len(points), times, label),
        boundary=None if boundary is None else _boundary(boundary, len(points), label),
        cells=None if cells is None else _cells(cells, points, label),
        weights=None if weights is None else _weights(weights, len(points), label),
        parameters=_parameters(parameter_values, parameters, label),
        times=times,
    )


def _points(array: Any, label: str) -> Float[np.ndarray, "point dim"]:
    points = _numbers(array, "points", label)
    if points.ndim != 2 or points.shape[1] not in (1, 2, 3):
        raise ValueError(f"{label}: points must have shape (points, 1, 2 or 3 coordinates); got {points.shape}.")
    if len(points) == 0:
        raise ValueError(f"{label} has no points; leave it out.")
    _require_finite(points, tuple(f"coordinate {'xyz'[axis]}" for axis in range(points.shape[1])), label)
    return points


def _values(
    array: Any,
    role: str,
    channels: Sequence[Channel],
    num_points: int,
    times: Float[np.ndarray, " time"] | None,
    label: str,
) -> Float[np.ndarray, "*time point channel"]:
    """Return values as one column per channel; a plain vector is one channel, nothing is none."""
    values = None if array is None else _numbers(array, f"{role}s", label)
    allowed: list[tuple[int, ...]] = [(num_points,)]
    if times is None:
        values = np.empty((num_points, 0)) if values is None else values[:, None] if values.ndim == 1 else values
    elif role == "target":
        values, allowed = target_tables(values, len(times), num_points), [(len(times), num_points)]
    else:
        values = input_tables(values, len(channels), len(times), num_points)
        allowed.append((len(times), num_points))
    if values.shape[:-1] not in allowed:
        per_time = "" if times is None else f",{' perhaps' * (role == 'input')} for each of {len(times)} times"
        raise ValueError(
            f"{label}: {role}s must have one row for each of the {num_points} points and one column per channel"
            f"{per_time}; got shape {np.shape(array)}.{_hint(array, role, times)}"
        )
    if values.shape[-1] != len(channels):
        names = ", ".join(channel.name for channel in channels) or "none"
        raise ValueError(f"{label} has {values.shape[-1]} {role} channels; the data set has {len(channels)} ({names}).")
    _require_finite(values, tuple(f"{role} channel {channel.name!r}" for channel in channels), label)
    return values


def _hint(array: Any, role: str, times: Float[np.ndarray, " time"] | None) -> str:
    """Point to parameters where the inputs of a sample are a few numbers, and to times where there is an axis more."""
    if times is None and np.ndim(array) == 3:
        return " Several times of one simulation make a trajectory: give times too."
    if role == "input" and np.ndim(array) == 1:
        return " Numbers of a whole sample are parameters: Dataset.from_arrays(points, targets=..., parameters=...)."
    return ""


def _parameters(array: Any, channels: Sequence[Channel], label: str) -> Float[np.ndarray, " parameter"]:
    numbers = _numbers(array, "parameters", label) if np.size(array) else np.empty(0)
    if numbers.shape != (len(channels),):
        names = ", ".join(channel.name for channel in channels) or "none"
        raise ValueError(
            f"{label} has parameters of shape {numbers.shape}; it needs {len(channels)} numbers, one for each of"
            f" {names}."
        )
    for channel, number in zip(channels, numbers.tolist(), strict=True):
        if not np.isfinite(number):
            raise ValueError(
                f"{label}, parameter {channel.name!r} is {number}; it must be a finite number: repair or leave out this"
                " sample."
            )
    return numbers


def _boundary(array: Any, num_points: int, label: str) -> Bool[np.ndarray, " point"]:
    boundary = np.asarray(array)
    if boundary.dtype.kind not in "bui" or not np.isin(boundary, (0, 1)).all():
        raise ValueError(f"{label}: boundary must hold True or False for each point; got {boundary.dtype} values.")
    _require_one_per_point(boundary, "boundary", num_points, label)
    return as_plain(boundary.astype(bool, copy=False))


def _weights(array: Any, num_points: int, label: str) -> Float[np.ndarray, " point"]:
    weights = _numbers(array, "weights", label)
    _require_one_per_point(weights, "weights", num_points, label)
    _require_finite(weights[:, None], ("weights",), label)
    return weights


def _cells(array: Any, points: Float[np.ndarray, "point dim"], label: str) -> Int[np.ndarray, "cell vertex"]:
    cells = np.asarray(array)
    most = points.shape[1] + 1
    if cells.ndim != 2 or cells.dtype.kind not in "ui" or not 2 <= cells.shape[1] <= most:
        raise ValueError(
            f"{label}: cells must be whole numbers of shape (cells, 2 to {most} vertices) for points in "
            f"{points.shape[1]} dimensions; got {cells.dtype} of shape {cells.shape}."
        )
    outside = np.argwhere((cells < 0) | (cells >= len(points)))
    if len(outside):
        row, column = outside[0]
        raise ValueError(
            f"{label}: cell {row} refers to point {cells[row, column]}, but the points are numbered 0 to "
            f"{len(points) - 1}."
        )
    return as_plain(cells.astype(np.int64, copy=False))


def _numbers(array: Any, what: str, label: str) -> Float[np.ndarray, "..."]:
    try:
        numbers = np.asarray(array)
    except ValueError as error:  # nested lists of differing lengths
        raise ValueError(f"{label}: {what} is not a rectangular array of numbers ({error}).") from error
    if numbers.dtype.kind == "c":
        raise ValueError(f"{label}: {what} is complex; store real and imaginary part as two channels.")
    if numbers.dtype.kind not in "fuib":
        raise ValueError(f"{label}: {what} must be numbers; got an array of {numbers.dtype}.")
    if np.ma.is_masked(array):
        raise ValueError(
            f"{label}: {int(np.ma.getmaskarray(array).sum())} of {numbers.size} entries of {what} are masked; repair or"
            " leave out this sample, or give each sample its own points, without those."
        )
    return as_plain(numbers.astype(np.float64, copy=False))


def _require_finite(values: Float[np.ndarray, "*time row column"], names: Sequence[str], label: str) -> None:
    finite = np.isfinite(values)
    if finite.all():
        return
    *time, row, column = np.argwhere(~finite)[0]
    bad = ~finite[..., column]
    when = f" time {time[0]}," if time else ""
    raise ValueError(
        f"{label}, {names[column]},{when} row {row} is {values[*time, row, column]} ({int(bad.sum())} of {bad.size} "
        "rows are not finite numbers); repair or leave out this sample."
    )


def _require_one_per_point(array: np.ndarray, name: str, num_points: int, label: str) -> None:
    if array.shape != (num_points,):
        raise ValueError(f"{label}: {name} must have shape ({num_points},), one per point; got {array.shape}.")


def _require_alike(sample: Sample, first: Sample, label: str) -> None:
    if sample.dim != first.dim:
        raise ValueError(f"{label} has points in {sample.dim} dimensions, the first sample in {first.dim}.")
    require_alike_in_time(sample, first, label)
    for name in _OPTIONAL:
        if (getattr(sample, name) is None) != (getattr(first, name) is None):
            has, lacks = (label, "the first sample") if getattr(first, name) is None else ("the first sample", label)
            raise ValueError(f"{name} must be given for every sample or none: {has} has it, {lacks} has not.")
    if sample.cells is not None and first.cells is not None and sample.cells.shape[1] != first.cells.shape[1]:
        raise ValueError(
            f"{label} has cells of {sample.cells.shape[1]} vertices, the first sample of {first.cells.shape[1]}."
        )
