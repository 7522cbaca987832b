"""Symmetries that an operator may have, as far as a closed form can tell."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from gola.data.mirror import Mirror
from gola.data.sample import Sample
from gola.geometry.symmetry import Symmetry, domain_symmetries, largest_group

# Images of so many samples are predicted for each symmetry.
_TESTED_SAMPLES = 8
# A symmetry is refuted if images are predicted this many times worse than samples left out. Where a closed form is
# good, images under a wrong symmetry are off by more; where it is poor, it cannot tell, and networks have to.
_TOLERANCE = 1.5
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
    """Return the symmetries whose images of samples are predicted about as well as samples left out, best first.

    Args:
        symmetries: Those to test.
        samples: The training samples.
        mirror: Makes their images.
        error_of: Tells how well an operator that was fitted to the samples predicts another one.
        left_out: Its errors on the samples, each left out.
    """
    rows = np.linspace(0, len(samples) - 1, min(_TESTED_SAMPLES, len(samples))).astype(int)
    errors = {one: np.mean([error_of(mirror.image(samples[row], one)) for row in rows]) for one in symmetries}
    limit = _TOLERANCE * left_out[rows].mean()
    return sorted((one for one in symmetries if errors[one] <= limit), key=errors.__getitem__)


def written(symmetries: Sequence[Symmetry], dim: int) -> str:
    """Return a large group among some symmetries as text, as trainings take it."""
    return " ".join(str(one) for one in largest_group(symmetries, dim, at_most=_MOST)[1:])
