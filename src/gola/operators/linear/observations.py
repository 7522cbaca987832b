"""States of a diffusion, seen at scattered points."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float, Int

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
        return np.einsum("pc,pc->p", self.shares, states[self.corners, self.samples[:, None]])

    def transposed(self, residuals: Float[np.ndarray, " point"]) -> Float[np.ndarray, "node sample"]:
        """Return how the sum of residual times value seen changes with the states."""
        num_samples = int(self.samples[-1]) + 1
        places = self.corners * num_samples + self.samples[:, None]
        weights = self.shares * residuals[:, None]
        sums = np.bincount(places.ravel(), weights.ravel(), minlength=self.num_nodes * num_samples)
        return sums.reshape(self.num_nodes, num_samples)

    def squares(self, values: Float[np.ndarray, " point"]) -> Float[np.ndarray, " sample"]:
        """Return the sum of squares over the points of each sample."""
        return np.bincount(self.samples, values**2)
