"""What one simulation in a foreign file offers, before the user's choice of channels."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float, Int


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """One simulation as a file holds it.

    Attributes:
        label: What error messages call it.
        points: Coordinates.
        arrays: Everything known at the points, by name: scalars (points,) or vectors (points, components).
        units: Units of the arrays, where the file has them.
        unusable: Arrays that cannot be channels, and why.
        boundary: Which points lie on the boundary, where the file says.
        cells: Simplices over the points, where the file has them.
        weights: Quadrature weights, where the file has them.
    """

    label: str
    points: Float[np.ndarray, "point dim"]
    arrays: Mapping[str, Float[np.ndarray, "point *component"]]
    units: Mapping[str, str] = field(default_factory=dict)
    unusable: Mapping[str, str] = field(default_factory=dict)
    boundary: Bool[np.ndarray, " point"] | None = None
    cells: Int[np.ndarray, "cell vertex"] | None = None
    weights: Float[np.ndarray, " point"] | None = None

    def columns(self, name: str) -> dict[str, Float[np.ndarray, " point"]]:
        """Return the channels that a name stands for: a scalar, a component, or all components of a vector."""
        if name in self.arrays:
            return components(name, self.arrays[name])
        for whole, array in self.arrays.items():
            if name.startswith(whole) and name in (parts := components(whole, array)):
                return {name: parts[name]}
        raise ValueError(self._why_not(name))

    def _why_not(self, name: str) -> str:
        if name in self.unusable:
            return f"{self.label}: {name!r} cannot be a channel: {self.unusable[name]}."
        offered = [part for whole, array in self.arrays.items() for part in (whole, *components(whole, array))]
        nearest = difflib.get_close_matches(name, offered, n=1, cutoff=0.5)
        hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
        available = ", ".join(self.arrays) or "nothing"
        return f"{self.label} has no channel {name!r}; it has {available}.{hint}"


def components(name: str, array: Float[np.ndarray, "point *component"]) -> dict[str, Float[np.ndarray, " point"]]:
    """Name the components of an array, x, y, z for vectors and by number for anything longer.

    >>> list(components("U", np.zeros((4, 2)))), list(components("T", np.zeros(4)))
    (['U_x', 'U_y'], ['T'])
    """
    table = array.reshape(len(array), -1)
    if table.shape[1] == 1:
        return {name: table[:, 0]}
    suffixes = "xyz" if table.shape[1] <= 3 else map(str, range(table.shape[1]))
    return {f"{name}_{suffix}": column for suffix, column in zip(suffixes, table.T, strict=False)}
