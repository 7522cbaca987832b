"""A prediction with what is known of its error."""

from dataclasses import dataclass
from typing import Literal, cast, get_args

import numpy as np
from jaxtyping import Bool, Float

Kind = Literal["everywhere", "pointwise"]
"""``"everywhere"``: the whole field lies in the band. ``"pointwise"``: a share of its points does."""


def require_kind(kind: str) -> Kind:
    """Return a kind of band after checking that there is such a one."""
    if kind not in get_args(Kind):
        raise ValueError(f"kind must be {' or '.join(map(repr, get_args(Kind)))}; got {kind!r}.")
    return cast("Kind", kind)


@dataclass(frozen=True, kw_only=True)
class ErrorEstimate:
    """The relative L2 error to expect of one prediction.

    Attributes:
        value: The median to expect.
        lower: It is above this,
        upper: and below this, with the probability of the band.
    """

    value: float
    lower: float
    upper: float

    def __str__(self) -> str:
        return f"{self.value:.2g} ({self.lower:.2g} to {self.upper:.2g})"


@dataclass(frozen=True, kw_only=True, eq=False)
class Prediction:
    """A prediction, the band around it, and how far to trust both.

    Attributes:
        mean: The prediction itself, in the units of the targets.
        lower: Lower end of the band.
        upper: Upper end of the band.
        level: The probability that the band was asked for.
        kind: Whether the band is to hold everywhere at once, or at a share of the points.
        error: The relative L2 error to expect, all channels counting alike.
        unusual: How unusual the input is: the share of training samples that are nearer to their nearest neighbour. 0.5
            is ordinary, 1 farther than all of them.
        is_beyond: Whether the input is so far from the training samples that the band means nothing.
        is_outside: Which places are not in the domain of the training samples, where the band means nothing either.
    """

    mean: Float[np.ndarray, "*time row channel"]
    lower: Float[np.ndarray, "*time row channel"]
    upper: Float[np.ndarray, "*time row channel"]
    level: float
    kind: Kind
    error: ErrorEstimate
    unusual: float
    is_beyond: bool
    is_outside: Bool[np.ndarray, " row"]
