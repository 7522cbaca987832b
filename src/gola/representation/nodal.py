"""Functions that are all known at the same points: their values there are what they are, to rounding."""

from collections.abc import Sequence
from typing import final

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.spatial import cKDTree
from torch import Tensor

from gola.geometry.interpolation import interpolation_weights
from gola.representation.fitted import Fitted

# Places that are nearer to a node than this share of the extent are the node.
_SAME = 1e-9
# Modes below this share of the first are rounding.
_NEGLIGIBLE = 1e-13


@final
class NodalSpace(Fitted):
    r"""The span of some functions that share their points, in orthonormal modes of their values there (POD).

    .. math:: u(x_i) = \sum_k a_k \psi_k(x_i)

    Nothing is smoothed and nothing is lost, whatever the mesh. Between the points functions are interpolated.

    Attributes:
        nodes: The points.
        modes: The modes at the points.
        lower: Lower corner of the bounding box.
        sides: Sides of the bounding box.
    """

    nodes: Float[Tensor, "node dim"]
    modes: Float[Tensor, "node mode"]
    lower: Float[Tensor, " dim"]
    sides: Float[Tensor, " dim"]

    def __init__(self) -> None:
        super().__init__()
        self._register_empty("nodes", "modes", "lower", "sides")

    @staticmethod
    def spanning(nodes: Float[Tensor, "node dim"], values: Sequence[Float[Tensor, "node channel"]]) -> "NodalSpace":
        """Make the space of some functions, all channels together."""
        space = NodalSpace()
        space.nodes = nodes.double()
        space.lower, upper = nodes.min(dim=0).values.double(), nodes.max(dim=0).values.double()
        space.sides = torch.where(upper > space.lower, upper - space.lower, 1.0)
        columns = torch.cat([one.double() for one in values], dim=1)
        modes, strengths, _ = torch.linalg.svd(columns, full_matrices=False)
        space.modes = modes[:, strengths > _NEGLIGIBLE * strengths[0]].contiguous()
        return space

    @property
    def num_modes(self) -> int:
        """Number of modes."""
        return self.modes.shape[1] if self.modes.dim() == 2 else 0

    def fractions(self, points: Float[Tensor, "point dim"]) -> Float[Tensor, "point dim"]:
        """Return coordinates in which the bounding box is the unit cube."""
        return (points.double() - self.lower) / self.sides

    def coefficients(
        self, points: Sequence[Float[Tensor, "_ dim"]], values: Sequence[Float[Tensor, "_ channel"]]
    ) -> Float[Tensor, "sample mode channel"]:
        """Project functions known at the nodes onto the modes."""
        for places in points:
            if places.shape != self.nodes.shape or not torch.equal(places.double(), self.nodes):
                raise ValueError("These samples must have the points of the training samples, in the same order.")
        return torch.stack([self.modes.T @ one.double() for one in values])

    def functions(self, points: Float[Tensor, "point dim"]) -> Float[Tensor, "point mode"]:
        """Evaluate every mode at the points: as it is at nodes, interpolated elsewhere."""
        rows, weights = self._interpolation(points)
        return torch.einsum("pk,pkm->pm", weights, self.modes[rows])

    def values(
        self, points: Float[Tensor, "point dim"], coefficients: Float[Tensor, "mode channel"]
    ) -> Float[Tensor, "point channel"]:
        """Evaluate the function with these coefficients."""
        at_nodes = self.modes @ coefficients
        rows, weights = self._interpolation(points)
        return torch.einsum("pk,pkc->pc", weights, at_nodes[rows])

    def _interpolation(
        self, points: Float[Tensor, "point dim"]
    ) -> tuple[Int[Tensor, "point nearest"], Float[Tensor, "point nearest"]]:
        """Return the nodes that each point reads, and how much of each."""
        if points.is_meta:
            return points.new_zeros(len(points), 1, dtype=torch.int64), points.new_ones(len(points), 1).double()
        if points.shape == self.nodes.shape and torch.equal(points.double(), self.nodes):
            rows = torch.arange(len(points), device=points.device)[:, None]
            return rows, torch.ones_like(rows, dtype=torch.float64)
        nodes, places = self.nodes.cpu().numpy(), points.detach().double().cpu().numpy()
        distances, nearest = cKDTree(nodes).query(places)
        if np.max(distances) <= _SAME * float(self.sides.max()):
            rows = torch.from_numpy(nearest)[:, None].to(points.device)
            return rows, torch.ones_like(rows, dtype=torch.float64)
        read, weights = interpolation_weights(nodes, places)
        return torch.from_numpy(read).to(points.device), torch.from_numpy(weights).to(points.device)
