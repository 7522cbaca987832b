"""What an inspection remembers of each sample, so that all samples need be read only once."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from gola.data.sample import Sample, as_rows

# Points that agree to this share of the extent of their sample count as coincident.
_COINCIDENT = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class SampleFacts:
    """Figures of one sample. Channels are the inputs and then the targets; values that are not finite are left out.

    Attributes:
        num_points: Number of points.
        num_coincident: Number of points that lie where another, earlier one does.
        lower: Lower corner of the box around the points.
        upper: Upper corner.
        minima: Smallest value of each channel.
        maxima: Largest value of each channel.
        means: Mean of each channel.
        stds: Standard deviation of each channel.
        num_bad: Number of NaN and infinite values of each channel.
        num_bad_points: Number of points with a NaN or infinite coordinate.
        points: Hash of the points.
        places: Hash of the points, whatever their order.
        question: Hash of points, inputs, parameters and times.
        answer: Hash of the targets.
        columns: Hash of each channel.
    """

    num_points: int
    num_coincident: int
    lower: Float[np.ndarray, " dim"]
    upper: Float[np.ndarray, " dim"]
    minima: Float[np.ndarray, " channel"]
    maxima: Float[np.ndarray, " channel"]
    means: Float[np.ndarray, " channel"]
    stds: Float[np.ndarray, " channel"]
    num_bad: Int[np.ndarray, " channel"]
    num_bad_points: int
    points: bytes
    places: bytes
    question: bytes
    answer: bytes
    columns: tuple[bytes, ...]


def gather_facts(samples: Iterable[Sample]) -> list[SampleFacts]:
    """Read the samples once, one at a time."""
    facts = []
    points, of_points = None, dict[str, Any]()
    for sample in samples:
        if sample.points is not points:  # samples that share their points share the array
            points = sample.points
            ordered = _ordered(points)
            repeated = (ordered[1:] == ordered[:-1]).all(axis=1)
            of_points = {
                "num_coincident": int(repeated.sum()),
                "points": _digest(points),
                "places": _digest(ordered),
            }
        facts.append(_facts(sample, of_points))
    return facts


def _facts(sample: Sample, of_points: dict[str, Any]) -> SampleFacts:
    # One row per channel: NumPy reduces along contiguous rows many times faster than down narrow columns. Inputs of a
    # trajectory may be fewer than its targets.
    tables = [np.ascontiguousarray(as_rows(values).T) for values in (sample.inputs, sample.targets)]
    figures = [_figures(table) for table in tables]
    of_channels: dict[str, Any] = {name: np.concatenate([part[name] for part in figures]) for name in figures[0]}
    finite_points = np.isfinite(sample.points).all(axis=1)
    coordinates = np.ascontiguousarray(sample.points[finite_points].T)
    asked = (sample.inputs, sample.parameters, sample.times)
    return SampleFacts(
        num_points=sample.num_points,
        **of_points,
        lower=coordinates.min(axis=1, initial=np.inf),
        upper=coordinates.max(axis=1, initial=-np.inf),
        **of_channels,
        num_bad_points=int((~finite_points).sum()),
        question=of_points["points"] + b"".join(_digest(array) for array in asked if array is not None),
        answer=_digest(sample.targets),
        columns=tuple(_digest(column) for table in tables for column in table),
    )


def _figures(values: Float[np.ndarray, "channel value"]) -> dict[str, np.ndarray]:
    finite = np.isfinite(values)
    means, stds = _moments(values, finite)
    return {
        "minima": np.where(finite, values, np.inf).min(axis=1),
        "maxima": np.where(finite, values, -np.inf).max(axis=1),
        "means": means,
        "stds": stds,
        "num_bad": (~finite).sum(axis=1),
    }


def _moments(
    values: Float[np.ndarray, "channel point"], finite: Bool[np.ndarray, "channel point"]
) -> tuple[Float[np.ndarray, " channel"], Float[np.ndarray, " channel"]]:
    """Return mean and standard deviation of the finite values of each channel, zeros where there are none."""
    counts = np.maximum(finite.sum(axis=1), 1)
    known = np.where(finite, values, 0.0)
    powers = np.frexp(np.abs(known).max(axis=1, initial=0.0))[1]
    scaled = np.ldexp(known, -powers[:, None])  # sums and squares of very large and very small values stay in range
    means = scaled.sum(axis=1) / counts
    deviations = np.where(finite, scaled - means[:, None], 0.0)
    return np.ldexp(means, powers), np.ldexp(np.sqrt((deviations**2).sum(axis=1) / counts), powers)


def _ordered(points: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, "_point dim"]:
    """Return the finite points in units in which coincident ones are equal, ordered by their coordinates."""
    finite = points[np.isfinite(points).all(axis=1)]
    if not len(finite):
        return finite
    extent = float(np.ptp(finite, axis=0).max()) or 1.0
    rounded = np.round(finite / (extent * _COINCIDENT)) + 0.0  # -0.0 becomes 0.0
    return rounded[np.lexsort(rounded.T)]


def _digest(array: np.ndarray) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(array).data, digest_size=16).digest()
