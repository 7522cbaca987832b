"""What the training samples cover: where they lie, what values their inputs have, and how densely they are known."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

from gola.data.sample import Channel, Sample, as_rows

# Points that are kept to tell where the domain is; together they resolve a hole of a fortieth of a square domain.
_MOST_POINTS = 4000
# A point lies outside the domain if the nearest known point is this many times as far as known points are apart,
_GAPS = 2.0
# up to this share of them, which may lie alone.
_ALONE = 0.01
# Samples share their domain if all but this share of the points of each lie in that of the others.
_OUTSIDE = 0.02
# Inputs may exceed the range of the training inputs by this share of it, and be known at this share of the points.
_BEYOND_RANGE, _FEW_POINTS = 0.5, 0.25
# Parameters may be beyond those of n training samples by this share of their range, divided by n: of as many numbers
# drawn at random again, one in twenty is further out.
_BEYOND_PARAMETERS = 3.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Coverage:
    """What predictions can rely on.

    Attributes:
        points: Some points of the training samples, where these share their domain; none where each has its own.
        lower: Smallest value of each input channel.
        upper: Largest value of each input channel.
        fewest_points: The fewest points that a training sample has.
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

    @staticmethod
    def of(samples: Sequence[Sample]) -> "Coverage":
        """Look at the training samples."""
        everywhere = np.concatenate([sample.points for sample in samples])
        rows = np.random.default_rng(0).permutation(len(everywhere))[:_MOST_POINTS]
        points = everywhere[rows]
        shared = all(_outside(sample.points, points).mean() <= _OUTSIDE for sample in _some(samples))
        shared = shared and all(_outside(points, sample.points).mean() <= _OUTSIDE for sample in _some(samples))
        parameters = np.stack([sample.parameters for sample in samples])
        return Coverage(
            points=points if shared else points[:0],
            lower=tuple(np.min([as_rows(sample.inputs).min(axis=0) for sample in samples], axis=0).tolist()),
            upper=tuple(np.max([as_rows(sample.inputs).max(axis=0) for sample in samples], axis=0).tolist()),
            fewest_points=min(sample.num_points for sample in samples),
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
                _warn(
                    f"{channel.name} goes from {column.min():.4g} to {column.max():.4g}, and from {low:.4g} to"
                    f" {high:.4g} in the training samples; the prediction is a guess."
                )
        varies = np.ptp(values, axis=0) > 0
        if varies.any() and len(points) < _FEW_POINTS * self.fewest_points:
            _warn(
                f"The input is known at {len(points)} points, and at {self.fewest_points} or more in the training"
                " samples; give it at more points to trust the prediction."
            )

    def warn_of_parameters(self, parameters: Float[np.ndarray, " parameter"], channels: Sequence[Channel]) -> None:
        """Warn of parameters that are beyond those of the training samples."""
        known = zip(channels, parameters.tolist(), self.lowest_parameters, self.highest_parameters, strict=True)
        for channel, value, low, high in known:
            slack = _BEYOND_PARAMETERS / self.num_samples * (high - low)
            if not low - slack <= value <= high + slack:
                unit = f" {channel.unit}" if channel.unit else ""
                _warn(
                    f"{channel.name} is {value:.4g}{unit}, and from {low:.4g} to {high:.4g}{unit} in the training"
                    " samples; the prediction is a guess."
                )

    def warn_of_queries(self, queries: Float[np.ndarray, "query dim"], points: Float[np.ndarray, "point dim"]) -> None:
        """Warn of places outside the domain: in a hole, a notch, or beyond its edge.

        Args:
            queries: Where to predict.
            points: Where the input is known, which is part of the domain.
        """
        outside = _outside(queries, np.concatenate([points, self.points]))
        if outside.any():
            first = queries[int(outside.argmax())]
            _warn(
                f"{int(outside.sum())} of {len(queries)} places to predict at lie outside the domain of the known"
                f" points, the first at {np.round(first, 4).tolist()}; predictions there are guesses."
            )

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


def _outside(places: Float[np.ndarray, "place dim"], known: Float[np.ndarray, "known dim"]) -> np.ndarray:
    """Tell which places are farther from known points than these are from each other."""
    if len(known) < 2:
        return np.zeros(len(places), dtype=bool)
    # Points of several samples may coincide.
    distinct = np.unique(known, axis=0)
    tree = cKDTree(distinct)
    if len(distinct) < 2:
        return np.zeros(len(places), dtype=bool)
    gap = np.quantile(tree.query(distinct, k=[2])[0], 1.0 - _ALONE)
    distances, _ = tree.query(places)
    return np.asarray(distances > _GAPS * gap)


def _some(samples: Sequence[Sample], count: int = 8) -> list[Sample]:
    return [samples[row] for row in np.unique(np.linspace(0, len(samples) - 1, count).astype(int))]


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=5)
