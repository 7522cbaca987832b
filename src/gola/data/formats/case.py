"""What one simulation in a foreign file offers, before the user's choice of channels."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from gola.data.formats.regions import LabelledCells, Labels
from gola.data.sample import Channel
from gola.registry import unknown


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """One simulation as a file holds it.

    Attributes:
        label: What error messages call it.
        points: Coordinates.
        arrays: Everything known at the points, by name: scalars (points,) or vectors (points, components). In a
            trajectory, what is constant.
        series: What changes with time, by name: (times, points) or (times, points, components).
        times: The times of a trajectory; None for a simulation without time.
        parameters: Numbers of the whole simulation, by name.
        labels: Arrays of labels of cells or points, by name: materials, parts of the boundary.
        units: Units of arrays and parameters, where the file has them.
        unusable: Arrays that cannot be channels, and why.
        boundary: Which points lie on the boundary, where the file says.
        cells: Simplices over the points, where the file has them.
        weights: Quadrature weights, where the file has them.
    """

    label: str
    points: Float[np.ndarray, "point dim"]
    arrays: Mapping[str, Float[np.ndarray, "point *_component"]]
    series: Mapping[str, Float[np.ndarray, "_time point *_component"]] = field(default_factory=dict)
    times: Float[np.ndarray, " _time"] | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    labels: Mapping[str, Labels] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    unusable: Mapping[str, str] = field(default_factory=dict)
    boundary: Bool[np.ndarray, " point"] | None = None
    cells: Int[np.ndarray, "cell vertex"] | None = None
    weights: Float[np.ndarray, " point"] | None = None

    def columns(self, name: str) -> dict[str, Float[np.ndarray, "*_time _point"]]:
        """Return the channels that a name stands for: a scalar, a component, or all components of a vector.

        A number of the whole simulation is a constant. ``T(0)`` is what T is at the first time.
        """
        if name.endswith(FIRST) and name not in self.arrays:
            return {f"{part}{FIRST}": first_of(values) for part, values in self.columns(name[: -len(FIRST)]).items()}
        if name in self.series:
            return components(name, self.series[name], num_axes=2)
        if name in self.arrays:
            return components(name, self.arrays[name])
        if numbers := self.numbers(name):
            return {part: np.full(len(self.points), number) for part, number in numbers.items()}
        for whole, parts in self._parts().items():
            if name.startswith(whole) and name in parts:
                return {name: parts[name]}
        raise ValueError(self._why_not(name))

    def with_names_of(self, wanted: Sequence[str | Channel]) -> "Case":
        """Return the same, where what the file calls ``T [K]`` and is wanted as T has this name, and the unit K."""
        names = {name if isinstance(name, str) else name.name for name in wanted}
        kinds: dict[str, Mapping[str, Any]] = {
            kind: getattr(self, kind) for kind in ("arrays", "series", "parameters", "unusable")
        }
        known = [name for values in kinds.values() for name in values]
        parsed = {name: Channel.parse(name) for name in known if name.endswith("]") and " [" in name}
        meant = [channel.name for channel in parsed.values()]
        found = {
            name: channel
            for name, channel in parsed.items()
            if channel.name in names and channel.name not in known and meant.count(channel.name) == 1
        }
        if not found:
            return self
        renamed: dict[str, Any] = {
            kind: {found[name].name if name in found else name: value for name, value in values.items()}
            for kind, values in kinds.items()
        }
        units = {channel.name: channel.unit for channel in found.values()}
        return replace(self, **renamed, units={**self.units, **units})

    def _parts(self) -> dict[str, dict[str, Float[np.ndarray, "*time point"]]]:
        """Return the components of every array."""
        constant = {name: components(name, array) for name, array in self.arrays.items()}
        return {**constant, **{name: components(name, array, num_axes=2) for name, array in self.series.items()}}

    def numbers(self, name: str) -> dict[str, float]:
        """Return the parameters that a name stands for: itself, or the components of a vector; none if it is none."""
        if name in self.parameters:
            return {name: self.parameters[name]}
        return {
            f"{name}_{axis}": self.parameters[f"{name}_{axis}"] for axis in "xyz" if f"{name}_{axis}" in self.parameters
        }

    def indicators(self, name: str) -> dict[str, Float[np.ndarray, " point"]]:
        """Return the indicator functions of the parts that an array of labels tells apart, by their names."""
        labels = self.labels.get(name) or self._point_labels(name)
        return labels.indicators(len(self.points), self.label)

    def _point_labels(self, name: str) -> Labels:
        array = self.arrays.get(name)
        if array is None:
            raise ValueError(
                unknown(
                    f"array of labels in {self.label} called", name, list(dict.fromkeys([*self.labels, *self.arrays]))
                )
            )
        if array.size != len(array) or (array != np.round(array)).any():
            raise ValueError(f"{self.label}: {name!r} does not tell regions apart; that takes a whole number each.")
        count = len(array)
        cells, numbers = np.arange(count)[:, None], array.reshape(count).astype(np.int64)
        points = LabelledCells(cells=cells, labels=numbers, sizes=np.ones(count), fills=True, dim=0)
        return Labels(name=name, parts=[points])

    def _why_not(self, name: str) -> str:
        if name in self.unusable:
            return f"{self.label}: {name!r} cannot be a channel: {self.unusable[name]}."
        offered = [part for whole, parts in self._parts().items() for part in (whole, *parts)]
        offered += self.parameters
        nearest = difflib.get_close_matches(name, offered, n=1, cutoff=0.5)
        hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
        available = ", ".join([*self.arrays, *self.series, *self.parameters]) or "nothing"
        return f"{self.label} has no channel {name!r}; it has {available}.{hint}"


FIRST = "(0)"
"""What the name of a channel ends in, if it stands for the first time of a trajectory."""


def first_of(values: Float[np.ndarray, "*time point"]) -> Float[np.ndarray, " point"]:
    """Return values at the first time; constant ones as they are."""
    return values[0] if values.ndim == 2 else values


def components(
    name: str, array: Float[np.ndarray, "..."], *, num_axes: int = 1
) -> dict[str, Float[np.ndarray, "*_time _point"]]:
    """Name the components of an array, x, y, z for vectors and by number for anything longer.

    Args:
        name: Of the array.
        array: The values.
        num_axes: Number of axes before the components: 1 for points, 2 for times and points.

    >>> list(components("U", np.zeros((4, 2)))), list(components("T", np.zeros(4)))
    (['U_x', 'U_y'], ['T'])
    """
    table = array.reshape(*array.shape[:num_axes], -1)
    if table.shape[-1] == 1:
        return {name: table[..., 0]}
    suffixes = "xyz" if table.shape[-1] <= 3 else map(str, range(table.shape[-1]))
    return {
        f"{name}_{suffix}": table[..., place] for place, suffix in zip(range(table.shape[-1]), suffixes, strict=False)
    }
