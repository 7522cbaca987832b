"""How smooth the functions of a data set are: penalties chosen by leaving out points."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gola.representation.function_space import FunctionSpace
from gola.representation.held_out_points import (
    Errors,
    HeldOutPoints,
    held_out_errors,
    is_local,
    relative_squares,
    variation,
)
from gola.representation.representatives import representatives, spread

# Exponents p of the penalties (1 + ω²/ω₀²)ᵖ, beyond the d/2 that continuity takes.
_EXPONENTS = (0.5, 1.0, 2.0, 4.0)
# The frequency ω₀ up to which functions may vary freely: about three half-waves across the box.
_CORNER = 10.0
# Where a sample has no more points than this, penalties exp(ω²/ω₀²) are tried too, with these ω₀: they suit functions
# that are smoother than any power, of which few points tell much. With many points `linear` errs more with them.
_FEW_POINTS = 200
_GAUSSIAN_CORNERS = (3.0, 4.0, 5.0, 6.0, 7.0, 14.0)
_LARGEST_POWER = 60.0
# Strengths of the penalty, as a share of the number of points. The smallest is where rounding takes over.
_STRENGTHS = torch.logspace(0, -12, 25, dtype=torch.float64)

# Where a sample has more points than this, settings are searched for instead of trying all.
_ALL_BELOW = 250
# Where parts of some samples show as much as whole ones, the points in the middle of each are held out.
_NUM_PARTS, _PART_POINTS, _MIDDLE_POINTS = 4, 350, 150
# Else some points of one sample are held out.
_HELD_OUT = 250
# A search looks at these strengths first, and at others between them then.
_COARSE_STRENGTHS, _FINER_STEPS = (3, 9, 15, 21), (3, 1)
# It starts with this growth; others are followed as long as their squared errors are not larger by this factor.
_FIRST, _CLOSE = 2, 2.0
# Growths whose squared errors on the first sample are not larger by this factor are compared on all samples.
_PROMISING = 1.2


def with_chosen_penalties(
    space: FunctionSpace,
    points: Sequence[Float[Tensor, "_ dim"]],
    values: Sequence[Float[Tensor, "_ channel"]],
) -> FunctionSpace:
    r"""Return the space with the penalties :math:`\rho_k = \varepsilon N (1 + \omega_k^2/\omega_0^2)^p` that fit best.

    Where points are few, :math:`\varepsilon N \exp(\omega_k^2/\omega_0^2)` are tried too. Exponent p, or corner
    :math:`\omega_0`, and strength ε minimise the squared error of predicting each point from the others. Generalised
    cross-validation, which is simpler, is blind to the boundary, where a point has fewer neighbours and the fit leans
    on it.
    """
    chosen = representatives(points)
    num_points = sum(len(points[row]) for row in chosen) / len(chosen)
    growths = _growths(space, is_few=num_points <= _FEW_POINTS)
    strengths = num_points * _STRENGTHS
    if num_points <= _ALL_BELOW:
        rows = [(points[row], values[row]) for row in chosen]
        best, place = _best_of_all(space, growths, strengths, rows)
    else:
        first = chosen[0]
        local = is_local(space, len(points[first]))
        samples = _parts(space, points, values) if local else [_whole(space, points[first], values[first])]
        best, place = _Search(samples=samples, growths=growths, strengths=strengths).best()
    return space.with_penalties(float(strengths[place]) * growths[best])


def _growths(space: FunctionSpace, *, is_few: bool) -> list[Float[Tensor, " mode"]]:
    """Return the ways in which penalties may grow."""
    powers = [growth(space, 0.5 * space.dim + excess) for excess in _EXPONENTS]
    if not is_few:
        return powers
    squares = [(space.frequencies / corner).square() for corner in _GAUSSIAN_CORNERS]
    return [*powers, *(one.clamp(max=_LARGEST_POWER).exp() for one in squares)]


def growth(space: FunctionSpace, exponent: float, corner: float = _CORNER) -> Float[Tensor, " mode"]:
    """Return (1 + ω²/ω₀²)ᵖ for each function."""
    return (1.0 + (space.frequencies / corner) ** 2) ** exponent


def _best_of_all(
    space: FunctionSpace,
    growths: Sequence[Float[Tensor, " mode"]],
    strengths: Float[Tensor, " strength"],
    samples: Sequence[tuple[Float[Tensor, "_ dim"], Float[Tensor, "_ channel"]]],
) -> tuple[int, int]:
    """Return the numbers of the growth and the strength with which all points are predicted best."""
    scores = torch.zeros(len(growths), len(strengths), dtype=torch.float64)
    for points, values in samples:
        for number, penalties in enumerate(growths):
            errors = held_out_errors(space, penalties, strengths.to(points.device), points, values)
            scores[number] += relative_squares(errors, variation(values)).cpu()
    best, place = divmod(int(scores.argmin()), len(strengths))
    return best, place


def _parts(
    space: FunctionSpace, points: Sequence[Float[Tensor, "_ dim"]], values: Sequence[Float[Tensor, "_ channel"]]
) -> list[HeldOutPoints]:
    """Return parts of some samples, each around a point of its own, with the points in the middle held out."""
    parts = []
    for row in spread(len(points), at_most=_NUM_PARTS):
        fractions = space.fractions(points[row])
        middle = fractions[torch.randint(len(fractions), (1,), generator=torch.Generator().manual_seed(row))]
        order = (fractions - middle).abs().amax(dim=1).argsort()[:_PART_POINTS].flip(0)
        parts.append(_held_out(space, points[row], values[row], order, _MIDDLE_POINTS))
    return parts


def _whole(
    space: FunctionSpace, points: Float[Tensor, "point dim"], values: Float[Tensor, "point channel"]
) -> HeldOutPoints:
    """Return a sample of which some points are held out."""
    order = torch.randperm(len(points), generator=torch.Generator().manual_seed(0)).to(points.device)
    return _held_out(space, points, values, order, _HELD_OUT)


def _held_out(
    space: FunctionSpace,
    points: Float[Tensor, "point dim"],
    values: Float[Tensor, "point channel"],
    order: Int[Tensor, " row"],
    count: int,
) -> HeldOutPoints:
    return HeldOutPoints(
        space=space,
        points=points[order],
        values=values[order],
        count=min(count, len(order)),
        squares=variation(values),
    )


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class _Search:
    """A search for the settings with which held-out points are predicted best.

    Attributes:
        samples: The points.
        growths: The ways in which penalties may grow.
        strengths: Their strengths.
        errors: What tells errors of each sample, by number of growth.
        scored: Squared errors by numbers of growth and strength.
    """

    samples: Sequence[HeldOutPoints]
    growths: Sequence[Float[Tensor, " mode"]]
    strengths: Float[Tensor, " strength"]
    errors: dict[int, list[Errors]] = field(default_factory=dict)
    scored: dict[tuple[int, int], float] = field(default_factory=dict)

    def best(self) -> tuple[int, int]:
        """Return the numbers of the best growth and strength that were met."""
        if len(self.samples) == 1:
            self._look(range(len(_EXPONENTS)))
        else:
            # One sample shows which growths are worth a look at all of them.
            first = replace(self, samples=self.samples[:1], errors={}, scored={})
            first._look(range(len(_EXPONENTS)))
            self._look(first._promising())
        return min(self.scored, key=self.scored.__getitem__)

    def _look(self, growths: Iterable[int]) -> None:
        """Score one growth, and those of some others that are not far behind it."""
        place = min(_COARSE_STRENGTHS, key=lambda one: self._score(_FIRST, one))
        place = self._descended(_FIRST, place, _FINER_STEPS)
        for number in growths:
            # The frequency from which on the penalty outweighs the data stays about the same.
            start = round(place * (self._half_dim + _EXPONENTS[number]) / (self._half_dim + _EXPONENTS[_FIRST]))
            start = min(start, len(self.strengths) - 1)
            if self._score(number, start) <= _CLOSE * min(self.scored.values()):
                self._descended(number, start, _FINER_STEPS[-1:])

    def _promising(self) -> list[int]:
        """Return the growths whose best errors are not far from the smallest."""
        limit = _PROMISING * min(self.scored.values())
        return sorted({number for (number, _), error in self.scored.items() if error <= limit})

    def _descended(self, number: int, place: int, steps: Sequence[int]) -> int:
        for step in steps:
            before = None
            while place != before:
                before = place
                nearby = [one for one in (place - step, place, place + step) if 0 <= one < len(self.strengths)]
                place = min(nearby, key=lambda one: self._score(number, one))
        return place

    @property
    def _half_dim(self) -> float:
        return 0.5 * self.samples[0].space.dim

    def _score(self, number: int, place: int) -> float:
        if number not in self.errors:
            self.errors[number] = [sample.under(self.growths[number]) for sample in self.samples]
        if (number, place) not in self.scored:
            strength = float(self.strengths[place])
            pairs = zip(self.samples, self.errors[number], strict=True)
            scores = [relative_squares(errors(strength), sample.squares) for sample, errors in pairs]
            self.scored[number, place] = float(torch.stack(scores).sum())
        return self.scored[number, place]
