r"""Symmetries of the bounding box, which turn one training sample into several where the operator has them.

A map g of the box onto itself permutes its axes and reflects some of them; lengths are fractions of the box. Where
with each input f and its solution u also :math:`\pm f \circ g` has the solution :math:`\pm u \circ g`, every sample is
worth as many as there are such maps. On sums of cosines on a box with the same centre, g is exact: it permutes their
coefficients and changes the sign of some.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gola.geometry.symmetry import Symmetry
from gola.representation.cosines import flat_index, lowest_waves
from gola.representation.function_space import FunctionSpace


def composed(
    symmetry: Symmetry, space: FunctionSpace, coefficients: Float[Tensor, "*shape mode"]
) -> Float[Tensor, "*shape mode"]:
    """Return the coefficients of f∘g from those of f; the space has to hold whole shells of waves."""
    sources, signs = _transformation(symmetry.axes, symmetry.flips, space.num_modes)
    # A third of the time of indexing.
    return coefficients.index_select(-1, sources.to(coefficients.device)) * signs.to(coefficients)


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
        return torch.cat([one.input_sign * composed(one, space, features) for one in self.elements])

    def solutions(
        self, space: FunctionSpace, coefficients: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "copy mode channel"]:
        """Return the copies of all solutions in the same order."""
        return torch.cat([one.output_sign * composed(one, space, coefficients.mT).mT for one in self.elements])

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
        images = [torch.from_numpy(one.images(nodes.numpy(), count - 1)) for one in self.elements]
        return torch.stack([flat_index(places) for places in images])


def whole_shells(num_modes: int, dim: int) -> int:
    """Return the largest number of functions, up to this one, that hold with each wave all its permutations.

    >>> whole_shells(2, dim=2)
    1
    """
    lengths = lowest_waves(num_modes + 1, dim).square().sum(dim=1)
    return int((lengths[:num_modes] < lengths[num_modes]).sum())


def with_whole_shells(space: FunctionSpace) -> FunctionSpace:
    """Return a space that symmetries of the bounding box map to itself, which costs it a few functions."""
    return space.with_penalties(space.penalties[: whole_shells(space.num_modes, space.dim)])


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
