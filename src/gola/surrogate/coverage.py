"""What the training samples cover: where they lie, what values their inputs have, and how densely they are known."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from gola.advice import warn
from gola.data.sample import Channel, Sample, as_rows
from gola.mapped import picked_rows
from gola.surrogate.region import Region

# Points that are kept to tell where the domain is; together they resolve a hole of a fortieth of a square domain.
_MOST_POINTS = 4000
# Points of a sample that are compared with those of the others, at most: finding neighbours of millions takes seconds.
_MOST_COMPARED = 100_000
# Samples share their domain if all but this share of the points of each lie in that of the others.
_OUTSIDE = 0.02
# Inputs may exceed the range of the training inputs by this share of it, and be known at this share of the points.
_BEYOND_RANGE, _FEW_POINTS = 0.5, 0.25
# Parameters may be beyond those of n training samples by this share of their range, divided by n: of as many numbers
# drawn at random again, one in twenty is further out.
_BEYOND_PARAMETERS = 3.0
# Ranges that go over more than this factor are seen on a logarithmic scale.
_DECADES = 20.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Coverage:
    """What predictions can rely on.

    Attributes:
        points: Some points of the training samples, where these share their domain; none where each has its own.
        lower: Smallest value of each input channel.
        upper: Largest value of each input channel.
        fewest_points: The fewest points at which a training sample was seen.
        lowest_parameters: Smallest value of each parameter.
        highest_parameters: Largest value of each parameter.
        num_samples: Number of training samples.
    """

    points: Float[np.ndarray, "known dim"]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    fewest_points: int
    lowest_parameters: tuple[float, ...] = ()
    highest_parameters: tuple[float, ...] = ()
    num_samples: int = 1
    _regions: dict[bytes, Region] = field(default_factory=dict, init=False, repr=False)

    @staticmethod
    def of(samples: Sequence[Sample], points_seen: int | None = None) -> "Coverage":
        """Look at the training samples.

        Args:
            samples: The training samples.
            points_seen: How many points of a sample are seen at once, where training draws some of them.
        """
        rows = np.random.default_rng(0).permutation(sum(sample.num_points for sample in samples))[:_MOST_POINTS]
        points = picked_rows([sample.points for sample in samples], rows)
        region, some = Region(points), [_thinned(sample.points) for sample in _some(samples)]
        shared = all(region.excludes(one).mean() <= _OUTSIDE for one in some)
        shared = shared and all(Region(one).excludes(points).mean() <= _OUTSIDE for one in some)
        parameters = np.stack([sample.parameters for sample in samples])
        return Coverage(
            points=points if shared else points[:0],
            lower=tuple(np.min([as_rows(sample.inputs).min(axis=0) for sample in samples], axis=0).tolist()),
            upper=tuple(np.max([as_rows(sample.inputs).max(axis=0) for sample in samples], axis=0).tolist()),
            fewest_points=min(min(sample.num_points, points_seen or sample.num_points) for sample in samples),
            lowest_parameters=tuple(parameters.min(axis=0).tolist()),
            highest_parameters=tuple(parameters.max(axis=0).tolist()),
            num_samples=len(samples),
        )

    def warn_of_inputs(
        self,
        points: Float[np.ndarray, "point dim"],
        values: Float[np.ndarray, "row channel"],
        channels: Sequence[Channel],
    ) -> None:
        """Warn of inputs that are unlike those of the training samples."""
        lower, upper = np.array(self.lower), np.array(self.upper)
        slack = _BEYOND_RANGE * (upper - lower)
        for channel, column, low, high, more in zip(channels, values.T, lower, upper, slack, strict=True):
            if column.min() < low - more or column.max() > high + more:
                warn(
                    f"{channel.name} goes from {column.min():.4g} to {column.max():.4g}, and from {low:.4g} to"
                    f" {high:.4g} in the training samples; the prediction is a guess."
                )
        varies = np.ptp(values, axis=0) > 0
        if varies.any() and len(points) < _FEW_POINTS * self.fewest_points:
            warn(
                f"The input is known at {len(points)} points, and at {self.fewest_points} or more in the training"
                " samples; give it at more points to trust the prediction."
            )

    def warn_of_parameters(self, parameters: Float[np.ndarray, " parameter"], channels: Sequence[Channel]) -> None:
        """Warn of parameters that are beyond those of the training samples."""
        known = zip(channels, parameters.tolist(), self.lowest_parameters, self.highest_parameters, strict=True)
        for channel, value, low, high in known:
            if _is_beyond(value, low, high, _BEYOND_PARAMETERS / self.num_samples):
                unit = f" {channel.unit}" if channel.unit else ""
                warn(
                    f"{channel.name} is {value:.4g}{unit}, and from {low:.4g} to {high:.4g}{unit} in the training"
                    " samples; the prediction is a guess."
                )

    def warn_of_queries(
        self, queries: Float[np.ndarray, "query dim"], points: Float[np.ndarray, "point dim"]
    ) -> Bool[np.ndarray, " query"]:
        """Warn of places outside the domain: in a hole, a notch, or beyond its edge; and tell which.

        Args:
            queries: Where to predict.
            points: Where the input is known, which is part of the domain.
        """
        outside = self._region_with(points).excludes(queries)
        if outside.any():
            first = queries[int(outside.argmax())]
            warn(
                f"{int(outside.sum())} of {len(queries)} places to predict at lie outside the domain of the known"
                f" points, the first at {np.round(first, 4).tolist()}; predictions there are guesses."
            )
        return outside

    def _region_with(self, points: Float[np.ndarray, "point dim"]) -> Region:
        """Return the domain of the known points; that of the points last asked with is kept."""
        key = points.tobytes()
        if key not in self._regions:
            made = Region(np.concatenate([points, self.points]))
            self._regions.clear()
            self._regions[key] = made
        return self._regions[key]

    def to_dict(self) -> dict[str, Any]:
        """Return what is not an array, ready for JSON."""
        ranges = ("lower", "upper", "lowest_parameters", "highest_parameters")
        counts = {name: getattr(self, name) for name in ("fewest_points", "num_samples")}
        return {**{name: list(getattr(self, name)) for name in ranges}, **counts}

    @staticmethod
    def from_dict(values: Mapping[str, Any], points: Float[np.ndarray, "known dim"]) -> "Coverage":
        """Undo ``to_dict``."""
        return Coverage(
            points=points,
            lower=tuple(map(float, values["lower"])),
            upper=tuple(map(float, values["upper"])),
            fewest_points=int(values["fewest_points"]),
            # Version 2 of the surrogate's file knows no parameters.
            lowest_parameters=tuple(map(float, values.get("lowest_parameters", ()))),
            highest_parameters=tuple(map(float, values.get("highest_parameters", ()))),
            num_samples=int(values.get("num_samples", 1)),
        )


def spans_decades(low: float, high: float) -> bool:
    """Whether a range of positive numbers is so wide that logarithms are what is evenly spread in it."""
    return low > 0.0 and high > _DECADES * low


def _is_beyond(value: float, low: float, high: float, share: float) -> bool:
    """Whether a parameter is beyond a range by more than this share of it, of its logarithm where it spans decades."""
    if spans_decades(low, high):
        if value <= 0.0:
            return True
        value, low, high = math.log(value), math.log(low), math.log(high)
    slack = share * (high - low)
    return not low - slack <= value <= high + slack


def _thinned(points: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, "some_point dim"]:
    """Return some points, where there are very many."""
    if len(points) <= _MOST_COMPARED:
        return points
    return points[np.random.default_rng(0).permutation(len(points))[:_MOST_COMPARED]]


def _some(samples: Sequence[Sample], count: int = 8) -> list[Sample]:
    return [samples[row] for row in np.unique(np.linspace(0, len(samples) - 1, count).astype(int))]
