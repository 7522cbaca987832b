"""Which evolution equation takes inputs to solutions: starts on a coarse scale, then least squares."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from gola.operators.fitted_evolution.evolution import (
    MOST_STEPS,
    NONLINEAR,
    TERMS,
    evolved,
    num_steps,
    resampled,
    terms_of,
)
from gola.representation.representatives import spread

# Samples that equations are searched with; all of them have a say in the end.
_SEARCH_SAMPLES = 6
# Starts: each term that is not linear, with these coefficients in units that change a solution by its own size, beside
# each of these diffusions.
_STRENGTHS, _DIFFUSIONS = (0.5, 2.0, 6.0), (0.1, 1.0, 10.0)
# The best of them are followed for so many steps, first with these terms beside their own, and the best of these on.
_SIMPLE = ("source", "growth", "transport", "diffusion")
_FOLLOWED, _NUM_STEPS, _LAST_STEPS = 4, 15, 3
# Derivatives by coefficients are taken over this change of them.
_DIFFERENCE = 1e-4
# Steps end where squares fall by less than this share, or after so many failures to make them fall at all.
_LEAST_GAIN, _MOST_FAILURES = 1e-3, 6
# Squared errors below this are those of rounding and of time steps.
_EXACT = 1e-13
# What an equation without a finite solution is off by.
_FAILED = 1e3
# Coefficients move by at most so many units in a step.
_LONGEST_STEP = 5.0
# Directions that solutions do not depend on are held by this share of the largest curvature.
_RIDGE, _TINY = 1e-14, 1e-300


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """A fitted equation.

    Attributes:
        coefficients: Of its terms.
        held_out: What it makes of each input with coefficients that have not seen the sample, to first order.
    """

    coefficients: Float[Tensor, " term"]
    held_out: Float[Tensor, "sample node"]


def search(inputs: Float[Tensor, "sample node"], solutions: Float[Tensor, "sample node"], fine: int) -> Found:
    """Find the equation with the least squared relative errors.

    Args:
        inputs: States at the beginning.
        solutions: States a unit of time later, at the same nodes.
        fine: Nodes of the grid to solve on.
    """
    units = _units(solutions)
    everyone = Misfit.of(inputs, solutions, units, fine)
    few = everyone.part(spread(len(inputs), at_most=_SEARCH_SAMPLES))
    coarse = few.on(inputs.shape[1])
    starts = torch.stack(list(_starts(inputs, solutions)))
    scores = coarse.squares(starts)
    best = scores.argsort()[:_FOLLOWED]
    simple = torch.tensor([name in _SIMPLE for name in TERMS])
    # Most equations have few terms, and with few there are few wrong ways to combine them.
    followed = [coarse.descended(starts[row], _NUM_STEPS, simple | (starts[row] != 0.0)) for row in best.tolist()]
    found = min(followed, key=lambda one: one.squares)
    found = few.descended(coarse.descended(found.numbers, _NUM_STEPS).numbers, _NUM_STEPS)
    found = everyone.descended(found.numbers, _LAST_STEPS)
    return Found(coefficients=found.numbers * units, held_out=everyone.held_out(found))


def _units(solutions: Float[Tensor, "sample node"]) -> Float[Tensor, " term"]:
    """Return the coefficient with which each term changes a solution by its own size in a unit of time."""
    sizes = terms_of(solutions).square().mean(dim=(1, 2)).sqrt()
    # What is the same everywhere has no derivatives.
    size = (solutions - solutions.mean(dim=1, keepdim=True)).square().mean().sqrt()
    return torch.where(sizes > 0.0, size / sizes, 1.0)


def _starts(inputs: Float[Tensor, "sample node"], solutions: Float[Tensor, "sample node"]) -> Iterator[Tensor]:
    """Yield numbers to start from: terms by themselves, beside diffusion."""
    nothing, diffusion = torch.zeros(len(TERMS), dtype=inputs.dtype), TERMS.index("diffusion")
    for share in (0.0, *_DIFFUSIONS):
        still = nothing.clone()
        still[diffusion] = share
        yield still
        moving = still.clone()
        moving[TERMS.index("transport")] = _shift(inputs, solutions) / _units(solutions)[TERMS.index("transport")]
        yield moving
        for term in NONLINEAR if share else ():
            for strength in _STRENGTHS:
                for sign in (-1.0, 1.0):
                    start = still.clone()
                    start[TERMS.index(term)] = sign * strength
                    yield start


def _shift(inputs: Float[Tensor, "sample node"], solutions: Float[Tensor, "sample node"]) -> float:
    """Return by how much of the period the longest wave moves on the whole: u(x) becomes u(x + shift)."""
    first, last = (torch.fft.rfft(values)[:, 1] for values in (inputs, solutions))
    return float((first.conj() * last).sum().angle()) / (2.0 * math.pi)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Linearised:
    """An equation, and how far it is from taking inputs to solutions, to first order.

    Attributes:
        numbers: Coefficients in their units.
        states: What the equation makes of each input.
        residuals: Errors relative to the solution of each sample, over the root of the number of samples.
        slopes: Their derivatives by the numbers.
    """

    numbers: Float[Tensor, " term"]
    states: Float[Tensor, "sample node"]
    residuals: Float[Tensor, "sample node"]
    slopes: Float[Tensor, "sample node term"]

    @property
    def squares(self) -> float:
        """The mean squared relative error."""
        return float(self.residuals.square().sum())

    def step(self, damping: float, free: Bool[Tensor, " term"]) -> Float[Tensor, " term"]:
        """Return the step of Levenberg and Marquardt in numbers that are free."""
        rows = self.slopes.flatten(0, 1)[:, free]
        curvature, gradient = rows.T @ rows, rows.T @ self.residuals.flatten()
        own = curvature.diagonal()
        damped = curvature + torch.diag(damping * own + _RIDGE * own.max() + torch.finfo(own.dtype).tiny)
        step = torch.linalg.solve(damped, -gradient)
        whole = torch.zeros_like(self.numbers)
        whole[free] = step * (_LONGEST_STEP / step.abs().max()).clamp(max=1.0)
        return whole

    def changes(self) -> Float[Tensor, "sample term"]:
        """Return how numbers change if a sample is left out, to first order."""
        curvatures = torch.einsum("snt,snr->str", self.slopes, self.slopes)
        gradients = torch.einsum("snt,sn->st", self.slopes, self.residuals)
        total = curvatures.sum(dim=0)
        # Numbers are of the order of 1: without that to hold them, few samples may leave some of them open.
        prior = self.squares / len(self.states) + _RIDGE * float(total.diagonal().max()) + _TINY
        return torch.linalg.solve(total - curvatures + prior * torch.eye(len(total), dtype=total.dtype), gradients)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Misfit:
    """How far equations are from taking inputs to solutions.

    Attributes:
        starts: Inputs on the grid to solve on.
        solutions: At the nodes where they are known.
        units: Of the coefficients.
    """

    starts: Float[Tensor, "sample fine_node"]
    solutions: Float[Tensor, "sample node"]
    units: Float[Tensor, " term"]

    @staticmethod
    def of(
        inputs: Float[Tensor, "sample node"],
        solutions: Float[Tensor, "sample node"],
        units: Float[Tensor, " term"],
        fine: int,
    ) -> "Misfit":
        """Take inputs and solutions at the same nodes."""
        return Misfit(starts=resampled(inputs, fine), solutions=solutions, units=units)

    def part(self, rows: list[int]) -> "Misfit":
        """Keep some samples."""
        return replace(self, starts=self.starts[rows], solutions=self.solutions[rows])

    def on(self, count: int) -> "Misfit":
        """Solve on another grid."""
        return replace(self, starts=resampled(self.starts, count))

    @cached_property
    def _sizes(self) -> Float[Tensor, "sample 1"]:
        sizes = self.solutions.norm(dim=1, keepdim=True)
        return torch.where(sizes > 0.0, sizes, 1.0)

    def states(self, numbers: Float[Tensor, "try term"]) -> Float[Tensor, "try sample node"]:
        """Return what equations make of the inputs; those that take too long are equations without a solution."""
        coefficients = numbers * self.units
        largest = self.starts.abs().max().expand(len(numbers))
        steps = num_steps(coefficients, largest, self.starts.shape[1])
        found = self.solutions.new_full((len(numbers), *self.solutions.shape), torch.nan)
        # Those that take about as many steps are solved together.
        levels = torch.log2(steps).ceil()
        for level in levels.unique().tolist():
            rows = torch.nonzero((levels == level) & (steps <= MOST_STEPS))[:, 0]
            if len(rows):
                found[rows] = self._evolved(coefficients[rows], int(steps[rows].max()))
        return found

    def _evolved(self, coefficients: Float[Tensor, "try term"], steps: int) -> Float[Tensor, "try sample node"]:
        count = len(self.starts)
        states = evolved(self.starts.repeat(len(coefficients), 1), coefficients.repeat_interleave(count, dim=0), steps)
        return resampled(states.nan_to_num(), self.solutions.shape[1]).unflatten(0, (-1, count))

    def residuals(self, states: Float[Tensor, "try sample node"]) -> Float[Tensor, "try sample node"]:
        """Return errors relative to the solution of each sample, over the root of the number of samples."""
        errors = (states - self.solutions) / self._sizes / math.sqrt(len(self.solutions))
        return errors.nan_to_num(_FAILED).clamp(-_FAILED, _FAILED)

    def squares(self, numbers: Float[Tensor, "try term"]) -> Float[Tensor, " try"]:
        """Return the mean squared relative error of equations."""
        return self.residuals(self.states(numbers)).square().sum(dim=(1, 2))

    def linearised(self, numbers: Float[Tensor, " term"]) -> Linearised:
        """Solve, and note how the errors depend on the numbers."""
        tries = torch.cat([numbers[None], numbers + _DIFFERENCE * torch.eye(len(numbers), dtype=numbers.dtype)])
        states = self.states(tries)
        own, *others = self.residuals(states)
        slopes = torch.stack([(other - own) / _DIFFERENCE for other in others], dim=-1)
        return Linearised(numbers=numbers, states=states[0], residuals=own, slopes=slopes)

    def descended(
        self, numbers: Float[Tensor, " term"], most: int, free: Bool[Tensor, " term"] | None = None
    ) -> Linearised:
        """Take Levenberg–Marquardt steps.

        Args:
            numbers: Where to start.
            most: The largest number of steps.
            free: Which numbers move; all by default.
        """
        free = torch.ones(len(numbers), dtype=torch.bool) if free is None else free
        best, damping, failures = self.linearised(numbers), 1e-2, 0
        for _ in range(most):
            if best.squares < _EXACT:
                break
            trial = best.numbers + best.step(damping, free)
            tried = float(self.squares(trial[None]))
            if not tried < best.squares:
                damping, failures = 8.0 * damping, failures + 1
                if failures == _MOST_FAILURES:
                    break
                continue
            gain, damping, failures = 1.0 - tried / best.squares, 0.1 * damping, 0
            best = self.linearised(trial)
            if gain < _LEAST_GAIN:
                break
        return best

    def held_out(self, found: Linearised) -> Float[Tensor, "sample node"]:
        """Return the states of each sample by numbers that have not seen it, to first order."""
        moved = torch.einsum("snt,st->sn", found.slopes, found.changes())
        return found.states + moved * self._sizes * math.sqrt(len(self.solutions))
