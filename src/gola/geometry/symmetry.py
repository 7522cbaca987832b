"""Symmetries of a box: the ways to reflect and turn it onto itself."""

import itertools
import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from jaxtyping import Float, Num
from scipy.spatial import cKDTree

AXES = "xyz"
"""What texts call the coordinates."""
# The time is a fourth one, where there are three of space.
_LETTERS = f"{AXES}t"
# Images of points lie in the domain if they are as near to points as points are to each other: up to this factor, and
# but for this share of them.
_GAP_FACTOR = 2.0
_OUTLIERS = 0.01
# Sides that differ by less count as equal, so that their axes may be swapped.
_SIDE_TOLERANCE = 0.05


@final
@dataclass(frozen=True, kw_only=True)
class Symmetry:
    """A map of the unit cube onto itself, with signs of inputs and solutions.

    As text it is the coordinates of the image of (x, y, z), without commas.

    >>> str(Symmetry(axes=(1, 0), flips=(True, False)))
    '-yx'

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
    def parse(text: str) -> "Symmetry":
        """Read the coordinates of an image, each with a minus where it is reflected.

        >>> Symmetry.parse("-xy")
        Symmetry(axes=(0, 1), flips=(True, False), input_sign=1, output_sign=1)
        """
        found = re.findall(f"(-?)([{_LETTERS}])", text)
        axes = tuple(_LETTERS.index(letter) for _, letter in found)
        if "".join(sign + letter for sign, letter in found) != text or set(axes) != set(range(len(axes))) or not axes:
            raise ValueError(
                f"A symmetry is written as the image of xy or xyz, for instance -xy (a reflection), yx (a swap) or -yx"
                f" (a quarter turn); got {text!r}."
            )
        return Symmetry(axes=axes, flips=tuple(sign == "-" for sign, _ in found))

    @staticmethod
    def from_dict(settings: dict[str, Any]) -> "Symmetry":
        """Undo ``dataclasses.asdict``, also after a way through JSON."""
        return Symmetry(**{**settings, "axes": tuple(settings["axes"]), "flips": tuple(settings["flips"])})

    def __str__(self) -> str:
        return "".join("-" * flip + _LETTERS[axis] for axis, flip in zip(self.axes, self.flips, strict=True))

    @property
    def dim(self) -> int:
        """Number of coordinates of a point."""
        return len(self.axes)

    def with_time(self) -> "Symmetry":
        """Return the same map of space, with the time as a further coordinate that stays as it is."""
        return replace(self, axes=(*self.axes, self.dim), flips=(*self.flips, False))

    def after(self, other: "Symmetry") -> "Symmetry":
        """Return the map that does the other one first."""
        return Symmetry(
            axes=tuple(other.axes[axis] for axis in self.axes),
            flips=tuple(flip != other.flips[axis] for flip, axis in zip(self.flips, self.axes, strict=True)),
            input_sign=self.input_sign * other.input_sign,
            output_sign=self.output_sign * other.output_sign,
        )

    @property
    def is_reflection(self) -> bool:
        """Whether left becomes right, as an odd number of swaps and flips makes it."""
        pairs = itertools.combinations(self.axes, 2)
        return (sum(first > second for first, second in pairs) + sum(self.flips)) % 2 == 1

    @property
    def inverse(self) -> "Symmetry":
        """The map that undoes this one."""
        axes = tuple(self.axes.index(axis) for axis in range(self.dim))
        return Symmetry(
            axes=axes,
            flips=tuple(self.flips[axis] for axis in axes),
            input_sign=self.input_sign,
            output_sign=self.output_sign,
        )

    def images(self, points: Num[np.ndarray, "point dim"], side: int = 1) -> Num[np.ndarray, "point dim"]:
        """Return where points of a cube from 0 to its side go."""
        moved = points[:, list(self.axes)]
        return np.where(self.flips, side - moved, moved)

    def images_in_box(
        self,
        points: Float[np.ndarray, "point dim"],
        lower: Float[np.ndarray, " dim"],
        sides: Float[np.ndarray, " dim"],
    ) -> Float[np.ndarray, "point dim"]:
        """Return where points of a box go, in fractions of its sides."""
        # Points on a plane have no extent across it; any will do there.
        lengths = np.where(sides > 0.0, sides, 1.0)
        return lower + lengths * self.images((points - lower) / lengths)


def candidates(dim: int, *, has_time_axis: bool = False) -> list[Symmetry]:
    """Return all symmetries of the cube that move points, with each pair of signs but two negative ones.

    Negating both says of a linear operator only that it maps zero to zero, so these symmetries teach nothing that
    those without signs do not.

    Args:
        dim: Number of coordinates of a point.
        has_time_axis: Whether the last of them is the time, which no symmetry moves.
    """
    if has_time_axis:
        return [one.with_time() for one in candidates(dim - 1)]
    moves = itertools.product(itertools.permutations(range(dim)), itertools.product((False, True), repeat=dim))
    still = Symmetry.identity(dim)
    return [
        Symmetry(axes=axes, flips=flips, input_sign=input_sign, output_sign=output_sign)
        for axes, flips in moves
        if (axes, flips) != (still.axes, still.flips)
        for input_sign, output_sign in ((1, 1), (-1, 1), (1, -1))
    ]


def domain_symmetries(samples: Sequence[Float[np.ndarray, "_ dim"]], *, has_time_axis: bool = False) -> list[Symmetry]:
    """Return the symmetries without signs that leave the domain of scattered points as it is.

    Args:
        samples: Points of each sample; they lie in one domain, or in domains that are as likely as their images.
        has_time_axis: Whether the last coordinate is the time, which no symmetry moves.
    """
    points = np.concatenate(samples)
    lower, sides = points.min(axis=0), np.ptp(points, axis=0)
    tree, first = cKDTree(points), samples[0]
    gap = np.quantile(cKDTree(first).query(first, k=[2])[0], 1.0 - _OUTLIERS)
    found = []
    for one in candidates(len(lower), has_time_axis=has_time_axis):
        has_signs = (one.input_sign, one.output_sign) != (1, 1)
        if has_signs or not np.allclose(sides[list(one.axes)], sides, rtol=_SIDE_TOLERANCE):
            continue
        distances, _ = tree.query(one.images_in_box(first, lower, sides))
        if np.quantile(distances, 1.0 - _OUTLIERS) <= _GAP_FACTOR * gap:
            found.append(one)
    return found


def generated_group(generators: Iterable[Symmetry], dim: int) -> tuple[Symmetry, ...]:
    """Return all products of some symmetries, the identity first.

    >>> [str(one) for one in generated_group([Symmetry.parse("-yx")], dim=2)]
    ['xy', '-yx', '-x-y', 'y-x']
    """
    found = dict.fromkeys([Symmetry.identity(dim)])
    for generator in generators:
        found |= dict.fromkeys([generator])
        while len(products := found | dict.fromkeys(one.after(other) for one in found for other in found)) > len(found):
            found = products
    return tuple(found)


def largest_group(accepted: Sequence[Symmetry], dim: int, at_most: int) -> tuple[Symmetry, ...]:
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
    return tuple(largest)


def _joined(group: list[Symmetry], other: Symmetry, allowed: Set[Symmetry], at_most: int) -> list[Symmetry] | None:
    """Return the group that another symmetry generates with this one, or nothing if it has more than is allowed."""
    found = dict.fromkeys([*group, other])
    while len(found) <= at_most and found.keys() <= allowed:
        products = dict.fromkeys(one.after(partner) for one in found for partner in found)
        if products.keys() <= found.keys():
            return list(found)
        found |= products
    return None
