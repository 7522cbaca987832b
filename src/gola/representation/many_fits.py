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
from jaxtyping import Bool, Float
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
# So many samples show whether the others are worth a try, which may take more steps by this factor.
_PROBES, _MARGIN = 2, 1.25
# Of a mean known more firmly than this, in units of how firmly the points tell it, but not for certain, digits would
# be lost.
_FIRMEST = 1e4
# Matrices of such numbers of columns are multiplied quickest.
_COLUMNS = 4

Vectors = Float[Tensor, "some_sample channel mode"]


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class KnownMeans:
    """What is known of samples besides their values: the product of coefficients with some vector.

    Attributes:
        averages: The vector.
        firmness: How firmly the products are known, of each channel; infinite where they are known for certain.
        values: The products.
    """

    averages: Float[Tensor, " mode"]
    firmness: Float[Tensor, " channel"]
    values: Float[Tensor, "sample channel"]

    @property
    def are_certain(self) -> Bool[Tensor, " channel"]:
        """Which products are known for certain: steps then keep them."""
        return self.firmness.isinf()

    @property
    def weights(self) -> Float[Tensor, " channel"]:
        """The weights of products that are not known for certain, in the equations."""
        return torch.where(self.are_certain, 0.0, self.firmness)

    def select(self, rows: slice) -> "KnownMeans":
        """Return what is known of some samples."""
        return KnownMeans(averages=self.averages, firmness=self.firmness, values=self.values[rows])

    def added(self, vectors: Vectors, known: Float[Tensor, "sample channel"]) -> Vectors:
        """Add so much of what is known to equations; where it is certain only what cannot be met otherwise is left."""
        along = (vectors @ self.averages) / (self.averages @ self.averages)
        return torch.addcmul(vectors, torch.where(self.are_certain, -along, known)[..., None], self.averages)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Preconditioner:
    """The inverse of the mean matrix of all samples, with what is known besides.

    Attributes:
        inverse: Of the matrix, in single precision.
        known: What is known besides.
        pulls: The inverse times the vector that it is known by.
    """

    inverse: Float[Tensor, "mode mode"]
    known: KnownMeans
    pulls: Float[Tensor, " mode"]

    @staticmethod
    def of(matrix: Float[Tensor, "mode mode"], known: KnownMeans) -> "Preconditioner | None":
        """Return nothing if it takes more digits than single precision has."""
        inverse = inverse_in_single(matrix)
        if inverse is None:
            return None
        found = Preconditioner(inverse=inverse, known=known, pulls=(known.averages.float() @ inverse).double())
        return found if bool((known.weights * found.leverage < _FIRMEST).all()) else None

    @property
    def leverage(self) -> Float[Tensor, ""]:
        """How much a unit of the vector moves what is known."""
        return self.pulls @ self.known.averages

    def __call__(self, vectors: Vectors) -> Vectors:
        """Return the product with each vector."""
        # As one matrix: PyTorch would multiply a vector at a time where it does not see that they are one.
        found = (vectors.float().flatten(0, 1) @ self.inverse).double().view(vectors.shape)
        shares = 1.0 / (1.0 / self.known.firmness + self.leverage)
        return torch.addcmul(found, (shares * (found @ self.known.averages))[..., None], self.pulls, value=-1.0)

    def start(self, known: KnownMeans) -> Vectors:
        """Return coefficients for which holds what is certain."""
        certain = torch.where(known.are_certain, known.values / self.leverage, 0.0)
        return certain[..., None] * self.pulls


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class ManyFits:
    r"""The normal equations of samples that differ in their points.

    With the matrix :math:`G_s` of sample s they are
    :math:`(G_s + \operatorname{diag}(\rho) + \tau\, g g^\top) a = b + \tau m g`.

    Attributes:
        sums: Of products of cosines along the axes over the points of each sample.
        right: The right sides b, of each channel.
        penalties: The penalties ρ.
        known: That :math:`g^\top a` is m, with the firmness τ.
    """

    sums: Float[Tensor, "sample *wave"]
    right: Float[Tensor, "sample channel mode"]
    penalties: Float[Tensor, " mode"]
    known: KnownMeans

    def solutions(self) -> Float[Tensor, "sample channel mode"] | None:
        """Return the coefficients; None where Cholesky factors of each sample are the better choice."""
        most_steps = self._most_steps
        precondition = self._preconditioner() if most_steps >= _FEWEST_STEPS else None
        probes = slice(0, _PROBES)
        first = None if precondition is None else self._solved(probes, precondition, int(most_steps / _MARGIN))
        if precondition is None or first is None:
            return None
        step = max(1, _AT_ONCE // self.right.shape[1])
        rows = [slice(start, start + step) for start in range(_PROBES, len(self.right), step)]
        found = [first, *spread_over_threads(lambda some: self._solved(some, precondition, most_steps), rows)]
        parts = [part for part in found if part is not None]
        return torch.cat(parts) if len(parts) == len(found) else None

    def _preconditioner(self) -> Preconditioner | None:
        mean = gram_of_sums(self.sums.mean(dim=0), len(self.penalties))
        mean.diagonal().add_(self.penalties)
        return Preconditioner.of(mean, self.known)

    def _solved(self, rows: slice, precondition: Preconditioner, most_steps: int) -> Vectors | None:
        """Solve for some samples, if that takes few steps."""
        known, products = self.known.select(rows), GramProducts.of(self.sums[rows], self.penalties)
        rough_products, start = products.in_single(), precondition.start(known)

        def product(vectors: Vectors) -> Vectors:
            return known.added(products(vectors), known.weights * (vectors @ known.averages))

        def rough_product(vectors: Vectors) -> Vectors:
            found = rough_products(vectors.float()).double()
            return known.added(found, known.weights * (vectors @ known.averages))

        right = self.right[rows] - products(start) if bool(known.are_certain.any()) else self.right[rows]
        right = known.added(right, known.weights * known.values)
        found = conjugate_gradients(product, rough_product, precondition, right, most_steps)
        return None if found is None else found + start

    @property
    def _most_steps(self) -> int:
        """From how many steps on factors are quicker, which are made once for all channels."""
        return len(self.penalties) // (_FUNCTIONS_PER_STEP * self.right.shape[1])


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

    def __call__(self, vectors: Vectors) -> Vectors:
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
