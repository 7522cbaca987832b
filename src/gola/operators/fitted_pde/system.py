"""The linear system of one sample, its solution, and how that changes with the coefficients of the law."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.sparse import csc_array
from scipy.sparse.linalg import SuperLU, splu
from torch import Tensor
from torch.fx.experimental.proxy_tensor import get_proxy_mode

from gola.operators.fitted_pde.differences import derivatives_of
from gola.operators.fitted_pde.elements import Elements, num_parts
from gola.operators.fitted_pde.law import Law, consistent


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class System:
    """A law on the mesh of a sample with its inputs.

    Attributes:
        law: The equation.
        elements: The mesh.
        features: Of the medium in each cell.
        sources: The right-hand side of each load in the volume.
        tractions: The right-hand side of each load on each part of the boundary.
    """

    law: Law
    elements: Elements
    features: Float[Tensor, "cell feature"]
    sources: Float[Tensor, "source unknown"]
    tractions: Float[Tensor, "load part unknown"]

    @staticmethod
    def of(law: Law, elements: Elements, values: Float[Tensor, "point channel"]) -> "System":
        """Take the inputs of a sample, in double precision."""
        columns = [feature.of(values)[elements.cells].mean(dim=1) for feature in law.features]
        given = law.sources(values)[:, elements.cells]
        sources = _summed(consistent(elements.volumes, given).flatten(1, 2), elements.cells.flatten(), elements)
        loads = consistent(elements.areas, law.tractions(values[elements.facets], elements.normals))
        rows = elements.facets.flatten()
        tractions = []
        for part in range(num_parts(law.dim)):
            chosen = (elements.parts == part)[:, None, None]
            tractions.append(_summed((loads * chosen).flatten(1, 2), rows, elements))
        return System(
            law=law,
            elements=elements,
            features=torch.stack(columns, dim=1) if columns else values.new_zeros(len(elements.cells), 0),
            sources=sources,
            tractions=torch.stack(tractions, dim=1),
        )

    def solution(self, coefficients: Float[Tensor, " coefficient"]) -> Float[Tensor, "point component"]:
        """Solve; differentiable in the inputs and in the coefficients."""
        pattern, solve = self.pattern(), plain_solution if is_recorded() else _Solve.apply
        return self.at_points(solve(self.entries(coefficients), self.right_side(coefficients), *pattern))

    def at_points(self, unknowns: Float[Tensor, " unknown"]) -> Float[Tensor, "point component"]:
        """Return the solution at all points: those without cells have the value of the nearest that has some."""
        return unknowns.unflatten(0, (-1, self.law.num_components))[self.elements.stand_ins]

    def right_side(self, coefficients: Float[Tensor, " coefficient"]) -> Float[Tensor, " unknown"]:
        """Return the sum of all loads."""
        return coefficients[self.law.num_shapes :] @ self.loads(coefficients)

    def loads(self, coefficients: Float[Tensor, " coefficient"]) -> Float[Tensor, "load unknown"]:
        """Return all loads, those on the boundary as strong as the exchange there lets them be."""
        factors = 1.0 + self.law.exchange(coefficients[: self.law.num_shapes])
        return torch.cat([self.sources, (factors[:, None] * self.tractions).flatten(0, 1)])

    def residual(
        self, shape: Float[Tensor, " shape"], solution: Float[Tensor, "point component"], loads: Float[Tensor, " load"]
    ) -> Float[Tensor, " unknown"]:
        """Return left-hand side minus right-hand side for any solution, not assembled to a matrix."""
        elements = self.elements
        inner = self.law.in_cells(shape, self.features, elements, solution[elements.cells])
        outer = self.law.on_facets(shape, elements, solution[elements.facets])
        total = _summed(inner.flatten(0, 1)[None], elements.cells.flatten(), elements)
        total = total + _summed(outer.flatten(0, 1)[None], elements.facets.flatten(), elements)
        return total[0] - self.right_side(torch.cat([shape, loads]))

    def entries(self, coefficients: Float[Tensor, " coefficient"]) -> Float[Tensor, " entry"]:
        """Return the entries of the matrix, those of cells, facets and points without cells."""
        shape, elements = coefficients[: self.law.num_shapes], self.elements
        inner = [
            self.law.in_cells(shape, self.features, elements, one).flatten(1)
            for one in _units(len(elements.cells), elements.cells.shape[1], self.law.num_components)
        ]
        outer = [
            self.law.on_facets(shape, elements, one).flatten(1)
            for one in _units(len(elements.facets), elements.facets.shape[1], self.law.num_components)
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
        self, coefficients: Float[Tensor, " coefficient"]
    ) -> tuple[Float[Tensor, "point component"], Float[Tensor, "point component coefficient"]]:
        """Solve, and return also the derivatives of the solution by all coefficients."""
        count = self.law.num_shapes
        matrix = factorised(self.entries(coefficients).numpy(), *self.pattern(), self.sources.shape[1])
        unknowns = torch.from_numpy(matrix.solve(self.right_side(coefficients).numpy()))
        values = unknowns.unflatten(0, (-1, self.law.num_components))
        slopes = derivatives_of(lambda shape: self.residual(shape, values, coefficients[count:]), coefficients[:count])
        every = torch.cat([-slopes, self.loads(coefficients).T], dim=1)
        derivatives = torch.from_numpy(matrix.solve(np.ascontiguousarray(every.numpy())))
        shaped = derivatives.unflatten(0, (-1, self.law.num_components))
        return self.at_points(unknowns), shaped[self.elements.stand_ins]

    def _unknowns(self, simplices: Int[Tensor, "simplex vertex"]) -> Int[np.ndarray, "simplex unknown"]:
        count = self.law.num_components
        return (count * simplices.numpy()[:, :, None] + np.arange(count)).reshape(len(simplices), -1)

    def _idle(self) -> Int[np.ndarray, " unknown"]:
        """Return the unknowns of points that have no cells."""
        stand_ins, count = self.elements.stand_ins.numpy(), self.law.num_components
        rows = np.flatnonzero(stand_ins != np.arange(len(stand_ins)))
        return (count * rows[:, None] + np.arange(count)).ravel()


def factorised(
    entries: Float[np.ndarray, " entry"], rows: Int[np.ndarray, " entry"], columns: Int[np.ndarray, " entry"], size: int
) -> SuperLU:
    """Factorise a symmetric sparse matrix."""
    matrix = csc_array((entries, (rows, columns)), shape=(size, size))
    return splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})


def plain_solution(
    entries: Float[Tensor, " entry"],
    right_side: Float[Tensor, " unknown"],
    rows: Int[np.ndarray, " entry"],
    columns: Int[np.ndarray, " entry"],
) -> Float[Tensor, " unknown"]:
    """Solve with a dense matrix, by operations of PyTorch alone."""
    size = len(right_side)
    places = torch.from_numpy(size * rows + columns)
    matrix = entries.new_zeros(size * size).index_add(0, places, entries)
    return torch.linalg.solve(matrix.view(size, size), right_side)


def is_recorded() -> bool:
    """Whether operations are being recorded, to be exported: then they must be PyTorch's own."""
    return get_proxy_mode() is not None


class _Solve(torch.autograd.Function):
    """The solution of a symmetric sparse system, with gradients to its entries and right-hand side."""

    @staticmethod
    def forward(
        ctx: Any, entries: Tensor, right_side: Tensor, rows: np.ndarray, columns: np.ndarray
    ) -> Float[Tensor, " unknown"]:
        matrix = factorised(entries.detach().numpy(), rows, columns, len(right_side))
        found = torch.from_numpy(matrix.solve(right_side.detach().numpy()))
        ctx.matrix, ctx.rows, ctx.columns, ctx.found = matrix, torch.from_numpy(rows), torch.from_numpy(columns), found
        return found

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, Tensor, None, None]:
        adjoint = torch.from_numpy(ctx.matrix.solve(slope.numpy(), "T"))
        return -adjoint[ctx.rows] * ctx.found[ctx.columns], adjoint, None, None


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
