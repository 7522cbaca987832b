"""The box that points are measured in: whatever a user's lengths are, operators see the unit box."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from gola.data.sample import Sample

# Sides that differ by more than this belong to axes of different kinds, space and time for instance.
_LARGEST_ASPECT = 10.0


def require_numbers(values: Iterable[object], what: str) -> None:
    """Check that values, perhaps from a file, are finite numbers."""
    for value in values:
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            raise ValueError(f"{what} consists of finite numbers; got {value!r}.")


@dataclass(frozen=True, kw_only=True)
class Frame:
    r"""An affine map of coordinates, :math:`\hat x_a = (x_a - o_a) / E_a`, into the unit box.

    Attributes:
        origin: The lower corner o.
        extent: The length E along each axis that becomes 1.
        sides: Lengths of the box around the points that it was fitted to.
    """

    origin: tuple[float, ...]
    extent: tuple[float, ...]
    sides: tuple[float, ...]

    def __post_init__(self) -> None:
        require_numbers((*self.origin, *self.extent, *self.sides), "A frame")
        if not len(self.origin) == len(self.extent) == len(self.sides) or not all(extent > 0 for extent in self.extent):
            raise ValueError(f"A frame needs a positive extent per axis; got {self.origin} and {self.extent}.")

    @classmethod
    def around(cls, samples: Iterable[Sample]) -> "Frame":
        """Fit to the points of training samples.

        The longest side becomes 1 and lengths keep their proportions, unless one side is more than ten times another:
        then the axes have little to do with each other, and each is scaled by itself.
        """
        points = [sample.points for sample in samples]
        corners = np.array([(one.min(axis=0), one.max(axis=0)) for one in points])
        lower, upper = corners[:, 0].min(axis=0), corners[:, 1].max(axis=0)
        sides = upper - lower
        if not sides.any() and max(map(len, points)) > 1:
            raise ValueError(f"All points of all samples lie at {lower.tolist()}; they have to differ.")
        # For one point, where numbers of a whole sample are known, any length will do.
        longest = sides.max() or 1.0
        alike = sides.min() * _LARGEST_ASPECT >= longest
        extent = np.full_like(sides, longest) if alike else np.where(sides > 0, sides, longest)
        return cls(origin=tuple(lower.tolist()), extent=tuple(extent.tolist()), sides=tuple(sides.tolist()))

    @property
    def lower(self) -> Float[np.ndarray, " dim"]:
        """Lower corner of the box around the points."""
        return np.array(self.origin)

    @property
    def upper(self) -> Float[np.ndarray, " dim"]:
        """Upper corner of the box around the points."""
        return np.array(self.origin) + np.array(self.sides)

    def encode(self, points: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, "point dim"]:
        """Return the coordinates in the frame."""
        return (points - np.array(self.origin)) / np.array(self.extent)

    def to_dict(self) -> dict[str, list[float]]:
        """Return plain numbers, ready for JSON."""
        return {name: list(getattr(self, name)) for name in ("origin", "extent", "sides")}

    @classmethod
    def from_dict(cls, numbers: Mapping[str, Sequence[float]]) -> "Frame":
        """Undo ``to_dict``."""
        return cls(**{name: tuple(values) for name, values in numbers.items()})
