"""Darcy flow through a fixed medium: from the source to the pressure."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import ClassVar, final

import numpy as np
from jaxtyping import Float
from scipy.sparse import csc_array, diags_array
from scipy.sparse.linalg import splu

from gola.data.sample import Channel
from gola.problems.grid_problem import GridProblem
from gola.problems.random_fields import neumann_field, periodic_field

ALPHA = 2.0
TAU = 3.0


@final
@dataclass(frozen=True, kw_only=True)
class Darcy(GridProblem):
    """Darcy flow −∇·(a∇u) = f on (0, 1)² with u = 0 on the boundary; the operator maps the source f to u.

    The permeability a is one field for all samples, so the operator is linear: ``low`` where a Gaussian random
    field is negative and ``high`` elsewhere. The source is a periodic Gaussian random field.

    Attributes:
        low: The smaller permeability.
        high: The larger permeability.
        coefficient_seed: Draws the regions of the two permeabilities.
    """

    name: ClassVar[str] = "darcy"
    title: ClassVar[str] = "Darcy flow"
    equation: ClassVar[str] = "−∇·(a∇u) = f on (0, 1)², u = 0 on the boundary, a fixed"
    inputs: ClassVar[tuple[Channel, ...]] = (Channel(name="source"),)
    targets: ClassVar[tuple[Channel, ...]] = (Channel(name="pressure"),)

    low: float = 4.0
    high: float = 12.0
    coefficient_seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.low <= self.high < inf:
            raise ValueError(f"darcy needs permeabilities 0 < low <= high < ∞; got low={self.low}, high={self.high}.")
        if self.coefficient_seed < 0:
            raise ValueError(f"darcy needs a coefficient_seed of 0 or more; got {self.coefficient_seed}.")

    @property
    def coefficient(self) -> Float[np.ndarray, "row column"]:
        """The permeability a at the grid points."""
        field = neumann_field(alpha=ALPHA, tau=TAU)
        coefficients = field.draw([np.random.default_rng(self.coefficient_seed)])
        values = field.evaluate(coefficients, self.coordinates, self.coordinates)[0]
        return np.where(values < 0.0, self.low, self.high)

    def simulate(
        self, rngs: Sequence[np.random.Generator]
    ) -> tuple[Float[np.ndarray, "sample row column"], Float[np.ndarray, "sample row column"]]:
        """Draw the sources, and solve for the pressures."""
        field = periodic_field(alpha=ALPHA, tau=TAU)
        sources = field.evaluate(field.draw(rngs), self.coordinates, self.coordinates)
        return sources, _solver(self)(sources)


@final
class DarcySolver:
    """Second-order finite differences for −∇·(a∇u) = f on the unit square, u = 0 on the boundary.

    The five-point stencil takes the harmonic mean of a on the face between two grid points, which is right for a
    jump of a there, as for two resistances in series; the arithmetic mean lets too much flux through. Where a is
    smooth both are of second order. For the default problem at 128 × 128 the error against a grid four times finer
    is 0.34 % with the harmonic mean and 0.50 % with the arithmetic one.

    The matrix is factorised once, for any number of sources.

    Args:
        coefficient: The permeability a > 0 at the grid points, rim included.
    """

    def __init__(self, coefficient: Float[np.ndarray, "row row"]) -> None:
        self._factors = splu(
            _stiffness(coefficient),
            # The matrix is symmetric and positive definite: pivoting is not needed and would cost sparsity.
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )

    def __call__(self, sources: Float[np.ndarray, "sample row row"]) -> Float[np.ndarray, "sample row row"]:
        """Solve for every source at once."""
        interior = sources[:, 1:-1, 1:-1]
        solutions = np.zeros_like(sources)
        columns = np.asfortranarray(interior.reshape(len(sources), -1).T)
        solutions[:, 1:-1, 1:-1] = self._factors.solve(columns).T.reshape(interior.shape)
        return solutions


# A worker makes many chunks of the same problem, and the factors depend on nothing else.
@lru_cache(maxsize=2)
def _solver(problem: Darcy) -> DarcySolver:
    return DarcySolver(problem.coefficient)


def _stiffness(coefficient: Float[np.ndarray, "row row"]) -> csc_array:
    """Assemble the matrix of −∇·(a∇·) for the interior points, in row-major order."""
    cells = len(coefficient) - 1
    down = _harmonic_mean(coefficient[:-1, 1:-1], coefficient[1:, 1:-1])
    right = _harmonic_mean(coefficient[1:-1, :-1], coefficient[1:-1, 1:])
    diagonal = (down[:-1] + down[1:] + right[:, :-1] + right[:, 1:]).ravel()
    below = -down[1:-1].ravel()
    # The last point of a row and the first of the next are neighbours in memory only: zeros keep them apart.
    beside = -np.pad(right[:, 1:-1], ((0, 0), (0, 1))).ravel()[:-1]
    offsets = [0, 1, -1, cells - 1, 1 - cells]
    matrix = diags_array([diagonal, beside, beside, below, below], offsets=offsets, format="csc")
    return csc_array(matrix * cells**2)


def _harmonic_mean(
    first: Float[np.ndarray, "row column"], second: Float[np.ndarray, "row column"]
) -> Float[np.ndarray, "row column"]:
    return 2.0 * first * second / (first + second)
