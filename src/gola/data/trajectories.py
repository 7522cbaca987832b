r"""Trajectories as operators see them: a function of space and time is a function on the points (x, c t).

The time becomes a further, last coordinate of points that are repeated for each time. It is multiplied by a speed c so
that all times together are as long as the domain: lengths and times have nothing to do with each other, and operators
that look for neighbours need some proportion of both.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from gola.data.dataset import Dataset
from gola.data.frame import require_numbers
from gola.data.sample import Sample, as_rows

# Times that agree to this share of the longest trajectory are the same.
_SAME = 1e-9


@dataclass(frozen=True, kw_only=True)
class TimeAxis:
    """The time of some trajectories as an axis of their points.

    Attributes:
        times: The times of all trajectories where these share them; else as many as a median trajectory has, from the
            first time of all to the last, equally spaced.
        shared: Whether all trajectories have these times.
        speed: What times are multiplied by.
        fewest_times: The fewest times that a trajectory has.
        shortest: The shortest duration of a trajectory.
    """

    times: tuple[float, ...]
    shared: bool
    speed: float
    fewest_times: int
    shortest: float

    def __post_init__(self) -> None:
        require_numbers((*self.times, self.speed, self.shortest), "A time axis")
        if len(self.times) < 2 or not self.duration > 0 or not self.speed > 0:
            raise ValueError(f"A time axis needs two or more times and a positive speed; got {self.times}.")

    @staticmethod
    def of(data: Dataset) -> "TimeAxis":
        """Look at the times of trajectories."""
        all_times = data.times
        first, last = min(times[0] for times in all_times), max(times[-1] for times in all_times)
        if not last > first:
            raise ValueError(
                f"All {len(data)} trajectories have the one time {first}; give two or more times, or leave times out."
            )
        shared = data.shares_times
        median = max(2, int(np.median([len(times) for times in all_times])))
        times = all_times[0] if shared else np.linspace(first, last, median)
        lower = np.min([sample.points.min(axis=0) for sample in data], axis=0)
        upper = np.max([sample.points.max(axis=0) for sample in data], axis=0)
        length = float((upper - lower).max()) or 1.0
        return TimeAxis(
            times=tuple(times.tolist()),
            shared=shared,
            speed=length / float(last - first),
            fewest_times=min(len(times) for times in all_times),
            shortest=float(min(times[-1] - times[0] for times in all_times)),
        )

    @property
    def duration(self) -> float:
        """From the first time of all trajectories to the last."""
        return self.times[-1] - self.times[0]

    def matched(self, times: Float[np.ndarray, " time"]) -> Float[np.ndarray, " time"]:
        """Return times, or those of this axis if they are the same up to rounding."""
        own = np.array(self.times)
        same = len(times) == len(own) and bool((np.abs(times - own) <= _SAME * self.duration).all())
        return own if same else times

    def resembles(self, times: Float[np.ndarray, " time"]) -> bool:
        """Whether times are like those of a trajectory: as many, and over as long a time."""
        if self.shared:
            return np.array_equal(times, self.times)
        return len(times) >= self.fewest_times and float(times[-1] - times[0]) >= self.shortest * (1.0 - _SAME)

    def points(
        self, points: Float[np.ndarray, "point dim"], times: Float[np.ndarray, " time"]
    ) -> Float[np.ndarray, "row dim_plus_one"]:
        """Return the points of space and time: all points at the first time, then all at the second, and so on."""
        rows = np.empty((len(times), len(points), points.shape[1] + 1))
        rows[..., :-1] = points
        rows[..., -1] = self.speed * times[:, None]
        return rows.reshape(-1, points.shape[1] + 1)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "times": list(self.times),
            "shared": self.shared,
            "speed": self.speed,
            "fewest_times": self.fewest_times,
            "shortest": self.shortest,
        }

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> "TimeAxis":
        """Undo ``to_dict``."""
        return TimeAxis(
            times=tuple(values["times"]),
            shared=bool(values["shared"]),
            speed=values["speed"],
            fewest_times=int(values["fewest_times"]),
            shortest=values["shortest"],
        )


def in_space_time(data: Dataset, axis: TimeAxis | None = None) -> Dataset:
    """Return trajectories as plain samples in space and time; a set without time as it is.

    Targets are not copied; points are made once for samples that share them and their times.

    Args:
        data: The trajectories.
        axis: Their time as an axis; made from them by default.
    """
    if not data.has_time:
        return data
    data = data.in_memory()
    axis = axis or TimeAxis.of(data)
    made: dict[tuple[int, bytes], Float[np.ndarray, "row dim_plus_one"]] = {}
    samples = []
    for sample in data:
        assert sample.times is not None
        known = 0 if data.shares_points else id(sample.points), sample.times.tobytes()
        plain = plain_sample(sample, axis, points=made.get(known))
        made[known] = plain.points
        samples.append(plain)
    # Rows of trajectories with other times are other times, even if there are as many.
    correspondence = data.correspondence if axis.shared else "none"
    periods = None if data.periods is None else (*data.periods, None)
    return replace(data, samples=tuple(samples), correspondence=correspondence, periods=periods, has_time_axis=True)


def plain_sample(
    sample: Sample, axis: TimeAxis, *, points: Float[np.ndarray, "row dim_plus_one"] | None = None
) -> Sample:
    """Return one trajectory as a plain sample in space and time.

    Its cells stay those of space, over the points at the first time.

    Args:
        sample: The trajectory.
        axis: The time as an axis.
        points: Its points in space and time, where they are known already.
    """
    assert sample.times is not None
    num_times = len(sample.times)
    weights = None if sample.weights is None else np.outer(time_weights(sample.times) * axis.speed, sample.weights)
    return Sample(
        points=axis.points(sample.points, sample.times) if points is None else points,
        inputs=repeated_inputs(sample.inputs, num_times),
        targets=as_rows(sample.targets),
        boundary=None if sample.boundary is None else np.tile(sample.boundary, num_times),
        cells=sample.cells,
        weights=None if weights is None else weights.ravel(),
        parameters=sample.parameters,
    )


def repeated_inputs(
    inputs: Float[np.ndarray, "*time point channel"], num_times: int
) -> Float[np.ndarray, "row channel"]:
    """Return the input function at the points of space and time."""
    return as_rows(inputs) if inputs.ndim == 3 else np.tile(inputs, (num_times, 1))


def time_weights(times: Float[np.ndarray, " time"]) -> Float[np.ndarray, " time"]:
    """Return the weights of the trapezoidal rule."""
    if len(times) < 2:
        return np.ones(1)
    gaps = np.diff(times)
    return 0.5 * (np.append(gaps, 0.0) + np.append(0.0, gaps))


def require_times(given: Any, axis: TimeAxis) -> Float[np.ndarray, " time"]:
    """Return the times to predict at: those that are given, or those that all training trajectories share."""
    if given is None:
        if not axis.shared:
            raise ValueError(
                f"The training trajectories have different times, from {axis.times[0]:g} to {axis.times[-1]:g}; say at"
                " which to predict: predict(..., times=...)."
            )
        return np.array(axis.times)
    times = np.atleast_1d(np.asarray(given))
    if times.ndim != 1 or not len(times) or times.dtype.kind not in "fui" or not np.isfinite(times).all():
        raise ValueError(f"times must be finite numbers, at least one; got {given!r:.200}.")
    return axis.matched(times.astype(np.float64))
