r"""A prior on Green's functions: smooth in the source point, and larger near the point of the solution.

A linear operator is :math:`u(x) = \int G(x, y) f(y)\, dy + c(x)`. For each x the prior takes G(x, ·) as a Gaussian
process with a covariance that is a sum of components

.. math:: \prod_a h\Bigl(\frac{y_a - x_a}{w_a}\Bigr)\, m_s(\tau |y_a - y'_a|)\, h\Bigl(\frac{y'_a - x_a}{w_a}\Bigr),

with a window h of widths w around x and a Matérn covariance m of order s and rate τ. All lengths are fractions of the
bounding box. Because it is a product over the axes, its action on sums of products of cosines is one small matrix along
each axis.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gola.representation.cosines import amplitudes, axis_cosines, flat_index
from gola.representation.function_space import FunctionSpace
from gola.representation.products import product, symmetric_product

Window = Literal["gaussian", "cauchy"]

MOST_WAVES = 200
"""Half-waves along an axis, at most: matrices between all pairs of them are made for every node."""
# Gauss–Legendre nodes along an axis: so many more than half-waves are enough for their products with the narrowest
# window, and as many at least as 40 half-waves need.
_MORE_THAN_WAVES = 56
_LEAST_QUADRATURE = 96
# A multiplication takes so many times as long where all nodes of a line are taken together.
_SLOWER = 1.6


@dataclass(frozen=True, kw_only=True)
class Component:
    """One term of the covariance of Green's function.

    Attributes:
        order: Order s of the Matérn covariance: 1 or 3, for smoothness s − ½.
        rate: Inverse length τ over which Green's function varies.
        widths: Widths w of the window along each axis; infinite for none.
        window: Its shape: ``"gaussian"`` exp(−r²/2) or ``"cauchy"`` 1/(1 + r²), which reaches further.
        share: Weight of this component in the sum.
    """

    order: int
    rate: float
    widths: tuple[float, ...]
    window: Window
    share: float = 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class InputFunctions:
    """Input functions as tables of coefficients, one axis per coordinate.

    Attributes:
        space: Where the coefficients belong.
        table: Coefficients of all wave numbers up to the largest; zero for those that the space does not have.
        chosen: Places of the functions of the space in the flattened table.
    """

    space: FunctionSpace
    table: Float[Tensor, "sample channel *wave"]
    chosen: Tensor

    @staticmethod
    def of(space: FunctionSpace, coefficients: Float[Tensor, "sample channel mode"]) -> "InputFunctions":
        """Lay the coefficients out."""
        chosen = flat_index(space.waves).to(coefficients.device)
        size = int(space.waves.max()) + 1
        flat = coefficients.new_zeros(*coefficients.shape[:2], size**space.dim)
        flat[..., chosen] = coefficients
        return InputFunctions(space=space, table=flat.unflatten(-1, (size,) * space.dim), chosen=chosen)

    @property
    def rows(self) -> Float[Tensor, "sample entry"]:
        """The table of each sample as one row."""
        return self.table.flatten(1)

    def rotated(self) -> Float[Tensor, "wave rest"]:
        """The tables with the waves of the first axis as rows, and samples and channels after the other axes."""
        return self.table.flatten(0, 1).movedim(0, -1).contiguous().flatten(1)

    def covered(
        self,
        components: Sequence[Component],
        nodes: Float[Tensor, "node dim"],
        dual: Float[Tensor, "node sample output"],
    ) -> Float[Tensor, "node output entry"]:
        """Apply the covariance at each node to sums of the input functions with coefficients of its own."""
        found = nodes.new_zeros(len(nodes), dual.shape[2], self.table[0].numel())
        rows, shape = self.rows, self.table.shape[1:]
        for component in components:
            axes = [axis_matrices(self.space, component, axis, nodes[:, axis]) for axis in range(self.space.dim)]
            for total, coefficients, *matrices in zip(found, dual, *axes, strict=True):
                tables = (coefficients.T @ rows).view(-1, *shape[1:]).movedim(0, -1).contiguous()
                total += component.share * rotated_through(tables.flatten(1), matrices).view_as(total)
        return found

    def features(self, rows: Float[Tensor, "*shape entry"]) -> Float[Tensor, "*shape feature"]:
        """Take the entries that belong to functions of the space from rows laid out like :attr:`rows`."""
        return rows.unflatten(-1, (self.table.shape[1], -1))[..., self.chosen].flatten(-2)

    def along_lines(
        self, component: Component, lines: Float[Tensor, "line others"]
    ) -> Iterator[Float[Tensor, "sample entry wave"]]:
        """Yield the functions with the covariance applied along all axes but the last, for each line of nodes."""
        factors = [axis_matrices(self.space, component, axis, lines[:, axis]) for axis in range(self.space.dim - 1)]
        for line in range(len(lines)):
            tables = self.table
            for axis, matrices in enumerate(factors):
                tables = mixed(tables, matrices[line], axis)
            yield tables.flatten(1, -2)


def rotated_through(
    tables: Float[Tensor, "first rest"], matrices: Sequence[Float[Tensor, "wave wave"]]
) -> Float[Tensor, "row entry"]:
    """Multiply tables by a matrix along each axis: every product takes the first axis, and leaves it behind as last.

    What comes after the axes, samples or channels, is the first axis in the end. With matrices of some axes only, what
    comes out goes through those of the others afterwards.
    """
    for matrix in matrices:
        tables = product(tables.reshape(len(matrix), -1).T, matrix)
    return tables


def mixed(
    tables: Float[Tensor, "row channel *wave"], matrix: Float[Tensor, "wave wave"], axis: int
) -> Float[Tensor, "row channel *wave"]:
    """Multiply tables by a matrix along one axis; rows, channels and the other axes only come along."""
    return product(tables.movedim(2 + axis, -1), matrix).movedim(-1, 2 + axis)


def kernel_at(
    functions: InputFunctions, components: Sequence[Component], nodes: Float[Tensor, "node dim"]
) -> Float[Tensor, "node sample sample"]:
    """Return the prior covariance of the solutions at each node, between all pairs of input functions."""
    return (kernel_by_line if _lines_pay(functions, nodes) else kernel_by_node)(functions, components, nodes)


def _lines_pay(functions: InputFunctions, nodes: Float[Tensor, "node dim"]) -> bool:
    """Compare the numbers of multiplications, in units of the entries of a table."""
    if functions.space.dim == 1:
        return False
    num_lines = len(torch.unique(nodes[:, :-1], dim=0))
    num_samples, size = len(functions.table), functions.table.shape[-1]
    node_by_node = 2 * len(nodes) * num_samples * (size + num_samples)
    line_by_line = num_samples**2 * (num_lines * size + len(nodes) * size**2 / functions.table[0].numel())
    return _SLOWER * line_by_line < node_by_node


def kernel_by_node(
    functions: InputFunctions, components: Sequence[Component], nodes: Float[Tensor, "node dim"]
) -> Float[Tensor, "node sample sample"]:
    """Return the same as :func:`kernel_at`, one node after the other: what belongs to a node fits into the cache.

    Nodes in a row that share their first coordinate share the work along that axis.
    """
    space, tables, columns = functions.space, functions.rotated(), functions.rows.T
    kernel = nodes.new_zeros(len(nodes), columns.shape[1], columns.shape[1])
    along = [[axis_matrices(space, one, axis, nodes[:, axis]) for axis in range(space.dim)] for one in components]
    firsts = nodes[:, 0].tolist()
    for number, found in enumerate(kernel):
        if number == 0 or firsts[number] != firsts[number - 1]:
            shared = [rotated_through(tables, [axes[0][number]]) for axes in along]
        covered = torch.zeros_like(columns.T)
        for component, tables_here, axes in zip(components, shared, along, strict=True):
            others = rotated_through(tables_here, [matrices[number] for matrices in axes[1:]])
            covered.add_(others.view_as(covered), alpha=component.share)
        symmetric_product(covered, columns, out=found)
    return kernel


def kernel_by_line(
    functions: InputFunctions, components: Sequence[Component], nodes: Float[Tensor, "node dim"]
) -> Float[Tensor, "node sample sample"]:
    """Return the same as :func:`kernel_at`, in less time where many nodes differ in the last coordinate only.

    With the covariance applied along the other axes, each pair of functions is one small matrix for all nodes of a
    line; the covariance along the last axis is another for each node, and their inner product is the entry of the
    kernel.
    """
    lines, line_of_node = torch.unique(nodes[:, :-1], dim=0, return_inverse=True)
    num_samples, columns = len(functions.table), functions.table.flatten(1, -2)
    first, second = torch.triu_indices(num_samples, num_samples, device=nodes.device)
    packed = nodes.new_zeros(len(nodes), len(first))
    for component in components:
        last = axis_matrices(functions.space, component, -1, nodes[:, -1]).flatten(1)
        for line, tables in enumerate(functions.along_lines(component, lines)):
            members = torch.nonzero(line_of_node == line)[:, 0]
            packed[members] += component.share * _inner_products(columns, tables, last[members])
    kernel = nodes.new_empty(len(nodes), num_samples, num_samples)
    kernel[:, first, second] = packed
    kernel[:, second, first] = packed
    return kernel


def _inner_products(
    functions: Float[Tensor, "sample entry wave"],
    covered: Float[Tensor, "sample entry wave"],
    last: Float[Tensor, "node pair"],
) -> Float[Tensor, "node pairs_of_samples"]:
    """Return the inner product of functions with covered ones under matrices of the last axis, upper triangle only."""
    size = covered.shape[2]
    columns, found = functions.mT.flatten(0, 1), []
    for row, tables in enumerate(covered):
        pairs = product(columns[size * row :], tables).view(-1, size**2)
        found.append(product(pairs, last.T))
    return torch.cat(found).T


def axis_matrices(
    space: FunctionSpace, component: Component, axis: int, positions: Float[Tensor, " node"]
) -> Float[Tensor, "node wave wave"]:
    """Return the factor of the covariance along one axis, as a matrix between cosines, for windows at the positions.

    The matrices have trace 1, so that shares and penalties mean the same whatever the window and wherever it is.
    """
    unique, rows = torch.unique(positions, return_inverse=True)
    fractions, weights = _gauss_legendre(int(space.waves.max()) + 1, positions)
    covariance = _matern(component.order, component.rate * (fractions[:, None] - fractions).abs())
    windows = _window(component.window, (fractions - unique[:, None]) / component.widths[axis])
    windowed = (windows * weights)[:, :, None] * _cosines_along(space, fractions)
    matrices = windowed.mT @ (covariance @ windowed)
    return (matrices / matrices.diagonal(dim1=1, dim2=2).sum(dim=1)[:, None, None])[rows]


def _cosines_along(space: FunctionSpace, fractions: Float[Tensor, " fraction"]) -> Float[Tensor, "fraction wave"]:
    """Evaluate the cosines of one axis at fractions of the bounding box."""
    count = int(space.waves.max()) + 1
    return axis_cosines(space.angles(fractions), count).T * amplitudes(torch.arange(count)).to(fractions)


@cache
def _quadrature(count: int) -> tuple[Float[np.ndarray, " place"], Float[np.ndarray, " place"]]:
    return np.polynomial.legendre.leggauss(count)


def _gauss_legendre(num_waves: int, like: Tensor) -> tuple[Float[Tensor, " fraction"], Float[Tensor, " fraction"]]:
    places, weights = _quadrature(max(_LEAST_QUADRATURE, num_waves + _MORE_THAN_WAVES))
    return torch.from_numpy(0.5 * (places + 1.0)).to(like), torch.from_numpy(0.5 * weights).to(like)


def _window(window: Window, offsets: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    return torch.exp(-0.5 * offsets**2) if window == "gaussian" else 1.0 / (1.0 + offsets**2)


def _matern(order: int, distances: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    coefficients = {1: (1.0,), 3: (1.0, 1.0, 1.0 / 3.0)}[order]
    polynomial = sum(coefficient * distances**power for power, coefficient in enumerate(coefficients))
    return polynomial * torch.exp(-distances)
