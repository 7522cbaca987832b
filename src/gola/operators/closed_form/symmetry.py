r"""Symmetries of the bounding box, which turn one training sample into several where the operator has them.

A map g of the box onto itself permutes its axes and reflects some of them; lengths are fractions of the box. Where
with each input f and its solution u also :math:`\pm f \circ g` has the solution :math:`\pm u \circ g`, every sample is
worth as many as there are such maps. On sums of cosines on a box with the same centre, g is exact: it permutes their
coefficients and changes the sign of some.
"""

import itertools
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import torch
from jaxtyping import Float, Int, Num
from torch import Tensor

from gola.operators.closed_form.cosines import flat_index, lowest_waves
from gola.operators.closed_form.function_space import FunctionSpace


@final
@dataclass(frozen=True, kw_only=True)
class Symmetry:
    """A map of the unit cube onto itself, with signs of inputs and solutions.

    Attributes:
        axes: For each coordinate of the image, the coordinate of the point that it comes from.
        flips: Whether that coordinate z becomes 1 − z, for each coordinate of the image.
        input_sign: What inputs are multiplied by, 1 or −1.
        output_sign: What solutions are multiplied by.
    """

    axes: tuple[int, ...]
    flips: tuple[bool, ...]
    input_sign: int = 1
    output_sign: int = 1

    @staticmethod
    def identity(dim: int) -> "Symmetry":
        """Return the map that changes nothing."""
        return Symmetry(axes=tuple(range(dim)), flips=(False,) * dim)

    @staticmethod
    def from_dict(settings: dict[str, Any]) -> "Symmetry":
        """Undo ``dataclasses.asdict``, also after a way through JSON."""
        return Symmetry(**{**settings, "axes": tuple(settings["axes"]), "flips": tuple(settings["flips"])})

    def after(self, other: "Symmetry") -> "Symmetry":
        """Return the map that does the other one first."""
        return Symmetry(
            axes=tuple(other.axes[axis] for axis in self.axes),
            flips=tuple(flip != other.flips[axis] for flip, axis in zip(self.flips, self.axes, strict=True)),
            input_sign=self.input_sign * other.input_sign,
            output_sign=self.output_sign * other.output_sign,
        )

    @property
    def inverse(self) -> "Symmetry":
        """The map that undoes this one."""
        axes = tuple(self.axes.index(axis) for axis in range(len(self.axes)))
        return Symmetry(
            axes=axes,
            flips=tuple(self.flips[axis] for axis in axes),
            input_sign=self.input_sign,
            output_sign=self.output_sign,
        )

    def images(self, points: Num[Tensor, "point dim"], side: int = 1) -> Num[Tensor, "point dim"]:
        """Return where points of a cube from 0 to its side go."""
        moved = points[:, list(self.axes)]
        return torch.where(torch.tensor(self.flips, device=points.device), side - moved, moved)

    def composed(
        self, space: FunctionSpace, coefficients: Float[Tensor, "*shape mode"]
    ) -> Float[Tensor, "*shape mode"]:
        """Return the coefficients of f∘g from those of f; the space has to hold whole shells of waves."""
        sources, signs = _transformation(self.axes, self.flips, space.num_modes)
        return coefficients[..., sources.to(coefficients.device)] * signs.to(coefficients)


@final
@dataclass(frozen=True)
class Symmetries:
    """A group of symmetries, the identity first."""

    elements: tuple[Symmetry, ...]

    def __len__(self) -> int:
        return len(self.elements)

    @staticmethod
    def none(dim: int) -> "Symmetries":
        """Return the group of the identity alone."""
        return Symmetries((Symmetry.identity(dim),))

    def inputs(
        self, space: FunctionSpace, features: Float[Tensor, "sample channel mode"]
    ) -> Float[Tensor, "copy channel mode"]:
        """Return all copies of all inputs, those by the identity first."""
        return torch.cat([one.input_sign * one.composed(space, features) for one in self.elements])

    def solutions(
        self, space: FunctionSpace, coefficients: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "copy mode channel"]:
        """Return the copies of all solutions in the same order."""
        return torch.cat([one.output_sign * one.composed(space, coefficients.mT).mT for one in self.elements])

    def groups(self, num_samples: int) -> Int[Tensor, "sample member"] | None:
        """Return for each sample the rows of its copies, or nothing where there are none."""
        return None if len(self) == 1 else torch.arange(len(self) * num_samples).view(len(self), num_samples).T

    @property
    def tied_axes(self) -> list[tuple[int, ...]]:
        """The axes, those together that a symmetry swaps."""
        return sorted(
            {tuple(sorted(set(origins))) for origins in zip(*(one.axes for one in self.elements), strict=True)}
        )

    def node_images(self, count: int, dim: int) -> Int[Tensor, "symmetry node"]:
        """Return the number of the node that each node of a symmetric lattice goes to."""
        nodes = torch.cartesian_prod(*[torch.arange(count)] * dim).view(-1, dim)
        return torch.stack([flat_index(one.images(nodes, count - 1)) for one in self.elements])


def candidates(dim: int) -> list[Symmetry]:
    """Return all symmetries of the cube that move points, with each pair of signs but two negative ones.

    Negating both says of a linear operator only that it maps zero to zero, so these symmetries teach nothing that
    those without signs do not.
    """
    moves = itertools.product(itertools.permutations(range(dim)), itertools.product((False, True), repeat=dim))
    still = Symmetry.identity(dim)
    return [
        Symmetry(axes=axes, flips=flips, input_sign=input_sign, output_sign=output_sign)
        for axes, flips in moves
        if (axes, flips) != (still.axes, still.flips)
        for input_sign, output_sign in ((1, 1), (-1, 1), (1, -1))
    ]


def largest_group(accepted: Sequence[Symmetry], dim: int, at_most: int) -> Symmetries:
    """Return a large group of symmetries that have all been accepted, given in order of preference."""
    allowed = {Symmetry.identity(dim), *accepted}
    found = [[Symmetry.identity(dim)]]
    # What joins first keeps others out, so each that has found no place yet starts a group of its own.
    for first in accepted:
        if any(first in group for group in found):
            continue
        group = found[0]
        for one in (first, *accepted):
            if one not in group:
                group = _joined(group, one, allowed, at_most) or group
        found.append(group)
    largest = max(found, key=len)
    return Symmetries(tuple(largest))


def whole_shells(num_modes: int, dim: int) -> int:
    """Return the largest number of functions, up to this one, that hold with each wave all its permutations.

    >>> whole_shells(2, dim=2)
    1
    """
    lengths = lowest_waves(num_modes + 1, dim).square().sum(dim=1)
    return int((lengths[:num_modes] < lengths[num_modes]).sum())


def _joined(group: list[Symmetry], other: Symmetry, allowed: Set[Symmetry], at_most: int) -> list[Symmetry] | None:
    """Return the group that another symmetry generates with this one, or nothing if it has more than is allowed."""
    found = dict.fromkeys([*group, other])
    while len(found) <= at_most and found.keys() <= allowed:
        products = dict.fromkeys(one.after(partner) for one in found for partner in found)
        if products.keys() <= found.keys():
            return list(found)
        found |= products
    return None


@lru_cache(maxsize=128)
def _transformation(
    axes: tuple[int, ...], flips: tuple[bool, ...], num_modes: int
) -> tuple[Int[Tensor, " mode"], Float[Tensor, " mode"]]:
    """Return where each coefficient of f∘g comes from, and its sign."""
    waves = lowest_waves(num_modes, len(axes))
    permuted = waves[:, list(axes)]
    places = torch.full(((int(waves.max()) + 1) ** len(axes),), -1)
    places[flat_index(waves)] = torch.arange(num_modes)
    sources = places[flat_index(permuted)]
    assert bool((sources >= 0).all()), "Only whole shells of waves can be permuted."
    flipped = (permuted * torch.tensor(flips)).sum(dim=1)
    return sources, 1.0 - 2.0 * (flipped % 2)
