"""Which symmetries an operator may have, as far as a fitted one can tell.

Under a true symmetry the copy of a sample is one more sample of the same problem, so a fitted operator predicts it
about as well as samples that it has not seen.
"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from gola.geometry.symmetry import Symmetry

# Errors on copies under a true symmetry scatter about those on held-out samples, and choosing settings by the latter
# makes these a little too small. A symmetry is refuted if errors on copies are larger by a factor and by so many
# standard errors. One that passes by chance makes no group with the true ones: its products with them do not pass.
TOLERANCE = 1.5
_STANDARD_ERRORS = 2.5
# Errors below this are none.
_SMALLEST = 1e-12


def not_refuted(
    errors: Mapping[Symmetry, Float[np.ndarray, " sample"]],
    held_out: Float[np.ndarray, " sample"],
    *,
    tolerance: float = TOLERANCE,
) -> list[Symmetry]:
    """Return the symmetries whose copies of samples are predicted about as well as held-out samples, best first.

    What counts is the mean logarithm of the ratio of both errors, sample by sample.

    Args:
        errors: Of a fitted operator on copies of samples, by symmetry.
        held_out: Its errors on the same samples, each held out.
        tolerance: How many times as large errors on copies may be.
    """
    excess = {}
    for symmetry, of_copies in errors.items():
        ratios = np.log(np.maximum(of_copies, _SMALLEST)) - np.log(np.maximum(held_out, _SMALLEST))
        limit = max(np.log(tolerance), _STANDARD_ERRORS * ratios.std(ddof=1) / np.sqrt(len(ratios)))
        if ratios.mean() <= limit:
            excess[symmetry] = float(ratios.mean())
    return sorted(excess, key=excess.__getitem__)
