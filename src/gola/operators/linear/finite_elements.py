"""Multilinear finite elements on a box, for diffusion in a medium that is constant in each cell."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import product
from typing import final

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csc_array, csr_array

from gola.operators.linear.layered_factors import LayeredFactors, layer_places

_Solve = Callable[[Float[np.ndarray, "inside sample"]], Float[np.ndarray, "inside sample"]]


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class FiniteElements:
    """A lattice of equal cells.

    Attributes:
        nodes: The corners of the cells, as fractions of the box.
        cells: The nodes of each cell.
        inside: The nodes that are not on the boundary.
        stiffness: Integrals over a cell of the products of gradients of its functions.
        masses: Integrals along each axis of the products of its functions.
        faces: The two cells on either side of each face inside the box.
        face_area: The area of a face, where the box counts as a unit cube.
    """

    nodes: Float[np.ndarray, "node dim"]
    cells: Int[np.ndarray, "cell corner"]
    inside: Int[np.ndarray, " inside"]
    stiffness: Float[np.ndarray, "corner corner"]
    masses: tuple[Float[np.ndarray, "place place"], ...]
    faces: Int[np.ndarray, "2 face"]
    face_area: float

    @staticmethod
    def on(sides: Float[np.ndarray, " dim"], cells_per_axis: int) -> "FiniteElements":
        """Cut a box with these sides into cells."""
        dim = len(sides)
        node_numbers = np.arange((cells_per_axis + 1) ** dim).reshape([cells_per_axis + 1] * dim)
        ends = (slice(None, -1), slice(1, None))
        cells = np.stack([node_numbers[corner].ravel() for corner in product(ends, repeat=dim)], axis=1)
        cell_numbers = np.arange(len(cells)).reshape([cells_per_axis] * dim)
        pairs = [[np.delete(cell_numbers, end, axis).ravel() for end in (-1, 0)] for axis in range(dim)]
        steps = sides / cells_per_axis
        masses = [step / 6.0 * np.array([[2.0, 1.0], [1.0, 2.0]]) for step in steps]
        slopes = [np.array([[1.0, -1.0], [-1.0, 1.0]]) / step for step in steps]
        # The gradient along one axis, and the functions themselves along the others.
        along = [[slopes[axis] if axis == one else masses[axis] for axis in range(dim)] for one in range(dim)]
        fractions = np.linspace(0.0, 1.0, cells_per_axis + 1)
        return FiniteElements(
            nodes=np.stack(np.meshgrid(*[fractions] * dim, indexing="ij"), axis=-1).reshape(-1, dim),
            cells=cells,
            inside=node_numbers[(slice(1, -1),) * dim].ravel(),
            stiffness=sum(reduce(np.kron, factors) for factors in along),
            masses=tuple(_assembled(mass, cells_per_axis) for mass in masses),
            faces=np.concatenate(pairs, axis=1),
            face_area=cells_per_axis ** (1.0 - dim),
        )

    def solver(self, medium: Float[np.ndarray, " cell"]) -> _Solve:
        """Return what solves −∇·(a∇u) = f with u = 0 on the boundary, for integrals of f times each function inside."""
        entries, num_layers = self._entries, self._cells_per_axis - 1
        size = len(self.inside) // num_layers
        flat = np.zeros(num_layers * 2 * size**2)
        flat[entries.places] = entries.sums @ medium
        blocks = flat.reshape(num_layers, 2, size, size)
        return LayeredFactors.of(blocks[:, 0], blocks[:-1, 1]).solve

    @cached_property
    def _entries(self) -> "_Entries":
        """How the entries of the matrix follow from the medium; nodes with the same first coordinate are a layer."""
        numbers = np.full(len(self.nodes), -1)
        numbers[self.inside] = np.arange(len(self.inside))
        rows, columns = (numbers[nodes] for nodes in _pairs(self.cells))
        cells = np.repeat(np.arange(len(self.cells)), self.cells.shape[1] ** 2)
        values = np.tile(self.stiffness.ravel(), len(self.cells))
        known = (rows >= 0) & (columns >= 0)
        size = len(self.inside) // (self._cells_per_axis - 1)
        upper, places = layer_places(rows[known], columns[known], size)
        unique, which = np.unique(places, return_inverse=True)
        sums = csr_array((values[known][upper], (which, cells[known][upper])), shape=(len(unique), len(self.cells)))
        return _Entries(places=unique, sums=sums)

    def loads(self, sources: Float[np.ndarray, "node sample"]) -> Float[np.ndarray, "inside sample"]:
        """Return the integrals of sources times each function inside, which are products over the axes."""
        found = sources
        for mass in self.masses:
            found = found.reshape(len(mass), -1).T @ mass[:, 1:-1]
        return found.reshape(sources.shape[1], -1).T

    def extended(self, values: Float[np.ndarray, "inside sample"]) -> Float[np.ndarray, "node sample"]:
        """Return values at all nodes, zero on the boundary."""
        everywhere = np.zeros((len(self.nodes), values.shape[1]))
        everywhere[self.inside] = values
        return everywhere

    def located(
        self, fractions: Float[np.ndarray, "point dim"]
    ) -> tuple[Int[np.ndarray, "point corner"], Float[np.ndarray, "point corner"]]:
        """Return the nodes around each point, and how much of a function's value there is that of each node."""
        dim = fractions.shape[1]
        cells_per_axis = self._cells_per_axis
        cells = np.clip(np.floor(fractions * cells_per_axis), 0, cells_per_axis - 1).astype(np.int64)
        right = fractions * cells_per_axis - cells
        shares = [np.where(corner, right, 1.0 - right).prod(axis=1) for corner in product((False, True), repeat=dim)]
        number = np.ravel_multi_index(tuple(cells.T), (cells_per_axis,) * dim)
        return self.cells[number], np.stack(shares, axis=1)

    def places_of(self, coarser: "FiniteElements") -> Int[np.ndarray, " node"]:
        """Return the numbers, among the nodes here, of the nodes of a lattice with fewer cells by a whole factor."""
        dim, here, there = self.nodes.shape[1], self._cells_per_axis, coarser._cells_per_axis
        numbers = np.arange(len(self.nodes)).reshape([here + 1] * dim)
        return numbers[(slice(None, None, here // there),) * dim].ravel()

    def refined(self, values: Float[np.ndarray, " coarse_cell"]) -> Float[np.ndarray, " cell"]:
        """Return a field here that is constant in each cell of a lattice with fewer cells by a whole factor."""
        dim, there = self.nodes.shape[1], round(len(values) ** (1.0 / self.nodes.shape[1]))
        field = values.reshape([there] * dim)
        for axis in range(dim):
            field = np.repeat(field, self._cells_per_axis // there, axis=axis)
        return field.ravel()

    @property
    def places(self) -> Float[np.ndarray, " place"]:
        """Where the nodes are along each axis, as fractions of it."""
        return np.linspace(0.0, 1.0, self._cells_per_axis + 1)

    @property
    def _cells_per_axis(self) -> int:
        return round(len(self.cells) ** (1.0 / self.nodes.shape[1]))

    def energies(
        self, first: Float[np.ndarray, "inside sample"], second: Float[np.ndarray, "inside sample"]
    ) -> Float[np.ndarray, " cell"]:
        """Return the integral over each cell of ∇u·∇v, summed over samples.

        Sums and differences along the axes are what a cell's matrix is diagonal in.
        """
        dim = self.nodes.shape[1]
        lattice = (*[self._cells_per_axis + 1] * dim, -1)
        modes = zip(
            *(_sums_and_differences(self.extended(one).reshape(lattice), dim) for one in (first, second)), strict=True
        )
        corners = reduce(np.kron, [np.array([[1.0, 1.0], [-1.0, 1.0]])] * dim)
        weights = np.einsum("mi,ij,mj->m", corners, self.stiffness, corners) / len(corners) ** 2
        products = (
            weight * np.einsum("...s,...s->...", u, v)
            for weight, (u, v) in zip(weights, modes, strict=True)
            if weight > 0.0
        )
        return sum(products).ravel()

    def variation(self, values: Float[np.ndarray, " cell"], width: float) -> tuple[float, Float[np.ndarray, " cell"]]:
        """Return the total variation of a field in the unit cube, and its gradient.

        Steps from cell to cell that are smaller than ``width`` count less.
        """
        low, high = self.faces
        steps = values[high] - values[low]
        sizes = np.sqrt(steps**2 + width**2)
        slopes = self.face_area * steps / sizes
        gradient = np.bincount(high, slopes, len(values)) - np.bincount(low, slopes, len(values))
        return self.face_area * float(np.sum(sizes - width)), gradient


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class _Entries:
    """Entries of the matrix of a diffusion: where in its blocks they are, and which cells' values they add up."""

    places: Int[np.ndarray, " entry"]
    sums: csr_array


def _sums_and_differences(
    values: Float[np.ndarray, "*lattice sample"], dim: int
) -> list[Float[np.ndarray, "*cells sample"]]:
    """Return the sums and differences of the corners of each cell along all axes, in all combinations."""
    found = [values]
    for axis in range(dim):
        low, high = ((slice(None),) * axis + (end,) for end in (slice(None, -1), slice(1, None)))
        found = [made for one in found for made in (one[high] + one[low], one[high] - one[low])]
    return found


def _assembled(element: Float[np.ndarray, "2 2"], num_cells: int) -> Float[np.ndarray, "place place"]:
    """Return the sum of a matrix between the ends of each cell of a line."""
    cells = np.stack([np.arange(num_cells), np.arange(1, num_cells + 1)], axis=1)
    return csc_array((np.tile(element.ravel(), num_cells), _pairs(cells))).toarray()


def _pairs(cells: Int[np.ndarray, "cell corner"]) -> tuple[Int[np.ndarray, " pair"], Int[np.ndarray, " pair"]]:
    """Return both nodes of each pair of corners of each cell."""
    num_corners = cells.shape[1]
    return np.repeat(cells, num_corners, axis=1).ravel(), np.tile(cells, (1, num_corners)).ravel()
