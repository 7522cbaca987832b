"""Symmetries that an operator may have, as far as a closed form can tell."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from gola.data.mirror import Mirror
from gola.data.sample import Sample
from gola.geometry.symmetry import Symmetry, domain_symmetries, largest_group

# Images of so many samples are predicted for each symmetry.
_TESTED_SAMPLES = 32
# Errors on images under a true symmetry scatter about those on samples left out. If they are larger by this factor and
# by so many standard errors, the symmetry is refuted. One that passes by chance makes no group with the true ones,
# since its products with them do not pass.
_FACTOR, _STANDARD_ERRORS = 1.15, 2.5
# Errors below this are none.
_SMALLEST = 1e-12
_MOST = 48


def domain_group(samples: Sequence[Sample], mirror: Mirror) -> list[Symmetry]:
    """Return the symmetries of the domain by which samples can be turned."""
    points = [mirror.frame.encode(sample.points) for sample in samples]
    return [one for one in domain_symmetries(points) if mirror.allows(one)]


def not_refuted(
    symmetries: Sequence[Symmetry],
    samples: Sequence[Sample],
    mirror: Mirror,
    error_of: Callable[[Sample], float],
    left_out: Float[np.ndarray, " sample"],
) -> list[Symmetry]:
    """Return the symmetries whose images of samples are predicted as well as samples left out, best first.

    What counts is the mean logarithm of the ratio of both errors, sample by sample.

    Args:
        symmetries: Those to test.
        samples: The training samples.
        mirror: Makes their images.
        error_of: Tells how well an operator that was fitted to the samples predicts another one.
        left_out: Its errors on the samples, each left out.
    """
    rows = np.linspace(0, len(samples) - 1, min(_TESTED_SAMPLES, len(samples))).astype(int)
    excess = {}
    for one in symmetries:
        errors = np.array([error_of(mirror.image(samples[row], one)) for row in rows])
        ratios = np.log(np.maximum(errors, _SMALLEST)) - np.log(np.maximum(left_out[rows], _SMALLEST))
        limit = max(np.log(_FACTOR), _STANDARD_ERRORS * ratios.std(ddof=1) / np.sqrt(len(rows)))
        if ratios.mean() <= limit:
            excess[one] = float(ratios.mean())
    return sorted(excess, key=excess.__getitem__)


def written(symmetries: Sequence[Symmetry], dim: int) -> str:
    """Return a large group among some symmetries as text, as trainings take it."""
    return " ".join(str(one) for one in largest_group(symmetries, dim, at_most=_MOST)[1:])
