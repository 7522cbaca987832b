"""What a surrogate is asked for: checked, compared with the training samples, and as its operator knows it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from jaxtyping import Bool, Float

from gola.advice import warn
from gola.data.frame import Frame
from gola.data.parameters import as_row, as_table
from gola.data.sample import Channel, Sample, as_rows
from gola.data.times import input_tables
from gola.data.trajectories import TimeAxis, repeated_inputs, require_times
from gola.surrogate.coverage import Coverage

# How far beyond the training points predictions are made without a warning, as a share of their extent.
_MARGIN = 0.05
# Requests are answered together up to so many points and queries.
_MOST_ROWS = 2**17


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Request:
    """One prediction to make, with the time as a coordinate of points where there is one.

    Attributes:
        points: Where the input function is known.
        values: The input function there.
        parameters: Numbers of the whole sample.
        queries: Where to predict; None for at the points.
        is_outside: Which places in space, of the points or of those that are asked for, are not in the domain of the
            training samples.
        shape: Of the answer.
    """

    points: Float[np.ndarray, "point dim"]
    values: Float[np.ndarray, "point input"]
    parameters: Float[np.ndarray, " parameter"]
    queries: Float[np.ndarray, "query dim"] | None
    is_outside: Bool[np.ndarray, " place"]
    shape: tuple[int, ...]

    @property
    def sample(self) -> Sample:
        """What is known of the sample, without a solution."""
        nothing = np.empty((len(self.points), 0))
        return Sample(points=self.points, inputs=self.values, targets=nothing, parameters=self.parameters)

    @property
    def num_rows(self) -> int:
        """Number of points and queries."""
        return len(self.points) + (0 if self.queries is None else len(self.queries))


def batches(requests: Sequence[Request]) -> Iterator[Sequence[Request]]:
    """Cut requests into such as are best answered together."""
    start, rows = 0, 0
    for number, request in enumerate(requests):
        rows += request.num_rows
        other = (request.queries is None) != (requests[start].queries is None)
        if number > start and (rows > _MOST_ROWS or other):
            yield requests[start:number]
            start, rows = number, request.num_rows
    if requests:
        yield requests[start:]


def is_many(points: Any) -> bool:
    """Whether points are those of several samples, one after the other, and not the rows of one."""
    if isinstance(points, list | tuple):
        return len(points) > 0 and np.ndim(points[0]) == 2
    return getattr(points, "ndim", 0) == 3


def one_each(given: Any, count: int, what: str) -> list[Any]:
    """Return what is given for each of several samples; nothing for each where nothing is given."""
    if given is None:
        return [None] * count
    if what == "parameters" and (isinstance(given, dict) or hasattr(given, "columns")):
        rows, channels = as_table(given)
        given = [dict(zip(map(str, channels), row, strict=True)) for row in rows]
    if len(given) != count:
        raise ValueError(f"There are {count} samples and {what} for {len(given)}; give {what} for each sample.")
    return list(given)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Reader:
    """Reads what users give, and warns where it is unlike what the surrogate was fitted to.

    Attributes:
        frame: Of the training points.
        inputs: Channels that the surrogate reads.
        targets: Channels that it predicts.
        parameters: Parameters that it reads.
        coverage: What the training samples cover; None to warn of their box only.
        time_axis: The time of trajectories.
    """

    frame: Frame
    inputs: tuple[Channel, ...]
    targets: tuple[Channel, ...]
    parameters: tuple[Channel, ...]
    coverage: Coverage | None
    time_axis: TimeAxis | None

    def request(self, points: Any, inputs: Any, parameters: Any, at: Any, times: Any) -> Request:
        """Read what is given for one sample, see :meth:`Surrogate.predict`."""
        asked = self._times(times)
        points, values, is_outside = self._function(points, inputs, asked)
        numbers = as_row(parameters, self.parameters)
        queries = None
        if at is not None:
            queries, is_outside = self._points(at, "at", near=points)
        if self.coverage is not None:
            self.coverage.warn_of_parameters(numbers, self.parameters)
        shape: tuple[int, ...] = (-1, len(self.targets))
        if self.time_axis is not None and asked is not None:
            # An input that is constant, or none, is shown to the operator at the times of the training samples.
            known = asked if values.ndim == 3 or self.time_axis.resembles(asked) else np.array(self.time_axis.times)
            places = points if queries is None else queries
            shape = (len(asked), len(places), len(self.targets))
            queries = None if queries is None and known is asked else self.time_axis.points(places, asked)
            points, values = self.time_axis.points(points, known), repeated_inputs(values, len(known))
        return Request(
            points=points, values=values, parameters=numbers, queries=queries, is_outside=is_outside, shape=shape
        )

    @property
    def dim(self) -> int:
        """Number of coordinates of a point in space."""
        return len(self.frame.origin) - (self.time_axis is not None)

    def _times(self, times: Any) -> Float[np.ndarray, " time"] | None:
        if self.time_axis is not None:
            asked = require_times(times, self.time_axis)
            _warn_of_times(asked, self.time_axis)
            return asked
        if times is not None:
            raise ValueError("This surrogate was fitted to samples without time; leave times out.")
        return None

    def _function(
        self, points: Any, inputs: Any, times: Float[np.ndarray, " time"] | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        points, is_outside = self._points(points, "points")
        values = None if inputs is None else np.ascontiguousarray(inputs, dtype=np.float64)
        values = input_tables(values, len(self.inputs), 1 if times is None else len(times), len(points))
        shape = (len(points), len(self.inputs))
        if values.shape != shape and (times is None or values.shape != (len(times), *shape)):
            per_time = "" if times is None else f" or ({len(times)}, {len(points)}, {len(self.inputs)})"
            raise ValueError(
                f"inputs must have the shape ({len(points)}, {len(self.inputs)}){per_time}, a row per point and a"
                f" column for each of {', '.join(map(str, self.inputs)) or 'no channels'}; got {values.shape}."
                + (
                    " Numbers of a whole sample are parameters: predict(points, parameters=...)."
                    if self.parameters
                    else ""
                )
            )
        _require_finite(as_rows(values), "inputs")
        if self.coverage is not None:
            self.coverage.warn_of_inputs(points, as_rows(values), self.inputs)
        return points, values, is_outside

    def _points(
        self, points: Any, what: str, near: Float[np.ndarray, "point dim"] | None = None
    ) -> tuple[Float[np.ndarray, "place dim"], Bool[np.ndarray, " place"]]:
        """Check points, and tell which lie outside the training points.

        Of queries, these are also such as lie outside the domain, of which the points near them are part.
        """
        points = np.ascontiguousarray(points, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self.dim or not len(points):
            raise ValueError(
                f"{what} must have the shape (points, {self.dim}) and at least one row; got {points.shape}."
            )
        _require_finite(points, what)
        far = self._warn_if_outside(points, what)
        if near is not None and self.coverage is not None:
            rows = np.flatnonzero(~far)
            far[rows] = self.coverage.warn_of_queries(points[rows], near)
        return points, far

    def _warn_if_outside(self, points: Float[np.ndarray, "point dim"], what: str) -> Bool[np.ndarray, " point"]:
        """Warn of points beyond the box around the training points, and tell which."""
        lower, upper = self.frame.lower[: self.dim], self.frame.upper[: self.dim]
        extent = np.array(self.frame.extent)[: self.dim]
        # A column at a time: along rows as short as these NumPy takes ten times as long.
        least, most = (np.array([end(column) for column in points.T]) for end in (np.min, np.max))
        if (np.maximum(lower - least, most - upper) <= _MARGIN * extent).all():
            return np.zeros(len(points), dtype=bool)
        beyond = (np.maximum(lower - points, points - upper) / extent).max(axis=1)
        outside: Bool[np.ndarray, " point"] = beyond > _MARGIN
        box = " × ".join(f"[{a:.4g}, {b:.4g}]" for a, b in zip(lower, upper, strict=True))
        warn(
            f"{int(outside.sum())} of {len(points)} rows of {what} lie outside the training points {box}, the"
            f" farthest {points[beyond.argmax()].tolist()}; predictions there are guesses."
        )
        return outside


def _warn_of_times(times: Float[np.ndarray, " time"], axis: TimeAxis) -> None:
    first, last, margin = axis.times[0], axis.times[-1], _MARGIN * axis.duration
    outside = (times < first - margin) | (times > last + margin)
    if outside.any():
        warn(
            f"{int(outside.sum())} of {len(times)} times lie outside those of the training samples, {first:.4g} to"
            f" {last:.4g}, the first of them {times[outside.argmax()]:.4g}; predictions there are guesses."
        )


def _require_finite(values: np.ndarray, what: str) -> None:
    if np.isfinite(values).all():
        return
    row = int((~np.isfinite(values).all(axis=1)).argmax())
    raise ValueError(f"{what} must be finite numbers; row {row} is {values[row].tolist()}.")
