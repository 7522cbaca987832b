"""Message passing with four aggregations (section 3.4 of the paper)."""

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gola.graph.fused import neighbour_statistics
from gola.graph.neighbourhood import Neighbourhood
from gola.operators.layers import EdgeLinear
from gola.operators.onednn import Linear, linear, matmul


@final
class MessagePassing(nn.Module):
    r"""Send messages along the edges and update each point from the mean, max, min and deviation of what it hears.

    .. math::
        m_{ij} &= g(h_i, h_j, e_{ij}) = M_i h_i + M_j h_j + M_e (E e_{ij} + b_E) + b_M \\
        \hat m_i &= \big( \mathrm{mean}, \max, \min, \mathrm{std} \big)_{j \in \mathcal{N}(i)} \, m_{ij} \\
        h_i' &= L \, \gamma(h_i, \hat m_i) + b_L, \quad \gamma(h_i, \hat m_i) = U [h_i, \hat m_i] + b_U

    g, γ and the final map are linear, so :math:`m_{ij} = A_i + B_j`. The mean, max and min of the messages are
    :math:`A_i` plus those of B, and the deviation is that of B. No message is ever built, and the products of
    weights with weights are formed first. A point without neighbours hears :math:`\hat m_i = 0`.

    Args:
        dim: Number of coordinates.
        num_inputs: Channels of the input function.
        width: Channels of h.
        scale: Length unit of relative edge coordinates; None for absolute ones.
    """

    def __init__(self, *, dim: int, num_inputs: int, width: int, scale: float | None = None) -> None:
        super().__init__()
        self.edge = EdgeLinear(dim=dim, num_inputs=num_inputs, width=width, bias=True, scale=scale)
        self.message = nn.Linear(3 * width, width)
        self.update = nn.Linear(5 * width, width)
        self.output = nn.Linear(width, width)

    def forward(
        self,
        features: Float[Tensor, "point width"],
        attributes: Float[Tensor, "point attribute"],
        neighbourhood: Neighbourhood,
    ) -> Float[Tensor, "point width"]:
        """Update the features; ``attributes`` are the coordinates and the input function at the points."""
        from_receiver, from_sender, from_edge = self.message.weight.chunk(3, dim=1)
        receiver_end, sender_end = self.edge.ends()
        sent = linear(features, from_sender) + linear(attributes, from_edge @ sender_end)
        statistics = neighbour_statistics(sent, neighbourhood)

        own, *heard = matmul(self.output.weight, self.update.weight).chunk(5, dim=1)
        shared = heard[0] + heard[1] + heard[2]
        constant = from_edge @ self.edge.bias + self.message.bias
        received = matmul(shared, from_receiver), shared @ from_edge @ receiver_end, shared @ constant
        result = self._own(features, attributes, own, received, neighbourhood)
        for statistic, weight in zip(statistics, heard, strict=True):
            result = result + linear(statistic, weight)
        return result

    def _own(
        self,
        features: Float[Tensor, "point width"],
        attributes: Float[Tensor, "point attribute"],
        own: Float[Tensor, "width width"],
        received: tuple[Tensor, Tensor, Tensor],
        neighbourhood: Neighbourhood,
    ) -> Float[Tensor, "point width"]:
        """Return what a point adds from itself: its own part, and A_i, which is part of what it hears."""
        by_features, by_attributes, constant = received
        bias = self.output(self.update.bias)
        if neighbourhood.all_hear:
            return linear(attributes, by_attributes, bias + constant) + linear(features, own + by_features)
        heard = linear(features, by_features) + linear(attributes, by_attributes, constant)
        # A point that hears nobody must not get A_i.
        return linear(features, own, bias) + torch.where(neighbourhood.hears[:, None], heard, 0.0)


@final
class ResidualMLP(nn.Module):
    r"""The layers after message passing: :math:`h_i + W_2 \, \mathrm{gelu}(W_1 h_i + b_1) + b_2`, 2C wide inside."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(Linear(width, 2 * width), nn.GELU(), Linear(2 * width, width))

    def forward(self, features: Float[Tensor, "point width"]) -> Float[Tensor, "point width"]:
        """Update the features of each point on its own."""
        return features + self.layers(features)
