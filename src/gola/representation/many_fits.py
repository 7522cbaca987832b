r"""Fits of many samples, each at points of its own, solved together by preconditioned conjugate gradients.

The Gram matrix of a sample follows from the sums of products of cosines over its points. Weights on a grid of the box
that have the same sums have the same Gram matrix, so its product with coefficients takes a few products of small
matrices: evaluate on the grid, weigh, and sum up again.

Where points are drawn or meshed alike, the Gram matrices are much alike, and the inverse of their mean makes all of
them nearly the identity. Then 15 to 30 steps give all digits, in a fraction of the time of a Cholesky factor.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.representation.cholesky import inverse_in_single
from gola.representation.cosines import amplitudes, flat_index, gram_of_sums, lowest_waves, plain_cosines
from gola.threads import spread_over_threads

# Errors of the solutions, in the norm of the equations, as a share of the solutions.
_TOLERANCE = 1e-11
# When errors are as small as this, single precision gives all digits of what is left.
_ROUGH = 1e-6
# Cholesky factors of so many functions take as long as a step for one right side.
_FUNCTIONS_PER_STEP = 8
# Fewer steps never suffice, and some show how many it takes.
_FEWEST_STEPS, _TELLING_STEPS = 15, 8
# Right sides that are solved for at once.
_AT_ONCE = 40
# So many samples show whether the others are worth a try.
_PROBES = 2
# Of a mean known more firmly than this, in units of how firmly the points tell it, digits would be lost.
_FIRMEST = 1e4
# Matrices of such numbers of columns are multiplied quickest.
_COLUMNS = 4

Vectors = Float[Tensor, "sample channel mode"]
Multiply = Callable[[Vectors], Vectors]


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class ManyFits:
    r"""The normal equations of samples that differ in their points.

    With the matrix :math:`G_s` of sample s they are
    :math:`(G_s + \operatorname{diag}(\rho) + \tau\, g g^\top) a = b`.

    Attributes:
        sums: Of products of cosines along the axes over the points of each sample.
        right: The right sides b, of each channel.
        penalties: The penalties ρ.
        averages: The vector g: what a function gives that each channel is also known by.
        firmness: How firmly it is known, τ.
    """

    sums: Float[Tensor, "sample *wave"]
    right: Float[Tensor, "sample channel mode"]
    penalties: Float[Tensor, " mode"]
    averages: Float[Tensor, " mode"]
    firmness: Float[Tensor, " channel"]

    def solutions(self) -> Float[Tensor, "sample channel mode"] | None:
        """Return the coefficients; None where Cholesky factors of each sample are the better choice."""
        precondition = self._inverse_of_mean() if self._most_steps >= _FEWEST_STEPS else None
        first = None if precondition is None else self._solved(slice(0, _PROBES), precondition)
        if precondition is None or first is None:
            return None
        step = max(1, _AT_ONCE // self.right.shape[1])
        rows = [slice(start, start + step) for start in range(_PROBES, len(self.right), step)]
        found = [first, *spread_over_threads(lambda some: self._solved(some, precondition), rows)]
        parts = [part for part in found if part is not None]
        return torch.cat(parts) if len(parts) == len(found) else None

    def _solved(self, rows: slice, precondition: Multiply) -> Float[Tensor, "some_sample channel mode"] | None:
        """Solve for some samples, if that takes few steps."""
        products = GramProducts.of(self.sums[rows], self.penalties)
        rough_products = products.in_single()

        def with_mean(found: Vectors, vectors: Vectors) -> Vectors:
            known = self.firmness * (vectors @ self.averages)
            return torch.addcmul(found, known[..., None], self.averages)

        def product(vectors: Vectors) -> Vectors:
            return with_mean(products(vectors), vectors)

        def rough_product(vectors: Vectors) -> Vectors:
            return with_mean(rough_products(vectors.float()).double(), vectors)

        return conjugate_gradients(product, rough_product, precondition, self.right[rows], self._most_steps)

    @property
    def _most_steps(self) -> int:
        """From how many steps on factors are quicker, which are made once for all channels."""
        return len(self.penalties) // (_FUNCTIONS_PER_STEP * self.right.shape[1])

    def _inverse_of_mean(self) -> Multiply | None:
        """Return the inverse of the mean of all matrices, unless it takes more digits than single precision has."""
        mean = gram_of_sums(self.sums.mean(dim=0), len(self.penalties))
        mean.diagonal().add_(self.penalties)
        inverse = inverse_in_single(mean)
        if inverse is None:
            return None
        pulls = (self.averages.float() @ inverse).double()
        leverage = pulls @ self.averages
        if not bool((self.firmness * leverage < _FIRMEST).all()):
            return None
        share = self.firmness / (1.0 + self.firmness * leverage)

        def precondition(vectors: Float[Tensor, "some channel mode"]) -> Float[Tensor, "some channel mode"]:
            found = (vectors.float() @ inverse).double()
            return torch.addcmul(found, (share * (found @ self.averages))[..., None], pulls, value=-1.0)

        return precondition


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class GramProducts:
    """Products with the Gram matrices of some samples and their penalties.

    Attributes:
        weights: Of the nodes of a grid, for each sample.
        cosines: The functions along an axis at the nodes.
        penalties: The penalty of each function.
    """

    weights: Float[Tensor, "sample 1 *node"]
    cosines: Float[Tensor, "wave node"]
    penalties: Float[Tensor, " mode"]

    @staticmethod
    def of(sums: Float[Tensor, "sample *wave"], penalties: Float[Tensor, " mode"]) -> "GramProducts":
        """Find weights with the same sums of products of cosines."""
        count, dim = sums.shape[-1], sums.ndim - 1
        # On as many nodes as there are sums these functions are orthogonal; a product of two of ours is one of them.
        num_nodes = _COLUMNS * -(-count // _COLUMNS)
        nodes = torch.pi * (torch.arange(num_nodes, dtype=sums.dtype) + 0.5) / num_nodes
        cosines, scale = plain_cosines(nodes, count), amplitudes(torch.arange(count))[:, None]
        weights = along_axes(sums, cosines * scale**2 / num_nodes, dim)
        return GramProducts(
            weights=weights[:, None], cosines=(cosines * scale)[: (count + 1) // 2].contiguous(), penalties=penalties
        )

    def in_single(self) -> "GramProducts":
        """Return the same in single precision, which takes half the time."""
        return GramProducts(
            weights=self.weights.float(), cosines=self.cosines.float(), penalties=self.penalties.float()
        )

    def __call__(self, vectors: Float[Tensor, "sample channel mode"]) -> Float[Tensor, "sample channel mode"]:
        """Return the product of each sample's matrix with its vectors."""
        dim, size = self.weights.ndim - 2, len(self.cosines)
        places = flat_index(lowest_waves(vectors.shape[-1], dim))
        table = vectors.new_zeros(*vectors.shape[:-1], size**dim).index_copy_(-1, places, vectors)
        values = along_axes(table.unflatten(-1, (size,) * dim), self.cosines, dim)
        sums = along_axes(values.mul_(self.weights), self.cosines.T, dim)
        found = sums.flatten(-dim).index_select(-1, places)
        return torch.addcmul(found, vectors, self.penalties)


def along_axes(
    table: Float[Tensor, "*batch_and_wave"], matrix: Float[Tensor, "wave node"], dim: int
) -> Float[Tensor, "*batch_and_node"]:
    """Multiply a table by the same matrix along each of its last axes.

    >>> along_axes(torch.eye(2), 2.0 * torch.eye(2), dim=2).tolist()
    [[4.0, 0.0], [0.0, 4.0]]
    """
    for _ in range(dim):
        table = (table @ matrix).movedim(-1, -dim)
    return table


def conjugate_gradients(
    product: Callable[[Float[Tensor, "*shape"]], Float[Tensor, "*shape"]],
    rough_product: Callable[[Float[Tensor, "*shape"]], Float[Tensor, "*shape"]],
    precondition: Callable[[Float[Tensor, "*shape"]], Float[Tensor, "*shape"]],
    right: Float[Tensor, "*shape"],
    most_steps: int,
) -> Float[Tensor, "*shape"] | None:
    """Solve for every right side, the last axis of which is its own; None if that takes more steps.

    The smaller what is left, the fewer digits of products count: steps go on as if all were exact.

    Args:
        product: With the matrix.
        rough_product: The same to six digits.
        precondition: A product with nearly the inverse of the matrix.
        right: The right sides.
        most_steps: From how many steps on it is given up.
    """
    least = torch.finfo(right.dtype).tiny  # a right side of zeros
    found, left = torch.zeros_like(right), right.clone()
    direction = precondition(left)
    size = start = _inner(left, direction)
    error = 1.0
    for number in range(1, most_steps + 1):
        image = (product if error > _ROUGH else rough_product)(direction)
        step = size / _inner(direction, image).clamp(min=least)
        found.addcmul_(step, direction)
        left.addcmul_(step, image, value=-1.0)
        steered = precondition(left)
        before, size = size, _inner(left, steered)
        error = float((size / start.clamp(min=least)).max().clamp(min=0.0).sqrt())
        if error <= _TOLERANCE:
            return found
        # The error falls by about the same share with every step.
        if number >= _TELLING_STEPS and not error ** (most_steps / number) <= _TOLERANCE:
            return None
        direction = torch.addcmul(steered, size / before.clamp(min=least), direction)
    return None


def _inner(vectors: Float[Tensor, "*shape"], others: Float[Tensor, "*shape"]) -> Float[Tensor, "*batch 1"]:
    return torch.linalg.vecdot(vectors, others)[..., None]
