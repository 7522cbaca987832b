"""Coefficients of a law by least squares on solutions (Gauss–Newton with damping), and what each sample adds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

# Steps end when the sum of squares gets smaller by less than this share; where relative errors are large, by less than
# the other: a law that hardly explains the data is none;
_LEAST_GAIN, _LEAST_HOPE, _LARGE = 1e-3, 0.05, 0.5
# or when relative errors are this small;
_EXACT = 1e-4
# or after so many failures to make it smaller at all.
_MOST_FAILURES = 5
# They are damped by this share of the sum of squares.
_SHORTENING = 1e-3
# Directions that solutions hardly depend on are held by this share of the curvature: its own, and the largest.
_OWN_RIDGE, _COMMON_RIDGE = 1e-6, 1e-10
# A sample whose solution is far smaller than others counts as if it were this share of their mean square.
_LEAST_SHARE = 1e-3


@runtime_checkable
class Solver(Protocol):
    """What solves the equation of one sample."""

    def solution(self, coefficients: Float[Tensor, " coefficient"]) -> Float[Tensor, "point component"]:
        """Solve."""

    def linearised(
        self, coefficients: Float[Tensor, " coefficient"], free: Float[Tensor, "coefficient free"]
    ) -> tuple[Float[Tensor, "point component"], Float[Tensor, "point component free"]]:
        """Solve, and return also the derivatives of the solution by coefficients that are free."""


@runtime_checkable
class Family(Protocol):
    """Equations with coefficients."""

    def bounds(self) -> tuple[Float[Tensor, " coefficient"], Float[Tensor, " coefficient"]]:
        """Return the least and the largest coefficients that are allowed."""


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Example:
    """A sample to fit to: its targets are the first components of the solution, or all of them."""

    system: Solver
    targets: Float[Tensor, "point component"]
    weight: float


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Linearised:
    """Solutions of all examples around some coefficients.

    Attributes:
        solutions: Of each example.
        slopes: Their derivatives by the coefficients that are free.
        curvatures: The matrix of each example's share in the sum of squares, for coefficients that are free.
        gradients: Half the gradient of the same.
        squares: The sum of squares; infinite where a solution is not finite.
    """

    solutions: list[Float[Tensor, "_ component"]]
    slopes: list[Float[Tensor, "_ component free"]]
    curvatures: Float[Tensor, "example free free"]
    gradients: Float[Tensor, "example free"]
    squares: float

    @staticmethod
    def of(
        examples: Sequence[Example],
        coefficients: Float[Tensor, " coefficient"],
        free: Float[Tensor, "coefficient free"],
    ) -> "Linearised":
        """Solve all examples, and note how their errors depend on the coefficients that are free."""
        found = [example.system.linearised(coefficients, free) for example in examples]
        curvatures, gradients, squares = [], [], 0.0
        for example, (solution, slopes) in zip(examples, found, strict=True):
            seen = example.targets.shape[1]
            rows = slopes[:, :seen].flatten(0, 1)
            error = (solution[:, :seen] - example.targets).flatten()
            curvatures.append(example.weight * rows.T @ rows)
            gradients.append(example.weight * rows.T @ error)
            squares += example.weight * float(error.square().sum())
        known = torch.stack(curvatures)
        return Linearised(
            solutions=[solution for solution, _ in found],
            slopes=[slopes for _, slopes in found],
            curvatures=known.nan_to_num(),
            gradients=torch.stack(gradients).nan_to_num(),
            squares=squares if math.isfinite(squares) and known.isfinite().all() else float("inf"),
        )

    def held_out(self) -> list[Float[Tensor, "_ component"]]:
        """Return the solution of each example with coefficients that have not seen it, to first order."""
        if not math.isfinite(self.squares):
            # Coefficients without a solution predict nothing.
            return [torch.zeros_like(solution) for solution in self.solutions]
        curvature = self.curvatures.sum(dim=0)
        # Coefficients are of the order of 1. Without that to hold them, few samples may leave some of them open.
        prior = self.squares / len(self.solutions) * torch.eye(len(curvature), dtype=curvature.dtype)
        found = []
        for row, (solution, slopes) in enumerate(zip(self.solutions, self.slopes, strict=True)):
            others = _held(curvature - self.curvatures[row]) + prior
            change = torch.linalg.lstsq(others, self.gradients[row]).solution
            found.append(solution + slopes @ change)
        return found


def examples_of(systems: Sequence[Solver], targets: Sequence[Float[Tensor, "_ component"]]) -> list[Example]:
    """Pair what solves samples with their solutions, weighed such that relative errors count alike."""
    return [
        Example(system=system, targets=wanted, weight=weight)
        for system, wanted, weight in zip(systems, targets, relative_weights(targets), strict=True)
    ]


def relative_weights(targets: Sequence[Float[Tensor, "..."]]) -> list[float]:
    """Return weights of squared errors of samples by which relative errors count alike."""
    squares = torch.stack([one.square().sum() for one in targets])
    floor = _LEAST_SHARE * float(squares.mean()) or 1.0
    weights: list[float] = (1.0 / squares.clamp(min=floor)).tolist()
    return weights


def fitted(
    law: Family,
    examples: Sequence[Example],
    start: Float[Tensor, " coefficient"],
    num_steps: int,
    free: Float[Tensor, "coefficient free"] | None = None,
) -> tuple[Float[Tensor, " coefficient"], Linearised]:
    """Minimise the sum of squared relative errors (Levenberg–Marquardt).

    Args:
        law: Which coefficients are allowed.
        examples: What to fit to.
        start: Where to start from.
        num_steps: The largest number of steps.
        free: How coefficients change with those that are free; all are by default.
    """
    moves = torch.eye(len(start), dtype=start.dtype) if free is None else free
    lower, upper = law.bounds()
    best, found = start, Linearised.of(examples, start, moves)
    damping, failures = 1e-3, 0
    for _ in range(num_steps if math.isfinite(found.squares) else 0):
        curvature, gradient = found.curvatures.sum(dim=0), found.gradients.sum(dim=0)
        # Coefficients are of the order of 1: as long as errors are, steps had better not be much longer than that.
        shortening = _SHORTENING * found.squares * torch.eye(len(curvature), dtype=curvature.dtype)
        damped = _held(curvature) + damping * torch.diag(curvature.diagonal()) + shortening
        step = moves @ _bounded_step(damped, gradient, *(_room(moves, bound - best) for bound in (lower, upper)))
        trial = torch.clamp(best + step, lower, upper)
        tried = Linearised.of(examples, trial, moves)
        if not tried.squares < found.squares:
            damping, failures = 8.0 * damping, failures + 1
            if failures == _MOST_FAILURES:
                break
            continue
        gain = 1.0 - tried.squares / found.squares
        best, found, damping, failures = trial, tried, damping / 4.0, 0
        mean_square = found.squares / len(examples)
        if mean_square < _EXACT**2 or gain < (_LEAST_HOPE if mean_square > _LARGE**2 else _LEAST_GAIN):
            break
    return best, found


def _room(moves: Float[Tensor, "coefficient free"], room: Float[Tensor, " coefficient"]) -> Float[Tensor, " free"]:
    """Return how far each free coefficient may move; those that follow from one are equal."""
    return room[moves.argmax(dim=0)]


def _bounded_step(
    curvature: Float[Tensor, "free free"],
    gradient: Float[Tensor, " free"],
    lower: Float[Tensor, " free"],
    upper: Float[Tensor, " free"],
) -> Float[Tensor, " free"]:
    """Return the step to the minimum; where that is beyond a bound, to the minimum on it, to first order."""
    step = torch.linalg.lstsq(curvature, -gradient).solution
    beyond = (step < lower) | (step > upper)
    if beyond.any() and not beyond.all():
        step = torch.clamp(step, lower, upper)
        rest = ~beyond
        known = gradient[rest] + curvature[rest][:, beyond] @ step[beyond]
        step[rest] = torch.linalg.lstsq(curvature[rest][:, rest], -known).solution
    return torch.clamp(step, lower, upper)


def _held(curvature: Float[Tensor, "coefficient coefficient"]) -> Float[Tensor, "coefficient coefficient"]:
    own = curvature.diagonal()
    return curvature + torch.diag(_OWN_RIDGE * own + _COMMON_RIDGE * own.max() + torch.finfo(own.dtype).tiny)
