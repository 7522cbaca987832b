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
from jaxtyping import Float, Shaped
from torch import Tensor

from gola.representation.cosines import amplitudes, axis_cosines, flat_index
from gola.representation.function_space import FunctionSpace

Window = Literal["gaussian", "cauchy"]

# Gauss–Legendre nodes along an axis: enough for the products of 40 half-waves with the narrowest window.
_NUM_QUADRATURE = 96
# Numbers that a portion of nodes may hold at once.
_PORTION = 4_000_000


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

    def smoothed(
        self, components: Sequence[Component], nodes: Float[Tensor, "node dim"]
    ) -> Float[Tensor, "node sample entry"]:
        """Apply the covariance of Green's function at each node to every input function."""
        total = sum(component.share * self._applied(component, nodes) for component in components)
        assert isinstance(total, Tensor)
        return total.flatten(2)

    def features(self, rows: Float[Tensor, "*shape entry"]) -> Float[Tensor, "*shape feature"]:
        """Take the entries that belong to functions of the space from rows laid out like :attr:`rows`."""
        return rows.unflatten(-1, (self.table.shape[1], -1))[..., self.chosen].flatten(-2)

    def portions(self, nodes: Shaped[Tensor, "node *rest"]) -> Iterator[slice]:
        """Cut the nodes into portions that fit into memory."""
        step = max(1, _PORTION // self.table.numel())
        for start in range(0, len(nodes), step):
            yield slice(start, min(start + step, len(nodes)))

    def _applied(
        self, component: Component, nodes: Float[Tensor, "node dim"]
    ) -> Float[Tensor, "node sample channel *wave"]:
        applied = self.table[None]
        for axis in range(self.space.dim):
            matrices = axis_matrices(self.space, component, axis, nodes[:, axis])
            moved = applied.movedim(3 + axis, -1)
            # One matrix for each node; samples, channels and the other axes only come along.
            mixed = moved.flatten(1, -2) @ matrices
            applied = mixed.unflatten(1, moved.shape[1:-1]).movedim(-1, 3 + axis)
        return applied


def kernel_at(
    functions: InputFunctions, components: Sequence[Component], nodes: Float[Tensor, "node dim"]
) -> Float[Tensor, "node sample sample"]:
    """Return the prior covariance of the solutions at each node, between all pairs of input functions."""
    rows = functions.rows
    parts = [functions.smoothed(components, nodes[portion]) @ rows.T for portion in functions.portions(nodes)]
    return torch.cat(parts)


def axis_matrices(
    space: FunctionSpace, component: Component, axis: int, positions: Float[Tensor, " node"]
) -> Float[Tensor, "node wave wave"]:
    """Return the factor of the covariance along one axis, as a matrix between cosines, for windows at the positions.

    The matrices have trace 1, so that shares and penalties mean the same whatever the window and wherever it is.
    """
    unique, rows = torch.unique(positions, return_inverse=True)
    fractions, weights = _gauss_legendre(positions)
    covariance = _matern(component.order, component.rate * (fractions[:, None] - fractions).abs())
    windows = _window(component.window, (fractions - unique[:, None]) / component.widths[axis])
    windowed = (windows * weights)[:, :, None] * _cosines_along(space, fractions)
    matrices = windowed.mT @ (covariance @ windowed)
    return (matrices / matrices.diagonal(dim1=1, dim2=2).sum(dim=1)[:, None, None])[rows]


def _cosines_along(space: FunctionSpace, fractions: Float[Tensor, " fraction"]) -> Float[Tensor, "fraction wave"]:
    """Evaluate the cosines of one axis at fractions of the bounding box."""
    count = int(space.waves.max()) + 1
    return axis_cosines(space.angles(fractions), count) * amplitudes(torch.arange(count)).to(fractions)


@cache
def _quadrature() -> tuple[Float[np.ndarray, " place"], Float[np.ndarray, " place"]]:
    return np.polynomial.legendre.leggauss(_NUM_QUADRATURE)


def _gauss_legendre(like: Tensor) -> tuple[Float[Tensor, " fraction"], Float[Tensor, " fraction"]]:
    places, weights = _quadrature()
    return torch.from_numpy(0.5 * (places + 1.0)).to(like), torch.from_numpy(0.5 * weights).to(like)


def _window(window: Window, offsets: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    return torch.exp(-0.5 * offsets**2) if window == "gaussian" else 1.0 / (1.0 + offsets**2)


def _matern(order: int, distances: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    coefficients = {1: (1.0,), 3: (1.0, 1.0, 1.0 / 3.0)}[order]
    polynomial = sum(coefficient * distances**power for power, coefficient in enumerate(coefficients))
    return polynomial * torch.exp(-distances)
