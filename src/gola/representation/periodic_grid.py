"""Functions on a periodic box, by their values on an equispaced grid: shifts and reflections of the box are exact."""

from collections.abc import Sequence
from typing import final

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from gola.geometry.interpolation import interpolation_weights
from gola.geometry.symmetry import Symmetry
from gola.representation.fitted import Fitted

# Points that are nearer to a node than this share of the spacing are the node.
_SAME = 1e-5
# How far points are copied beyond the box for interpolation, as a share of the period.
_REACH = 0.15


@final
class PeriodicGrid(Fitted):
    """Values at the nodes of an equispaced grid on a box that repeats along every axis.

    Functions that are known at the nodes are what they are. Those known elsewhere are interpolated to the nodes, with
    what lies beyond the box. Between nodes functions are trigonometric polynomials.

    Attributes:
        lower: A node.
        periods: Sides of the box.
        shape: Number of nodes along each axis.
    """

    lower: Float[Tensor, " dim"]
    periods: Float[Tensor, " dim"]
    shape: Int[Tensor, " dim"]

    def __init__(self) -> None:
        super().__init__()
        self._register_empty("lower", "periods")
        self.register_buffer("shape", torch.empty(0, dtype=torch.int64))

    @staticmethod
    def around(points: Float[Tensor, "point dim"], periods: Float[Tensor, " dim"], most: int) -> "PeriodicGrid":
        """Make the grid of points that form one, or a grid of as many nodes as there are points.

        Args:
            points: Points of a typical sample.
            periods: The period along each axis.
            most: The largest number of nodes of a grid that is not that of the points.
        """
        grid = PeriodicGrid()
        grid.lower, grid.periods = points.min(dim=0).values.double(), periods.double()
        counts = [_distinct(axis, period) for axis, period in zip(points.double().T, grid.periods, strict=True)]
        grid.shape = torch.tensor(counts)
        if grid._rows(points.double()) is None:
            side = min(len(points), most) ** (1.0 / len(periods))
            grid.shape = torch.full((len(periods),), 2 * max(2, round(0.5 * side)))
        return grid

    @property
    def num_modes(self) -> int:
        """Number of nodes."""
        return int(self.shape.prod()) if len(self.shape) else 0

    @property
    def sides(self) -> tuple[int, ...]:
        """Number of nodes along each axis."""
        return tuple(self.shape.tolist())

    def fractions(self, points: Float[Tensor, "point dim"]) -> Float[Tensor, "point dim"]:
        """Return coordinates in which the box is the unit cube."""
        return ((points.double() - self.lower) / self.periods) % 1.0

    def coefficients(
        self, points: Sequence[Float[Tensor, "_ dim"]], values: Sequence[Float[Tensor, "_ channel"]]
    ) -> Float[Tensor, "sample node channel"]:
        """Return the values of each sample at the nodes."""
        return torch.stack([self._at_nodes(*sample) for sample in zip(points, values, strict=True)])

    def values(
        self,
        points: Float[Tensor, "point dim"],
        coefficients: Float[Tensor, "node channel"],
        nodes: Float[Tensor, "_ dim"] | None = None,  # noqa: ARG002  # spaces of moved nodes ask for them
    ) -> Float[Tensor, "point channel"]:
        """Evaluate a function."""
        # A node's own value does not tell how the function changes from there.
        rows = None if points.requires_grad else self._rows(points.double())
        if rows is not None:
            return coefficients[rows]
        spectrum = torch.fft.fftn(
            coefficients.unflatten(0, self.sides), dim=tuple(range(len(self.sides))), norm="forward"
        )
        waves = [
            self._waves(fraction, side) for fraction, side in zip(self.fractions(points).T, self.sides, strict=True)
        ]
        found = torch.einsum("pa,a...->p...", waves[0], spectrum)
        for wave in waves[1:]:
            found = torch.einsum("pa,pa...->p...", wave, found)
        return found.real

    def image(
        self, symmetry: Symmetry, values: Float[Tensor, "sample node channel"]
    ) -> Float[Tensor, "sample node channel"]:
        """Return functions composed with a reflection or swap of axes, which maps nodes to nodes."""
        on_grid = values.unflatten(1, self.sides)
        moved = on_grid.movedim(tuple(1 + axis for axis in symmetry.axes), tuple(range(1, 1 + symmetry.dim)))
        for axis, flip in enumerate(symmetry.flips, start=1):
            if flip:
                moved = moved.flip(axis).roll(1, axis)
        return moved.flatten(1, symmetry.dim)

    def allows(self, symmetry: Symmetry) -> bool:
        """Whether a symmetry maps the grid to itself."""
        same = [(self.sides[a], float(self.periods[a])) for a in symmetry.axes]
        return all(
            count == side and abs(period - float(own)) <= _SAME * float(own)
            for (count, period), side, own in zip(same, self.sides, self.periods, strict=True)
        )

    def _waves(self, fractions: Float[Tensor, " point"], side: int) -> Tensor:
        numbers = torch.fft.fftfreq(side, 1.0 / side, dtype=torch.float64, device=fractions.device)
        waves = torch.exp(2j * torch.pi * fractions[:, None] * numbers)
        if side % 2:
            return waves
        # The highest wave of an even number of nodes is a cosine.
        cosine = torch.cos(torch.pi * side * fractions).to(waves.dtype)[:, None]
        return torch.cat([waves[:, : side // 2], cosine, waves[:, side // 2 + 1 :]], dim=1)

    def _rows(self, points: Float[Tensor, "point dim"]) -> Int[Tensor, " point"] | None:
        """Return which node each point is; None where some are none, or nodes are missing."""
        places = self.fractions(points) * self.shape
        nearest = places.round()
        if bool(((places - nearest).abs() > _SAME * self.shape).any()):
            return None
        index = nearest.long() % self.shape
        rows = torch.zeros(len(points), dtype=torch.int64)
        for column, side in zip(index.T, self.sides, strict=True):
            rows = rows * side + column
        return rows

    def _at_nodes(
        self, points: Float[Tensor, "point dim"], values: Float[Tensor, "point channel"]
    ) -> Float[Tensor, "node channel"]:
        rows = self._rows(points.double())
        counts = None if rows is None else torch.bincount(rows, minlength=self.num_modes)
        if rows is not None and counts is not None and bool((counts > 0).all()):
            # A grid that contains both ends of the box has some nodes twice.
            sums = values.new_zeros(self.num_modes, values.shape[1]).index_add(0, rows, values)
            return sums / counts[:, None]
        places, copied = self._with_copies(points.double(), values)
        nearest, weights = interpolation_weights(places.numpy(), self._nodes())
        return torch.einsum("nk,nkc->nc", torch.from_numpy(weights), copied[torch.from_numpy(nearest)])

    def _with_copies(
        self, points: Float[Tensor, "point dim"], values: Float[Tensor, "point channel"]
    ) -> tuple[Float[Tensor, "copy dim"], Float[Tensor, "copy channel"]]:
        fractions, rows = self.fractions(points), torch.arange(len(points))
        for axis in range(len(self.sides)):
            low, high = fractions[:, axis] < _REACH, fractions[:, axis] > 1.0 - _REACH
            step = torch.zeros_like(fractions[:1])
            step[:, axis] = 1.0
            fractions = torch.cat([fractions, fractions[low] + step, fractions[high] - step])
            rows = torch.cat([rows, rows[low], rows[high]])
        return fractions, values[rows]

    def _nodes(self) -> Float[np.ndarray, "node dim"]:
        axes = [np.arange(side) / side for side in self.sides]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def _distinct(coordinates: Float[Tensor, " point"], period: Float[Tensor, ""]) -> int:
    """Return how many places there are along an axis, ends of a period counted once."""
    fractions = ((coordinates - coordinates.min()) / period) % 1.0
    found = torch.unique((fractions / _SAME).round() * _SAME)
    return int((found < 1.0 - 2.0 * _SAME).sum())


def likely_periods(
    points: Float[Tensor, "point dim"], functions: Sequence[Float[Tensor, "point channel"]]
) -> Float[Tensor, " dim"] | None:
    """Return the periods of functions on an equispaced grid that look as if they repeat along every axis; else None.

    They do if values at both ends of each axis differ no more than neighbours do elsewhere: by one spacing where the
    grid leaves the last end out, and not at all where it has both ends. Functions that hardly differ from each other at
    the ends have boundary values there, and shifts of them would not.
    """
    periods = []
    sizes = []
    for axis in points.double().T:
        places = torch.unique((axis / (axis.max() - axis.min()).clamp(min=1e-300) * 1e6).round()) / 1e6
        sizes.append(len(places))
        spacings = places.diff()
        if len(places) < 8 or bool((spacings - spacings.mean()).abs().max() > 1e-3 * spacings.mean()):
            return None
        periods.append(float(axis.max() - axis.min()) * len(places) / (len(places) - 1))
    if int(np.prod(sizes)) != len(points):
        return None
    order = np.lexsort(points.numpy().T[::-1])
    fields = torch.stack([values[torch.from_numpy(order)] for values in functions]).unflatten(1, sizes)
    for axis in range(len(sizes)):
        last, first = fields.select(1 + axis, -1), fields.select(1 + axis, 0)
        inside = fields.diff(dim=1 + axis)
        seam, typical = (last - first).square().mean().sqrt(), inside.square().mean().sqrt()
        if float(seam) < _SAME * float(typical):  # the grid has both ends
            periods[axis] *= (sizes[axis] - 1) / sizes[axis]
        elif float(seam) > _CONTINUES * float(typical):
            return None
        if float(first.var(0, correction=0).mean()) < _DIFFERS * float(fields.var(0, correction=0).mean()):
            return None
    return torch.tensor(periods, dtype=torch.float64)


# Across the seam values may differ by so many times what neighbours differ by.
_CONTINUES = 3.0
# At the ends of an axis functions have at least this share of the variance that they have elsewhere.
_DIFFERS = 0.05
