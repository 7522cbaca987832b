"""Times of trajectories as they enter a data set: what arrays mean, and what is wrong with them."""

from typing import Any

import numpy as np
from jaxtyping import Float, Shaped

from gola.data.sample import Sample


def checked_times(array: Any, label: str) -> Float[np.ndarray, " time"]:
    """Return ascending finite times, or say what is wrong with them."""
    times = np.asarray(array)
    if times.dtype.kind not in "fui" or times.ndim != 1 or len(times) == 0:
        raise ValueError(f"{label}: times must be a list of numbers; got {times.dtype} of shape {times.shape}.")
    times = times.astype(np.float64)
    if not np.isfinite(times).all():
        raise ValueError(f"{label}: times must be finite numbers; number {int(np.argmin(np.isfinite(times)))} is not.")
    later = np.diff(times) > 0
    if not later.all():
        first = int(np.argmin(later))
        raise ValueError(
            f"{label}: times must ascend, none twice; number {first + 1} is {times[first + 1]} after {times[first]}."
        )
    return times


def parse_times(text: str) -> Float[np.ndarray, " time"]:
    """Read times as a command line gives them: the first, the last and how many, or a list.

    >>> parse_times("0:1:5").tolist(), parse_times("0.5, 2").tolist()
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.5, 2.0])
    """
    parts = text.split(":")
    try:
        if len(parts) == 3 and int(parts[2]) >= 1:
            return np.linspace(float(parts[0]), float(parts[1]), int(parts[2]))
        if len(parts) == 1:
            return np.array([float(part) for part in text.split(",")])
    except ValueError:
        pass
    raise ValueError(f"Times are FIRST:LAST:NUMBER, like 0:1:21, or a list with commas, like 0,0.5,2; got {text!r}.")


def target_tables(
    values: Shaped[np.ndarray, "..."] | None, num_times: int, num_points: int
) -> Shaped[np.ndarray, "..."]:
    """Return the targets of a trajectory as one table per time; one row per time is a single channel."""
    if values is None:
        return np.empty((num_times, num_points, 0))
    return values[:, :, None] if values.shape == (num_times, num_points) else values


def input_tables(
    values: Shaped[np.ndarray, "..."] | None, num_channels: int, num_times: int, num_points: int
) -> Shaped[np.ndarray, "..."]:
    """Return the inputs of a trajectory as a table, or as one table per time.

    A row per time and a column per point is a single channel that changes with time.
    """
    if values is None or values.shape[-1:] == (0,):
        return np.empty((num_points, 0))
    if values.ndim == 1:
        return values[:, None]
    per_time = values.shape == (num_times, num_points) and num_channels == 1
    return values[:, :, None] if per_time and values.shape != (num_points, 1) else values


def num_channels(values: Any, role: str, times: Any = None, num_points: int | None = None) -> int:
    """Return how many channels the array of one sample has.

    Args:
        values: The array.
        role: ``"input"`` or ``"target"``.
        times: The times of the sample, where it is a trajectory.
        num_points: Its number of points.
    """
    shape = np.shape(values)
    if times is None or len(shape) == 3:
        return int(shape[-1]) if len(shape) > 1 else 1
    single = len(shape) < 2 or role == "target" or shape == (len(times), num_points)
    return 1 if single else int(shape[-1])


def require_alike_in_time(sample: Sample, first: Sample, label: str) -> None:
    """Check that a sample is a trajectory if the first one is, and has inputs per time if that has."""
    for name, what in (("has_time", "times"), ("has_inputs_per_time", "inputs for each time")):
        has = getattr(sample, name)
        if has != getattr(first, name):
            who, other = (label, "the first sample") if has else ("the first sample", label)
            raise ValueError(f"There must be {what} for every sample or none: {who} has them, {other} has not.")
