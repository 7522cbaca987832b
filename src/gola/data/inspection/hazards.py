"""What will hurt when learning from a data set: each function yields sentences that say it and what to do."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float

from gola.data.inspection.facts import SampleFacts
from gola.data.sample import Channel

# Beyond this ratio of its sides, a box has no radius that suits all directions.
_STRETCHED = 100.0
# Operators compute in float32, which resolves seven digits; an offset this large leaves three of them.
_LARGE_OFFSET = 1e4
# A sample whose values are this much larger than usual dominates the statistics that all are normalised with.
_UNEVEN = 1e3
# Parameters are one and the same above this correlation over at least so many samples.
_CORRELATED, _ENOUGH_FOR_CORRELATION = 1.0 - 1e-6, 5
# Samples that share their points are worth a word about the others if they are more than this share.
_MOST = 0.5


def not_finite(facts: Sequence[SampleFacts], labels: Sequence[str]) -> Iterator[str]:
    """Tell of NaN and infinite values and coordinates."""
    counts = np.array([[one.num_bad_points, *one.num_bad] for one in facts])
    for name, column in zip(["points", *labels], counts.T, strict=True):
        if column.any():
            yield (
                f"{name}: {column.sum()} values in {_samples(column > 0)} are NaN or infinite; repair or leave out "
                "these samples before training."
            )


def constant(labels: Sequence[str], is_constant: Sequence[bool]) -> Iterator[str]:
    """Tell of channels that have the same value everywhere."""
    for label in np.array(labels)[np.array(is_constant, dtype=bool)]:
        yield f"{label} has the same value everywhere, so there is nothing to learn from it; leave it out."


def parameters(channels: Sequence[Channel], values: Float[np.ndarray, "sample parameter"]) -> Iterator[str]:
    """Tell of parameters that never change, or always with another."""
    if len(values) < 2:
        return
    spreads = values.std(axis=0)
    for channel in np.array([channel.name for channel in channels], dtype=object)[spreads == 0.0]:
        yield f"parameter {channel!r} is the same in all samples, so there is nothing to learn from it; leave it out."
    if len(values) < _ENOUGH_FOR_CORRELATION:
        return
    moving = np.flatnonzero(spreads > 0.0)
    related = np.abs(np.atleast_2d(np.corrcoef(values[:, moving].T))) if len(moving) > 1 else np.eye(len(moving))
    for first, second in np.argwhere(np.triu(related, 1) > _CORRELATED):
        one, other = channels[moving[first]].name, channels[moving[second]].name
        yield (
            f"parameters {one!r} and {other!r} change together in all samples, so their effects cannot be told apart;"
            " leave one out, or add samples in which they do not."
        )


def coincident_points(facts: Sequence[SampleFacts]) -> Iterator[str]:
    """Tell of points that lie at the same place."""
    counts = np.array([one.num_coincident for one in facts])
    if counts.any():
        worst = int(np.argmax(counts))
        yield (
            f"Points coincide in {_samples(counts > 0)}; sample {worst} has {counts[worst]} that lie where another "
            "does. Merge them: they count twice in every average."
        )


def nearly_shared_points(facts: Sequence[SampleFacts]) -> Iterator[str]:
    """Tell of samples that keep all others from sharing their points: by another order, or points of their own."""
    (usual, count), *_ = Counter(one.places for one in facts).most_common(1)
    orders = {one.points for one in facts if one.places == usual}
    gain = "then fields are compared point by point, which is more accurate."
    if count == len(facts) and len(orders) > 1:
        yield f"All samples have the same points, but in different orders; write them in one order: {gain}"
    elif len(facts) > count > _MOST * len(facts):
        other = np.array([one.places != usual for one in facts])
        have = "has points of its own" if other.sum() == 1 else "have points of their own"
        yield (
            f"{_samples(other).capitalize()} {have}, and all {count} others share theirs; leave them out, or compute"
            f" them at the same points: {gain}"
        )


def repeated_samples(facts: Sequence[SampleFacts]) -> Iterator[str]:
    """Tell of samples with the same inputs, with the same targets or with others."""
    first_with: dict[bytes, int] = {}
    same: list[tuple[int, int]] = []
    contrary: list[tuple[int, int]] = []
    for index, one in enumerate(facts):
        first = first_with.setdefault(one.question, index)
        if first != index:
            (same if facts[first].answer == one.answer else contrary).append((first, index))
    if same:
        yield (
            f"{len(same)} samples repeat another (first: {same[0][1]} repeats {same[0][0]}); remove them, or a split "
            "can put the same sample into training and test."
        )
    if contrary:
        yield (
            f"{len(contrary)} samples have the inputs of another but different targets (first: {contrary[0][1]} and "
            f"{contrary[0][0]}); an input that the targets depend on is missing."
        )


def few_points(facts: Sequence[SampleFacts], needed: int) -> Iterator[str]:
    """Tell of samples with hardly any points."""
    counts = np.array([one.num_points for one in facts])
    if (counts <= needed).any():
        fewest = int(np.argmin(counts))
        yield (
            f"{_samples(counts <= needed).capitalize()} have {needed} points or fewer (sample {fewest} has "
            f"{counts[fewest]}): too few for neighbourhoods."
        )


def stretched_box(facts: Sequence[SampleFacts]) -> Iterator[str]:
    """Tell of coordinates on very different scales."""
    extent = np.max([one.upper for one in facts], axis=0) - np.min([one.lower for one in facts], axis=0)
    if len(extent) > 1 and 0 < _STRETCHED * extent.min() < extent.max():
        long, short = "xyz"[int(extent.argmax())], "xyz"[int(extent.argmin())]
        yield (
            f"The points extend {extent.max():.3g} along {long} and {extent.min():.3g} along {short}; scale the "
            "coordinates to similar size, because a radius is the same in all directions."
        )


def zero_targets(facts: Sequence[SampleFacts], is_target: Sequence[bool]) -> Iterator[str]:
    """Tell of samples whose targets vanish, where a relative error is undefined."""
    columns = np.array(is_target, dtype=bool)
    if not columns.any():
        return
    zero = np.array([not one.minima[columns].any() and not one.maxima[columns].any() for one in facts])
    if zero.any():
        yield f"All targets are zero in {_samples(zero)}: a relative error is undefined there; leave them out."


def targets_that_are_inputs(
    facts: Sequence[SampleFacts], labels: Sequence[str], is_target: Sequence[bool]
) -> Iterator[str]:
    """Tell of targets that equal an input in every sample, where there is nothing to learn."""
    inputs = [column for column, target in enumerate(is_target) if not target]
    for column, target in enumerate(is_target):
        same = (
            [labels[other] for other in inputs if all(one.columns[other] == one.columns[column] for one in facts)]
            if target
            else []
        )
        if same:
            yield f"{labels[column]} equals {same[0]} in every sample; leave one of them out, or check their names."


def large_offset(labels: Sequence[str], means: Sequence[float], stds: Sequence[float]) -> Iterator[str]:
    """Tell of channels that vary little around a large value."""
    for label, mean, std in zip(labels, means, stds, strict=True):
        if 0 < std * _LARGE_OFFSET < abs(mean):
            yield (
                f"{label} varies by {std:.3g} around {mean:.3g}; subtract a reference value, or single precision "
                "loses most digits of the variation."
            )


def uneven_scale(facts: Sequence[SampleFacts], labels: Sequence[str]) -> Iterator[str]:
    """Tell of channels that are far larger in one sample than usual."""
    sizes = np.array([np.hypot(one.means, one.stds) for one in facts])
    for label, size in zip(labels, sizes.T, strict=True):
        usual, largest = float(np.median(size)), int(np.argmax(size))
        if 0 < usual * _UNEVEN < size[largest]:
            yield (
                f"{label} is {size[largest] / usual:.1g} times larger in sample {largest} than in most samples; "
                "check its unit, or learn from its logarithm."
            )


def _samples(chosen: np.ndarray) -> str:
    """Name one sample, or count several and name the first.

    >>> _samples(np.array([False, True, True])), _samples(np.array([False, True]))
    ('2 samples (first: 1)', 'sample 1')
    """
    indices = np.flatnonzero(chosen)
    return f"sample {indices[0]}" if len(indices) == 1 else f"{len(indices)} samples (first: {indices[0]})"
