"""Samples from arrays as users have them: one per sample, stacked, or shared by all."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gola.data.parameters import as_table
from gola.data.sample import Channel, Sample
from gola.data.times import num_channels
from gola.data.validation import alike, as_channels, as_plain, checked_sample


class Arrays(NamedTuple):
    """Samples, each checked as it is asked for, and what their columns are."""

    samples: Iterator[Sample]
    inputs: tuple[Channel, ...]
    targets: tuple[Channel, ...]
    parameters: tuple[Channel, ...]


def read_arrays(
    points: Any,
    inputs: Any,
    targets: Any,
    *,
    parameters: Any,
    parameter_names: Sequence[str | Channel] | None,
    input_channels: Sequence[str | Channel] | None,
    target_channels: Sequence[str | Channel] | None,
    boundary: Any,
    cells: Any,
    weights: Any,
    times: Any,
) -> Arrays:
    """Read what :meth:`gola.data.dataset.Dataset.from_arrays` is given."""
    table, parameters_named = as_table(parameters, parameter_names)
    count = _count(points, inputs=inputs, targets=targets, parameters=table)
    points_each, times_each = _one_each(points, 2, count, "points"), _times_each(times, count)
    first = (times_each[0], len(points_each[0])) if count else (None, 0)
    channels = {
        "inputs": () if inputs is None else _named(input_channels, inputs, "input", *first),
        "targets": () if targets is None else _named(target_channels, targets, "target", *first),
        "parameters": parameters_named,
    }
    rows = zip(
        points_each,
        _one_each(inputs, None, count, "inputs"),
        _one_each(targets, None, count, "targets"),
        _one_each(boundary, 1, count, "boundary"),
        _one_each(cells, 2, count, "cells"),
        _one_each(weights, 1, count, "weights"),
        [()] * count if table is None else _one_each(table, None, count, "parameters"),
        times_each,
        strict=True,
    )
    return Arrays(samples=alike(_labelled(rows, channels)), **channels)


def _labelled(
    rows: Iterable[tuple[Any, ...]], channels: Mapping[str, tuple[Channel, ...]]
) -> Iterator[tuple[Sample, str]]:
    """Check samples one by one, and give each the name that messages call it by."""
    for index, (points, inputs, targets, boundary, cells, weights, numbers, times) in enumerate(rows):
        label = f"Sample {index}"
        sample = checked_sample(
            points,
            inputs,
            targets,
            boundary=boundary,
            cells=cells,
            weights=weights,
            parameter_values=numbers,
            times=times,
            **channels,
            label=label,
        )
        yield sample, label


def _count(points: Any, **given: Any) -> int:
    """Return the number of samples, which whatever is given per sample tells."""
    for values in given.values():
        if values is not None:
            return len(values)
    if _depth(points) == 2:
        raise ValueError(
            "Points alone, the same for all samples, make no data set; give inputs, targets or parameters as well."
        )
    return len(points)


def _depth(values: Any) -> int:
    """Return the number of axes of an array, or of lists of lists, or of arrays, as far as their first entry tells."""
    if isinstance(values, list | tuple) and len(values):
        return 1 + _depth(values[0])
    return int(getattr(values, "ndim", isinstance(values, list | tuple)))


def _one_each(values: Any, ndim_of_one: int | None, count: int, what: str) -> list[Any]:
    """Return one entry per sample; an array with the axes of a single entry is shared by all."""
    if values is None:
        return [None] * count
    if ndim_of_one is not None and _depth(values) == ndim_of_one:
        shared = as_plain(np.asarray(values))
        # Converted once, so that all samples refer to one array.
        return [shared.astype(np.float64, copy=False) if shared.dtype.kind == "f" else shared] * count
    if len(values) != count:
        raise ValueError(f"There are {count} samples, and {what} for {len(values)}; they must agree.")
    return list(values)


def _times_each(times: Any, count: int) -> list[Any]:
    """Return the times of each sample, given once for all or for each."""
    if times is not None and len(times) and np.ndim(times[0]) == 0:
        return [np.asarray(times)] * count
    return _one_each(times, None, count, "times")


def _named(
    channels: Sequence[str | Channel] | None, values: Any, role: str, times: Any, num_points: int
) -> tuple[Channel, ...]:
    if channels is not None:
        return as_channels(channels)
    width = num_channels(values[0], role, times, num_points) if len(values) else 0
    return as_channels([role] if width == 1 else [f"{role}_{column}" for column in range(width)])
