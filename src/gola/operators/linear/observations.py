"""States of a diffusion, seen at scattered points."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from gola.operators.linear.finite_elements import FiniteElements


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Observations:
    """Values of each sample's state at points of its own, one sample after the other.

    Attributes:
        values: The values.
        samples: The sample of each value.
        corners: The nodes around each point.
        shares: How much of a value comes from each of them.
        num_nodes: Number of all nodes.
    """

    values: Float[np.ndarray, " point"]
    samples: Int[np.ndarray, " point"]
    corners: Int[np.ndarray, "point corner"]
    shares: Float[np.ndarray, "point corner"]
    num_nodes: int

    @staticmethod
    def at(
        elements: FiniteElements,
        fractions: Sequence[Float[np.ndarray, "_ dim"]],
        values: Sequence[Float[np.ndarray, " _"]],
    ) -> "Observations":
        """Take the points of each sample as fractions of the box."""
        corners, shares = elements.located(np.concatenate(fractions))
        samples = np.repeat(np.arange(len(values)), [len(one) for one in values])
        return Observations(
            values=np.concatenate(values),
            samples=samples,
            corners=corners,
            shares=shares,
            num_nodes=len(elements.nodes),
        )

    def of(self, states: Float[np.ndarray, "node sample"]) -> Float[np.ndarray, " point"]:
        """Return what would be seen of these states."""
        seen: Float[np.ndarray, " point"] = self._matrix @ states.ravel()
        return seen

    def transposed(self, residuals: Float[np.ndarray, " point"]) -> Float[np.ndarray, "node sample"]:
        """Return how the sum of residual times value seen changes with the states."""
        changes: Float[np.ndarray, "node sample"] = (self._transposed @ residuals).reshape(self.num_nodes, -1)
        return changes

    @cached_property
    def _matrix(self) -> csr_array:
        """What is seen, as a matrix that states at all nodes, those of all samples at a node together, go through."""
        num_samples = int(self.samples[-1]) + 1
        columns = (self.corners * num_samples + self.samples[:, None]).ravel()
        starts = np.arange(len(self.corners) + 1) * self.corners.shape[1]
        return csr_array(
            (self.shares.ravel(), columns, starts), shape=(len(self.corners), self.num_nodes * num_samples)
        )

    @cached_property
    def _transposed(self) -> csr_array:
        return csr_array(self._matrix.T)

    def squares(self, values: Float[np.ndarray, " point"]) -> Float[np.ndarray, " sample"]:
        """Return the sum of squares over the points of each sample."""
        return np.bincount(self.samples, values**2)
