"""The linear system of one sample, its solution, and how that changes with the coefficients of the law."""

from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from gola.operators.fitted_pde.differences import derivatives_of
from gola.operators.fitted_pde.elements import Elements, num_parts
from gola.operators.fitted_pde.flow import Flow
from gola.operators.fitted_pde.given import Given
from gola.operators.fitted_pde.law import Law, consistent
from gola.operators.fitted_pde.sparse import factorised, is_recorded, solved

# Newton steps for nonlinear equations: at most, halved at most so many times, until the residual is this share of the
# loads; and as many as are recorded where they are.
_MOST_STEPS, _MOST_HALVINGS, _SOLVED, _RECORDED_STEPS = 20, 5, 1e-9, 8
# The strength of nonlinear terms that leave a solution is found by so many bisections.
_MOST_WEAKENINGS = 6
# Solutions are of the order of 1, and differences over twice this step lose half of the digits.
_STEP = 1e-6


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class System:
    """A law on the mesh of a sample with its inputs.

    Attributes:
        law: The equation.
        elements: The mesh.
        given: What the left-hand side sees of the inputs.
        sources: The right-hand side of each load in the volume.
        tractions: Each load on the corners of each facet.
    """

    law: Law | Flow
    elements: Elements
    given: Given
    sources: Float[Tensor, "source unknown"]
    tractions: Float[Tensor, "load facet corner component"]

    @staticmethod
    def of(law: Law | Flow, elements: Elements, values: Float[Tensor, "point channel"]) -> "System":
        """Take the inputs of a sample, in double precision."""
        loads = law.volume_loads(elements, values)
        return System(
            law=law,
            elements=elements,
            given=Given.of(law, elements, values),
            sources=_summed(loads.flatten(1, 2), elements.cells.flatten(), elements),
            tractions=consistent(elements.areas, law.tractions(elements, values)),
        )

    def solution(self, coefficients: Float[Tensor, " coefficient"]) -> Float[Tensor, "point component"]:
        """Solve; differentiable in the inputs and in the coefficients."""
        pattern = self.pattern()
        if self.law.is_linear(coefficients.detach()):
            return self.at_points(solved(self.entries(coefficients), self.right_side(coefficients), pattern))
        found = self._converged(coefficients)
        # One more step, from where it does not matter, carries the derivatives of the residual.
        matrix = self.entries(coefficients.detach(), found).detach()
        return self.at_points(found - solved(matrix, self._residual_of(coefficients, found), pattern))

    def weakened_solution(self, coefficients: Float[Tensor, " coefficient"]) -> Float[Tensor, "point component"]:
        """Solve with nonlinear terms as strong as they can be, for equations that have no solution otherwise."""
        plain = self.law.without_nonlinear_terms(coefficients)
        solvable, share = plain, 1.0
        for _ in range(_MOST_WEAKENINGS):
            share *= 0.5
            tried = solvable + share * (coefficients - plain)
            if bool(self._converged(tried).isfinite().all()):
                solvable = tried
        return self.solution(solvable)

    def at_points(self, unknowns: Float[Tensor, " unknown"]) -> Float[Tensor, "point component"]:
        """Return the solution at all points: those without cells have the value of the nearest that has some."""
        return unknowns.unflatten(0, (-1, self.law.num_components))[self.elements.stand_ins]

    def right_side(self, coefficients: Float[Tensor, " coefficient"]) -> Float[Tensor, " unknown"]:
        """Return the sum of all loads."""
        elements, law = self.elements, self.law
        shape, sources, tractions = coefficients.split([law.num_shapes, law.num_sources, law.num_tractions])
        factors = (1.0 + law.exchange(shape, self.given, elements)) * tractions.unflatten(0, (len(law.loads), -1))[
            :, elements.parts
        ]
        outer = torch.einsum("lf,lfvk->fvk", factors, self.tractions).flatten(0, 1)
        return sources @ self.sources + _summed(outer[None], elements.facets.flatten(), elements)[0]

    def loads(self, coefficients: Float[Tensor, " coefficient"]) -> Float[Tensor, "load unknown"]:
        """Return all loads, those on the boundary as strong as the exchange there lets them be."""
        elements, count = self.elements, num_parts(self.law.dim)
        factors = 1.0 + self.law.exchange(coefficients[: self.law.num_shapes], self.given, elements)
        rows = (elements.parts[:, None] * elements.num_points + elements.facets).flatten()
        given = (factors[:, None, None] * self.tractions).flatten(1, 2)
        zeros = given.new_zeros(len(given), count * elements.num_points, given.shape[2])
        parts = zeros.index_add(1, rows, given).unflatten(1, (count, elements.num_points))
        return torch.cat([self.sources, parts.flatten(2).flatten(0, 1)])

    def residual(
        self, shape: Float[Tensor, " shape"], solution: Float[Tensor, "point component"], loads: Float[Tensor, " load"]
    ) -> Float[Tensor, " unknown"]:
        """Return left-hand side minus right-hand side for any solution, not assembled to a matrix."""
        elements = self.elements
        inner = self.law.in_cells(shape, self.given, elements, solution[elements.cells])
        outer = self.law.on_facets(shape, self.given, elements, solution[elements.facets])
        total = _summed(inner.flatten(0, 1)[None], elements.cells.flatten(), elements)
        total = total + _summed(outer.flatten(0, 1)[None], elements.facets.flatten(), elements)
        return total[0] - self.right_side(torch.cat([shape, loads]))

    def entries(
        self, coefficients: Float[Tensor, " coefficient"], around: Float[Tensor, " unknown"] | None = None
    ) -> Float[Tensor, " entry"]:
        """Return the entries of the matrix, those of cells, facets and points without cells.

        Args:
            coefficients: Of the law.
            around: The solution whose neighbourhood the matrix of a nonlinear law is for; None for a linear one.
        """
        shape, elements, law = coefficients[: self.law.num_shapes], self.elements, self.law
        facets = _units(len(elements.facets), elements.facets.shape[1], law.num_components)
        cells = _units(len(elements.cells), elements.cells.shape[1], law.num_components)
        outer = [law.on_facets(shape, self.given, elements, one).flatten(1) for one in facets]
        if around is None:
            inner = [law.in_cells(shape, self.given, elements, one).flatten(1) for one in cells]
        else:
            known = around.unflatten(0, (-1, law.num_components))[elements.cells]
            inner = [
                (
                    law.in_cells(shape, self.given, elements, known + _STEP * one)
                    - law.in_cells(shape, self.given, elements, known - _STEP * one)
                ).flatten(1)
                / (2.0 * _STEP)
                for one in cells
            ]
        parts = [torch.stack(some, dim=2).flatten() for some in (inner, outer)]
        return torch.cat([*parts, parts[0].new_ones(len(self._idle()))])

    def pattern(self) -> tuple[Int[np.ndarray, " entry"], Int[np.ndarray, " entry"]]:
        """Return row and column of each entry."""
        pairs = []
        for simplices in (self.elements.cells, self.elements.facets):
            unknowns = self._unknowns(simplices)
            count = unknowns.shape[1]
            pairs.append((np.repeat(unknowns, count, axis=1).ravel(), np.tile(unknowns, (1, count)).ravel()))
        idle = self._idle()
        rows, columns = zip(*pairs, (idle, idle), strict=True)
        return np.concatenate(rows), np.concatenate(columns)

    def linearised(
        self, coefficients: Float[Tensor, " coefficient"], free: Float[Tensor, "coefficient free"]
    ) -> tuple[Float[Tensor, "point component"], Float[Tensor, "point component free"]]:
        """Solve, and return also the derivatives of the solution by coefficients that are free."""
        around = None if self.law.is_linear(coefficients) else self._converged(coefficients)
        matrix = factorised(self.entries(coefficients, around).numpy(), *self.pattern(), self.sources.shape[1])
        unknowns = torch.from_numpy(matrix.solve(self.right_side(coefficients).numpy())) if around is None else around
        slopes = self.residual_slopes(coefficients, unknowns, free)
        derivatives = torch.from_numpy(matrix.solve(np.ascontiguousarray(-slopes.numpy())))
        shaped = derivatives.unflatten(0, (-1, self.law.num_components))
        return self.at_points(unknowns), shaped[self.elements.stand_ins]

    def residual_slopes(
        self,
        coefficients: Float[Tensor, " coefficient"],
        unknowns: Float[Tensor, " unknown"],
        free: Float[Tensor, "coefficient free"],
    ) -> Float[Tensor, "unknown free"]:
        """Return how the residual changes with free coefficients: it is linear in those of loads."""
        count, values = self.law.num_shapes, unknowns.unflatten(0, (-1, self.law.num_components))
        found = -self.loads(coefficients).T @ free[count:]
        moving = free[:count].any(dim=0)
        moves = free[:count, moving]

        def residual(steps: Float[Tensor, " moving"]) -> Float[Tensor, " unknown"]:
            return self.residual(coefficients[:count] + moves @ steps, values, coefficients[count:])

        if moves.shape[1]:
            size = self.elements.slopes.numel()
            found[:, moving] += derivatives_of(residual, moves.new_zeros(moves.shape[1]), size)
        return found

    def _residual_of(
        self, coefficients: Float[Tensor, " coefficient"], unknowns: Float[Tensor, " unknown"]
    ) -> Float[Tensor, " unknown"]:
        count = self.law.num_shapes
        values = unknowns.unflatten(0, (-1, self.law.num_components))
        found = self.residual(coefficients[:count], values, coefficients[count:])
        # Points without cells have the equation u = 0.
        return found.index_add(0, torch.from_numpy(self._idle()), unknowns[self._idle()])

    @torch.no_grad()
    def _converged(self, coefficients: Float[Tensor, " coefficient"]) -> Float[Tensor, " unknown"]:
        """Solve by damped Newton steps from the solution without nonlinear terms; not a number where that fails."""
        coefficients, pattern = coefficients.detach(), self.pattern()
        plain, right_side = self.law.without_nonlinear_terms(coefficients), self.right_side(coefficients)
        found = solved(self.entries(plain), right_side, pattern)
        if is_recorded():
            for _ in range(_RECORDED_STEPS):
                found = found - solved(
                    self.entries(coefficients, found), self._residual_of(coefficients, found), pattern
                )
            return found
        residual = self._residual_of(coefficients, found)
        for _ in range(_MOST_STEPS):
            if float(residual.norm()) <= _SOLVED * float(right_side.norm()):
                return found
            step = solved(self.entries(coefficients, found), residual, pattern)
            for halvings in range(_MOST_HALVINGS + 1):
                tried = found - 0.5**halvings * step
                left = self._residual_of(coefficients, tried)
                if float(left.norm()) < float(residual.norm()):
                    break
            else:
                break
            found, residual = tried, left
        good = float(residual.norm()) <= _SOLVED**0.5 * float(right_side.norm())
        return found if good else torch.full_like(found, torch.nan)

    def _unknowns(self, simplices: Int[Tensor, "simplex vertex"]) -> Int[np.ndarray, "simplex unknown"]:
        count = self.law.num_components
        return (count * simplices.numpy()[:, :, None] + np.arange(count)).reshape(len(simplices), -1)

    def _idle(self) -> Int[np.ndarray, " unknown"]:
        """Return the unknowns of points that have no cells."""
        stand_ins, count = self.elements.stand_ins.numpy(), self.law.num_components
        rows = np.flatnonzero(stand_ins != np.arange(len(stand_ins)))
        return (count * rows[:, None] + np.arange(count)).ravel()


def _summed(
    values: Float[Tensor, "batch row component"], rows: Int[Tensor, " row"], elements: Elements
) -> Float[Tensor, "batch unknown"]:
    """Add up what cells or facets contribute to each point."""
    zeros = values.new_zeros(len(values), elements.num_points, values.shape[2])
    return zeros.index_add(1, rows, values).flatten(1)


def _units(num_simplices: int, num_vertices: int, num_components: int) -> list[Tensor]:
    """Return the solutions that are 1 in one component at one corner."""
    units = torch.eye(num_vertices * num_components, dtype=torch.float64)
    return [one.view(1, num_vertices, num_components).expand(num_simplices, -1, -1) for one in units]
