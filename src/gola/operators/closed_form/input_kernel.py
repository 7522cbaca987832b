"""Kernels of input functions, and which of them predicts held-out samples best."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gola.operators.closed_form.input_features import InputFeatures
from gola.operators.closed_form.preprocessing import Transform
from gola.operators.closed_form.ridge_path import RidgePath
from gola.operators.closed_form.scores import Probes
from gola.representation.products import product
from gola.representation.smoothness import growth

_EXPONENTS = (0.0, 1.0, 2.0)
_RATES = (3.0, 10.0)
# In units of the root mean square distance of the training inputs.
_LENGTHS = (0.5, 1.0, 2.0, 4.0, 8.0)
_PENALTIES = tuple(10.0**power for power in range(-8, 1))
# Near another kernel: its length and its penalty times these.
_NEAR_LENGTHS = (0.5, 1.0, 2.0)
_NEAR_PENALTIES = (0.01, 0.1, 1.0, 10.0)
# Below this, rounding is all that is left.
_LEAST_PENALTY = 1e-9


@final
@dataclass(frozen=True, kw_only=True)
class InputKernel:
    r"""A kernel :math:`k(f, g) = m(\lVert f - g \rVert / \ell) + \langle f, g \rangle` of input functions.

    m is the Matérn kernel of smoothness 5/2. Distance and inner product are those of coefficients with the weights
    :math:`(1 + \omega_k^2/\tau^2)^{-s}`. The second term is the kernel of linear operators, so that only the rest has
    to be learned from how near inputs are.

    Attributes:
        transform: What is done to the values of positive channels first: slowness may suit a problem that speed does
            not, and the logarithm suits what spans decades.
        exponent: The exponent s of the inner product.
        rate: The frequency τ.
        scale: The unit of squared distances and inner products.
        length: The length ℓ.
        penalty: The ridge.
    """

    transform: Transform
    exponent: float
    rate: float
    scale: float
    length: float = 1.0
    penalty: float = 1.0

    def __call__(
        self, inputs: Float[Tensor, "row feature"], others: Float[Tensor, "column feature"]
    ) -> Float[Tensor, "row column"]:
        """Evaluate the kernel between weighted coefficients."""
        products = product(inputs, others.T)
        return self.of(distances(products, _squares(inputs), _squares(others)), products)

    def of(
        self, distances: Float[Tensor, "row column"], products: Float[Tensor, "row column"]
    ) -> Float[Tensor, "row column"]:
        """Evaluate the kernel from the distances and inner products of weighted coefficients."""
        scaled = distances * (5.0 / self.scale) ** 0.5 / self.length
        matern = (1.0 + scaled + scaled**2 / 3.0) * torch.exp(-scaled)
        return matern + products / self.scale

    def weighted(
        self, inputs: InputFeatures, features: Float[Tensor, "sample channel mode"]
    ) -> Float[Tensor, "sample feature"]:
        """Weigh coefficients so that their plain inner product is that of the kernel."""
        return (features * growth(inputs.space, -0.5 * self.exponent, self.rate)).flatten(1)


def distances(
    products: Float[Tensor, "row column"], squares: Float[Tensor, " row"], other_squares: Float[Tensor, " column"]
) -> Float[Tensor, "row column"]:
    """Return the distances of vectors, given their inner products and the squares of their norms.

    Of many numbers each that is how :func:`torch.cdist` computes them, with another product of matrices.
    """
    found = torch.add(squares[:, None] + other_squares, products, alpha=-2.0)
    # What rounding leaves of the distance of a vector from itself is no distance.
    apart = found > 4.0 * torch.finfo(found.dtype).eps * (squares[:, None] + other_squares)
    # The root has an infinite slope at 0, which must not reach the gradient of places that are the same.
    return torch.where(apart, torch.where(apart, found, 1.0).sqrt(), 0.0)


def _squares(rows: Float[Tensor, "row feature"]) -> Float[Tensor, " row"]:
    return torch.linalg.vecdot(rows, rows)


def all_kernels(transform: Transform) -> list[InputKernel]:
    """Return the kernels to try on inputs that are seen in one way."""
    settings = itertools.product(_EXPONENTS, _RATES, _LENGTHS, _PENALTIES)
    return [
        InputKernel(transform=transform, exponent=exponent, rate=rate, scale=1.0, length=length, penalty=penalty)
        for exponent, rate, length, penalty in settings
        # Without weights all rates are the same.
        if exponent > 0.0 or rate == _RATES[0]
    ]


def kernels_near(kernel: InputKernel) -> list[InputKernel]:
    """Return the kernels whose lengths and penalties are near those of another one."""
    return [
        replace(kernel, length=kernel.length * longer, penalty=max(kernel.penalty * larger, _LEAST_PENALTY))
        for longer, larger in itertools.product(_NEAR_LENGTHS, _NEAR_PENALTIES)
    ]


def best_kernel(
    kernels: Iterable[InputKernel],
    inputs: InputFeatures,
    features: Float[Tensor, "sample channel mode"],
    probes: Probes,
    groups: Int[Tensor, "group member"] | None = None,
) -> tuple[float, InputKernel]:
    """Return the kernel with the smallest leave-one-out error, after that error.

    Args:
        kernels: To try; their scale follows from the features. Those that share a matrix come one after the other.
        inputs: How input functions became features.
        features: Of the samples.
        probes: The solutions.
        groups: Rows that are left out together; each alone by default.
    """
    scored = []
    for _, alike in itertools.groupby(kernels, key=lambda one: (one.exponent, one.rate)):
        tried = list(alike)
        rows = tried[0].weighted(inputs, features)
        rows = rows - rows.mean(dim=0)
        scale = 2.0 * float(rows.square().sum(dim=1).mean()) or 1.0
        products = product(rows, rows.T)
        apart = distances(products, products.diagonal(), products.diagonal())
        for _, same_length in itertools.groupby(tried, key=lambda one: one.length):
            candidates = [replace(one, scale=scale) for one in same_length]
            path = RidgePath(kernel=candidates[0].of(apart, products), targets=probes.compressed, groups=groups)
            scored += [(probes.error_of_compressed(path.held_out(one.penalty)), one) for one in candidates]
    return min(scored, key=lambda one: one[0])
