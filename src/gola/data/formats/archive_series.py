"""Trajectories in NumPy archives: arrays with an axis for the time."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from jaxtyping import Float, Shaped

from gola.data.formats.case import Case
from gola.data.times import checked_times

_Stored = dict[str, np.ndarray]
_RESERVED = ("points", "cells", "boundary", "weights", "times", "parameters", "parameter_names")


def read_trajectories(stored: _Stored, path: Path, read: Callable[[_Stored, Path], list[Case]]) -> list[Case]:
    """Read an archive with an array ``times``, (times,) for all samples or (S, times).

    What changes with time is (times, points) or (times, points, components); S samples have a further axis before.
    Numbers that change with time, (times,) or (S, times), are functions of time, the same at all points.

    Args:
        stored: The arrays.
        path: The archive, for messages.
        read: Reads all that does not change with time.
    """
    times = stored["times"]
    if times.ndim not in (1, 2) or times.dtype.kind not in "fui" or times.size == 0:
        raise ValueError(
            f"{path}: `times` must be numbers of the shape (times,) or (samples, times); it is {times.dtype} of"
            f" {times.shape}."
        )
    sizes = times.shape[-1], stored["points"].shape[-2]
    changing = {
        name: array
        for name, array in stored.items()
        if name not in _RESERVED and array.dtype.kind in "fuib" and _has_times(array, *sizes)
    }
    doubtful = _doubtful(changing, stored, *sizes)
    changing = {name: array for name, array in changing.items() if name not in doubtful}
    steady = {name: array for name, array in stored.items() if name not in (*changing, *doubtful, "times")}
    if times.ndim == 2:
        # One number per sample says how many there are, where nothing else does.
        steady["times"] = times[:, 0]
    first = {name: array[:, 0] if _is_stacked(array, *sizes) else array[0] for name, array in changing.items()}
    cases = read({**steady, **first}, path)
    return [
        replace(
            case,
            arrays={name: array for name, array in case.arrays.items() if name not in changing},
            parameters={name: number for name, number in case.parameters.items() if name not in (*changing, "times")},
            series={
                name: _of_sample(array, sample, *sizes)
                for name, array in changing.items()
                if name in case.arrays or name in case.parameters
            },
            unusable={**case.unusable, **doubtful},
            times=checked_times(times if times.ndim == 1 else times[sample], case.label),
        )
        for sample, case in enumerate(cases)
    ]


def _doubtful(changing: _Stored, stored: _Stored, num_times: int, num_points: int) -> dict[str, str]:
    """Return arrays whose first axis may be that of times or of samples, where there are as many of both."""
    counts = [len(stored[name]) for name, ndim in (("points", 3), ("times", 2)) if stored[name].ndim == ndim]
    counts += [len(array) for array in changing.values() if _is_stacked(array, num_times, num_points)]
    if "parameters" in stored and stored["parameters"].ndim == 2:
        counts.append(len(stored["parameters"]))
    if num_times == 1 or num_times not in counts:
        return {}
    why = f"its shape fits {num_times} samples as well as {num_times} times; give it the shape (samples, times, points)"
    return {name: why for name, array in changing.items() if not _is_stacked(array, num_times, num_points)}


def _has_times(array: Shaped[np.ndarray, "..."], num_times: int, num_points: int) -> bool:
    """Whether an array has an axis for the time, after one for samples perhaps."""
    by_point = (num_times, num_points)
    return (
        (array.ndim in (2, 3) and array.shape[:2] == by_point)
        or (array.ndim in (3, 4) and array.shape[1:3] == by_point)
        or (array.ndim in (1, 2) and array.shape[-1] == num_times != num_points)
    )


def _is_stacked(array: Shaped[np.ndarray, "..."], num_times: int, num_points: int) -> bool:
    """Whether the first axis is that of samples."""
    if array.ndim == 2:
        return array.shape != (num_times, num_points)
    return array.ndim > 2 and array.shape[1:3] == (num_times, num_points)


def _of_sample(
    array: Shaped[np.ndarray, "..."], sample: int, num_times: int, num_points: int
) -> Float[np.ndarray, "time point *component"]:
    """Return the values of one sample; numbers are spread over the points."""
    values = (array[sample] if _is_stacked(array, num_times, num_points) else array).astype(np.float64)
    return values if values.ndim > 1 else np.broadcast_to(values[:, None], (num_times, num_points))
