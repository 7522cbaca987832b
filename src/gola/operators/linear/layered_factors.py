"""Equations in which each layer of unknowns is tied to the next one only, as on a lattice."""

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.linalg.lapack import dpotrf, dtrtri


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class LayeredFactors:
    """A symmetric positive definite matrix of layers, factorised so that products of dense matrices solve with it.

    For many right sides that is several times faster than sparse factors, which take them one by one.

    Attributes:
        inverses: The inverse of the Cholesky factor of each layer's block, once the layers before it are eliminated.
        ties: That inverse times the block that ties the layer to the next.
    """

    inverses: Float[np.ndarray, "layer row row"]
    ties: Float[np.ndarray, "tie row row"]

    @staticmethod
    def of(diagonal: Float[np.ndarray, "layer row row"], upper: Float[np.ndarray, "tie row row"]) -> "LayeredFactors":
        """Factorise a matrix with these blocks on the diagonal, and these to the right of all but the last of them."""
        inverses, ties = np.empty_like(diagonal), np.empty_like(upper)
        left = diagonal[0]
        for layer, coupling in enumerate(upper):
            inverses[layer] = _inverse_factor(left)
            ties[layer] = inverses[layer] @ coupling
            left = diagonal[layer + 1] - ties[layer].T @ ties[layer]
        inverses[-1] = _inverse_factor(left)
        return LayeredFactors(inverses=inverses, ties=ties)

    def solve(self, right: Float[np.ndarray, "row column"]) -> Float[np.ndarray, "row column"]:
        """Return the solutions for these right sides."""
        layers = right.reshape(len(self.inverses), -1, right.shape[1]).copy()
        layers[0] = self.inverses[0] @ layers[0]
        for layer, tie in enumerate(self.ties, start=1):
            layers[layer] = self.inverses[layer] @ (layers[layer] - tie.T @ layers[layer - 1])
        layers[-1] = self.inverses[-1].T @ layers[-1]
        for layer, tie in reversed(list(enumerate(self.ties))):
            layers[layer] = self.inverses[layer].T @ (layers[layer] - tie @ layers[layer + 1])
        return layers.reshape(right.shape)


def _inverse_factor(matrix: Float[np.ndarray, "row row"]) -> Float[np.ndarray, "row row"]:
    """Return the inverse of the lower Cholesky factor."""
    factor, failed = dpotrf(matrix, lower=1)
    if failed:
        raise np.linalg.LinAlgError("The matrix of a diffusion is not positive definite.")
    inverse: Float[np.ndarray, "row row"] = dtrtri(factor, lower=1, overwrite_c=1)[0]
    return inverse


def layer_places(
    rows: Int[np.ndarray, " entry"], columns: Int[np.ndarray, " entry"], size: int
) -> tuple[Bool[np.ndarray, " entry"], Int[np.ndarray, " upper"]]:
    """Return which entries of a matrix of layers are needed, and where each of them belongs.

    The blocks are laid out one layer after the other, each with the block on the diagonal and then the one that ties it
    to the next layer. By symmetry, ties to the layer before say nothing new.
    """
    distance = columns // size - rows // size
    upper = distance >= 0
    rows, columns, distance = rows[upper], columns[upper], distance[upper]
    return upper, ((rows // size * 2 + distance) * size + rows % size) * size + columns % size
