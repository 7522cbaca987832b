"""Images of training samples under symmetries that the operator is known to have: more samples for nothing."""

from collections.abc import Sequence

import numpy as np

from gola.data.mirror import Mirror
from gola.data.sample import Sample
from gola.geometry.symmetry import Symmetry, generated_group

# Samples with all their images, at most: what a network needs to see them is kept for each.
_MOST = 400


def with_images(samples: Sequence[Sample], symmetries: str, mirror: Mirror, *, seed: int) -> list[Sample]:
    """Return samples and their images, for each the same number of them; the samples come first.

    Args:
        samples: The samples.
        symmetries: Generators of the group of symmetries, with spaces between them.
        mirror: Makes the images.
        seed: Decides which images are made, where all are too many.
    """
    if not symmetries or not samples:
        return list(samples)
    others = _others(symmetries, mirror, samples[0].dim)
    count = min(len(others), _MOST // len(samples) - 1)
    rng = np.random.default_rng([seed, len(samples)])
    images = [
        mirror.image(sample, others[number])
        for sample in samples
        for number in sorted(rng.choice(len(others), size=max(0, count), replace=False).tolist())
    ]
    return [*samples, *images]


def _others(symmetries: str, mirror: Mirror, dim: int) -> list[Symmetry]:
    """Return the group but for the identity."""
    generators = [Symmetry.parse(text) for text in symmetries.split()]
    for one in generators:
        if one.dim != dim:
            raise ValueError(f"The symmetry {str(one)!r} is for points with {one.dim} coordinates; these have {dim}.")
        if not mirror.allows(one):
            raise ValueError(
                f"The symmetry {str(one)!r} turns components of vectors into each other, and the samples have only some"
                " of them. Add the missing channels, name a channel that is no component otherwise, or leave it out."
            )
    return list(generated_group(generators, dim)[1:])
