"""Look a data set over: its sizes and ranges, a suitable radius, and what will hurt when learning from it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.spatial import cKDTree

from gola.data.constant_inputs import Variation, varies_over
from gola.data.correspondence import Correspondence
from gola.data.dataset import Dataset
from gola.data.inspection import hazards
from gola.data.inspection.facts import SampleFacts, gather_facts
from gola.data.inspection.periodicity import suggested_periods
from gola.data.periods import Periods
from gola.data.sample import Channel
from gola.data.statistics import pooled
from gola.geometry.tree import radius_for

# A radius graph with this many neighbours on average has hardly a point without any, and is still cheap.
_NEIGHBOURS = 16
# Spacing and radius hardly differ between samples of one set, so a few stand for all.
_NUM_PROBED = 3


@dataclass(frozen=True, kw_only=True)
class ChannelSummary:
    """Range and spread of one channel or parameter over all samples; means count every sample equally.

    Attributes:
        channel: Name and unit.
        role: Whether it is an input, a target or a parameter.
        minimum: Smallest value.
        maximum: Largest value.
        mean: Mean value.
        std: Standard deviation.
        varies: Where: within samples (``"field"``), only between them (``"parameter"``), or nowhere (``"constant"``).
    """

    channel: Channel
    role: Literal["input", "target", "parameter"]
    minimum: float
    maximum: float
    mean: float
    std: float
    varies: Variation


@dataclass(frozen=True, kw_only=True)
class TimesSummary:
    """The times of all trajectories.

    Attributes:
        num_times: Smallest, median and largest number of times of a trajectory.
        first: The first time of all.
        last: The last.
        shared: Whether all trajectories have the same times.
        inputs_change: Whether input functions are given for each time.
    """

    num_times: tuple[int, int, int]
    first: float
    last: float
    shared: bool
    inputs_change: bool


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """What there is to know about a data set before learning from it.

    Attributes:
        num_samples: Number of samples.
        dim: Number of coordinates of a point.
        num_points: Smallest, median and largest number of points of a sample.
        times: What is known of the times of trajectories; None where samples have no time.
        lower: Lower corner of the box around all points.
        upper: Upper corner.
        correspondence: How the points of one sample correspond to those of another.
        periods: The period along each axis, as declared; None where none is periodic.
        has_boundary: Whether points on the boundary are marked.
        has_cells: Whether the samples come with a mesh.
        has_weights: Whether quadrature weights are known.
        channels: Inputs first, then targets, then parameters.
        spacing: Median distance of a point to its nearest neighbour.
        radius: Suggested radius of neighbourhoods: about 16 neighbours on average.
        provenance: Where the samples came from.
        warnings: What will hurt, one sentence each, with what to do.
        remarks: What is worth knowing and harmless.
    """

    num_samples: int
    dim: int
    num_points: tuple[int, int, int]
    times: TimesSummary | None
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    correspondence: Correspondence
    periods: Periods | None
    has_boundary: bool
    has_cells: bool
    has_weights: bool
    channels: tuple[ChannelSummary, ...]
    spacing: float
    radius: float
    provenance: dict[str, Any]
    warnings: tuple[str, ...]
    remarks: tuple[str, ...]


def inspect(dataset: Dataset) -> Inspection:
    """Read all samples once and summarise them."""
    facts = gather_facts(dataset)
    counts = dataset.num_points
    spacing, radius = _spacing_and_radius(dataset)
    channels, parameters = _summaries(dataset, facts), _parameter_summaries(dataset)
    first = dataset[0]
    return Inspection(
        num_samples=len(dataset),
        dim=dataset.dim,
        num_points=(int(counts.min()), int(np.median(counts)), int(counts.max())),
        times=_times_summary(dataset),
        lower=tuple(np.min([one.lower for one in facts], axis=0).tolist()),
        upper=tuple(np.max([one.upper for one in facts], axis=0).tolist()),
        correspondence=dataset.correspondence,
        periods=dataset.periods,
        has_boundary=first.boundary is not None,
        has_cells=first.cells is not None,
        has_weights=first.weights is not None,
        channels=channels + parameters,
        spacing=spacing,
        radius=radius,
        provenance=dataset.provenance,
        warnings=(*_warnings(facts, channels), *hazards.parameters(dataset.parameters, dataset.parameter_values)),
        remarks=(*_remarks(facts, channels), *suggested_periods(dataset)),
    )


def _times_summary(dataset: Dataset) -> TimesSummary | None:
    if not dataset.has_time:
        return None
    counts = [len(times) for times in dataset.times]
    return TimesSummary(
        num_times=(min(counts), int(np.median(counts)), max(counts)),
        first=float(min(times[0] for times in dataset.times)),
        last=float(max(times[-1] for times in dataset.times)),
        shared=dataset.shares_times,
        inputs_change=dataset[0].has_inputs_per_time,
    )


def _summaries(dataset: Dataset, facts: Sequence[SampleFacts]) -> tuple[ChannelSummary, ...]:
    minima, maxima = np.array([one.minima for one in facts]), np.array([one.maxima for one in facts])
    means, stds = np.array([one.means for one in facts]), np.array([one.stds for one in facts])
    powers = np.frexp(np.maximum(np.abs(means), stds).max(axis=0, initial=0.0))[1]
    scaled = pooled(np.ldexp(means, -powers), np.ldexp(stds, -powers) ** 2)
    mean, std = (np.ldexp(array, powers) for array in scaled)
    return tuple(
        ChannelSummary(
            channel=channel,
            role="input" if column < len(dataset.inputs) else "target",
            minimum=float(minima[:, column].min()),
            maximum=float(maxima[:, column].max()),
            mean=float(mean[column]),
            std=float(std[column]),
            varies=varies_over(minima[:, column], maxima[:, column]),
        )
        for column, channel in enumerate(dataset.inputs + dataset.targets)
    )


def _parameter_summaries(dataset: Dataset) -> tuple[ChannelSummary, ...]:
    return tuple(
        ChannelSummary(
            channel=channel,
            role="parameter",
            minimum=float(values.min()),
            maximum=float(values.max()),
            mean=float(values.mean()),
            std=float(values.std()),
            varies=varies_over(values, values),
        )
        for channel, values in zip(dataset.parameters, dataset.parameter_values.T, strict=True)
    )


def _warnings(facts: Sequence[SampleFacts], channels: Sequence[ChannelSummary]) -> Iterator[str]:
    labels = [f"{summary.role} channel {summary.channel.name!r}" for summary in channels]
    targets = [summary.role == "target" for summary in channels]
    yield from hazards.not_finite(facts, labels)
    yield from hazards.constant(labels, [summary.varies == "constant" for summary in channels])
    yield from hazards.coincident_points(facts)
    yield from hazards.nearly_shared_points(facts)
    yield from hazards.repeated_samples(facts)
    yield from hazards.few_points(facts, _NEIGHBOURS)
    yield from hazards.stretched_box(facts)
    yield from hazards.zero_targets(facts, targets)
    yield from hazards.targets_that_are_inputs(facts, labels, targets)
    yield from hazards.large_offset(
        labels, [summary.mean for summary in channels], [summary.std for summary in channels]
    )
    yield from hazards.uneven_scale(facts, labels)


def _remarks(facts: Sequence[SampleFacts], channels: Sequence[ChannelSummary]) -> Iterator[str]:
    for summary in channels:
        if summary.varies == "parameter" and len(facts) > 1:
            yield (
                f"{summary.role} channel {summary.channel.name!r} is one number per sample."
                + " It is better a parameter: import it again without --keep-fields, or pass it as parameters to"
                " Dataset.from_arrays." * (summary.role == "input")
            )


def _spacing_and_radius(dataset: Dataset) -> tuple[float, float]:
    """Return the median distance to the nearest neighbour and the suggested radius, NaN for single points."""
    probed = [0] if dataset.shares_points else np.unique(np.linspace(0, len(dataset) - 1, _NUM_PROBED).astype(int))
    spacings, radii = [], []
    for index in probed:
        points = dataset[index].points
        different = np.unique(points[np.isfinite(points).all(axis=1)], axis=0)
        if len(different) > 1:
            spacings.append(float(np.median(cKDTree(different).query(different, k=[2])[0])))
            radii.append(radius_for(different, min(_NEIGHBOURS, len(different) - 1)))
    return (float(np.median(spacings)), float(np.median(radii))) if spacings else (float("nan"), float("nan"))
