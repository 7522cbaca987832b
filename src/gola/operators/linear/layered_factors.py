"""Equations in which each layer of unknowns is tied to the next one only, as on a lattice."""

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float, Int


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class LayeredFactors:
    """A symmetric positive definite matrix of layers, factorised so that products of dense matrices solve with it.

    For many right sides that is several times faster than sparse factors, which take them one by one.

    Attributes:
        inverses: The inverse of each layer's block, once the layers before it are eliminated.
        ties: That inverse times the block that ties the layer to the next.
    """

    inverses: Float[np.ndarray, "layer row row"]
    ties: Float[np.ndarray, "tie row row"]

    @staticmethod
    def of(
        rows: Int[np.ndarray, " entry"],
        columns: Int[np.ndarray, " entry"],
        values: Float[np.ndarray, " entry"],
        num_rows: int,
        num_layers: int,
    ) -> "LayeredFactors":
        """Factorise a matrix.

        Args:
            rows: Row of each entry.
            columns: Column of each entry, in the layer of the row or one beside it.
            values: Of the entries; those at the same place add up.
            num_rows: Number of rows of the matrix.
            num_layers: Number of layers, all of one size.
        """
        size = num_rows // num_layers
        distance = columns // size - rows // size
        # By symmetry, ties to the layer before say nothing new.
        upper = distance >= 0
        rows, columns, values, distance = rows[upper], columns[upper], values[upper], distance[upper]
        places = ((rows // size * 2 + distance) * size + rows % size) * size + columns % size
        blocks = np.bincount(places, values, num_layers * 2 * size * size).reshape(num_layers, 2, size, size)
        return LayeredFactors._eliminated(blocks[:, 0], blocks[:-1, 1])

    @staticmethod
    def _eliminated(
        diagonal: Float[np.ndarray, "layer row row"], upper: Float[np.ndarray, "tie row row"]
    ) -> "LayeredFactors":
        inverses, ties = np.empty_like(diagonal), np.empty_like(upper)
        left = diagonal[0]
        for layer, coupling in enumerate(upper):
            inverses[layer] = np.linalg.inv(left)
            ties[layer] = inverses[layer] @ coupling
            left = diagonal[layer + 1] - coupling.T @ ties[layer]
        inverses[-1] = np.linalg.inv(left)
        return LayeredFactors(inverses=inverses, ties=ties)

    def solve(self, right: Float[np.ndarray, "row column"]) -> Float[np.ndarray, "row column"]:
        """Return the solutions for these right sides."""
        layers = right.reshape(len(self.inverses), -1, right.shape[1]).copy()
        for layer, tie in enumerate(self.ties):
            layers[layer + 1] -= tie.T @ layers[layer]
        layers = self.inverses @ layers
        for layer, tie in reversed(list(enumerate(self.ties))):
            layers[layer] -= tie @ layers[layer + 1]
        return layers.reshape(right.shape)
