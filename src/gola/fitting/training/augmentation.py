"""Data augmentation by symmetry: copies of training samples under symmetries that the operator is known to have."""

from collections.abc import Sequence

import numpy as np

from gola.data.mirror import Mirror
from gola.data.sample import Sample
from gola.geometry.symmetry import Symmetry, generated_group

# Samples with all their copies, at most: what a network needs to see them is kept for each.
_MOST = 400


def augmented(
    samples: Sequence[Sample],
    symmetries: Sequence[str],
    mirror: Mirror,
    *,
    seed: int,
    has_time_axis: bool = False,
) -> list[Sample]:
    """Return samples and copies of them, for each the same number; the samples themselves come first.

    Args:
        samples: The samples.
        symmetries: Generators of the group of symmetries, like ``"-xy"``.
        mirror: Makes the copies.
        seed: Random seed of which copies are made, where all are too many.
        has_time_axis: Whether the last coordinate is the time, which symmetries of space leave as it is.
    """
    if not symmetries or not samples:
        return list(samples)
    generators = [Symmetry.parse(text) for text in symmetries]
    if has_time_axis:
        generators = [one.with_time() if one.dim == samples[0].dim - 1 else one for one in generators]
    others = _others(generators, mirror, samples[0].dim)
    count = min(len(others), _MOST // len(samples) - 1)
    rng = np.random.default_rng([seed, len(samples)])
    copies = [
        mirror.image(sample, others[number])
        for sample in samples
        for number in sorted(rng.choice(len(others), size=max(0, count), replace=False).tolist())
    ]
    return [*samples, *copies]


def _others(generators: Sequence[Symmetry], mirror: Mirror, dim: int) -> list[Symmetry]:
    """Return the group but for the identity."""
    for one in generators:
        if one.dim != dim:
            raise ValueError(f"The symmetry {str(one)!r} is for points with {one.dim} coordinates; these have {dim}.")
        if not mirror.allows(one):
            raise ValueError(
                f"The symmetry {str(one)!r} maps components of vectors to each other, and the samples have only some"
                " of them. Add the missing channels, name a channel that is no component otherwise, or leave it out."
            )
    return list(generated_group(generators, dim)[1:])
