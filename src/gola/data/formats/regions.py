"""Labelled parts of a mesh, materials and boundary parts, as indicator functions at the points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

# Whole numbers with more values than this number cells; they do not tell materials apart.
_MOST_LABELS = 64


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelledCells:
    """Cells of one kind with a label each; single points are cells of one point.

    Attributes:
        cells: Points of each cell.
        labels: The label of each.
        sizes: Length, area or volume of each; 1 for single points.
        fills: Whether such cells fill the domain; if not, they lie on its boundary or between its parts.
        dim: Their dimension.
    """

    cells: Int[np.ndarray, "cell vertex"]
    labels: Int[np.ndarray, " cell"]
    sizes: Float[np.ndarray, " cell"]
    fills: bool
    dim: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Labels:
    """One array of labels in a file.

    Attributes:
        name: Of the array: ``MaterialIds``, ``gmsh:physical``.
        parts: What is labelled.
        titles: Names of labels by dimension and number, where the file has them.
    """

    name: str
    parts: Sequence[LabelledCells]
    titles: Mapping[tuple[int, int], str] = field(default_factory=dict)

    def indicators(self, num_points: int, label: str) -> dict[str, Float[np.ndarray, " point"]]:
        """Return the indicator function of each labelled part, by its name.

        At a point of several cells it is their share by volume: 0.5 on the interface of two materials. Parts of the
        boundary have the indicator 1 at all of their points.

        Args:
            num_points: Number of points.
            label: What an error message calls the file.
        """
        found: dict[str, np.ndarray] = {}
        for fills in (True, False):
            parts = [part for part in self.parts if part.fills == fills]
            numbers = sorted({int(number) for part in parts for number in np.unique(part.labels)})
            if len(numbers) > _MOST_LABELS:
                raise ValueError(
                    f"{label}: {self.name!r} has {len(numbers)} different labels; regions have at most {_MOST_LABELS}."
                )
            for number in numbers:
                # 0 stands for no label in Gmsh.
                if number or fills:
                    found[self._title(number, parts, fills=fills)] = _indicator(parts, number, num_points)
        return found

    def _title(self, number: int, parts: Sequence[LabelledCells], *, fills: bool) -> str:
        dims = {part.dim for part in parts if (part.labels == number).any()}
        titles = [self.titles[dim, number] for dim in sorted(dims) if (dim, number) in self.titles]
        if titles:
            return f"{self.name}={titles[0]}"
        return f"{self.name}={number}" if fills else f"{self.name}:boundary={number}"


def _indicator(parts: Sequence[LabelledCells], number: int, num_points: int) -> Float[np.ndarray, " point"]:
    inside, all_cells = np.zeros(num_points), np.zeros(num_points)
    for part in parts:
        sizes = np.broadcast_to(part.sizes[:, None], part.cells.shape)
        chosen = part.labels == number
        np.add.at(inside, part.cells[chosen], sizes[chosen])
        if part.fills:
            np.add.at(all_cells, part.cells, sizes)
    if not any(part.fills for part in parts):
        return (inside > 0.0).astype(np.float64)
    return inside / np.where(all_cells > 0.0, all_cells, 1.0)


def same_parts(
    indicators: Sequence[Mapping[str, Float[np.ndarray, " _"]]], sizes: Sequence[int]
) -> list[dict[str, Float[np.ndarray, " _"]]]:
    """Return indicators with the same parts for all simulations; a part that one does not have is 0 there."""
    names = list(dict.fromkeys(name for one in indicators for name in one))
    return [
        {name: one.get(name, np.zeros(size)) for name in names} for one, size in zip(indicators, sizes, strict=True)
    ]
