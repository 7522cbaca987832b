"""Message passing with attention over neighbours (section 3.6 of the paper)."""

import math
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gola.graph.fused import neighbour_attention
from gola.graph.neighbourhood import Neighbourhood
from gola.operators.layers import EdgeLinear
from gola.operators.onednn import linear, matmul


@final
class AttentionMessagePassing(nn.Module):
    r"""Update each point from its neighbours, weighted by attention and averaged over heads.

    .. math::
        \alpha^h_{ij} &= \mathrm{softmax}_{j \in \mathcal{N}(i)} \,
            \frac{(Q_h h_i + b_Q)^\top (K_h h_j + b_K + E_h e_{ij})}{\sqrt C} \\
        h_i' &= W_1 h_i + b_1 + W_s h_i
            + \frac{1}{H} \sum_h \sum_{j \in \mathcal{N}(i)} \alpha^h_{ij} (V_h h_j + b_V + E_h e_{ij})

    The edge term is a sum over the two ends, :math:`E_h e_{ij} = R_h z_i + S_h z_j`. Whatever does not depend on j
    leaves the softmax and joins the result once. What remains is linear in :math:`\hat h_j = (h_j, z_j)`, so the key
    matrix moves onto the query and the value matrix behind the sum, and all heads read the same :math:`\hat h_j`.

    The key's bias shifts all scores of a point alike and so has no effect; it is kept, fixed, as part of the paper's
    parameter count.

    Args:
        dim: Number of coordinates.
        num_inputs: Channels of the input function.
        width: Channels C of h, and of each head.
        num_heads: Number of heads H.
        scale: Length unit of relative edge coordinates; None for absolute ones.
    """

    def __init__(self, *, dim: int, num_inputs: int, width: int, num_heads: int, scale: float | None = None) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.query = nn.Linear(width, num_heads * width)
        self.key = nn.Linear(width, num_heads * width)
        self.value = nn.Linear(width, num_heads * width)
        self.edge = EdgeLinear(dim=dim, num_inputs=num_inputs, width=num_heads * width, bias=False, scale=scale)
        self.root = nn.Linear(width, width)
        self.skip = nn.Linear(width, width, bias=False)
        self.key.bias.requires_grad_(False)

    def forward(
        self,
        features: Float[Tensor, "point width"],
        attributes: Float[Tensor, "point attribute"],
        neighbourhood: Neighbourhood,
    ) -> Float[Tensor, "point width"]:
        """Update the features; ``attributes`` are the coordinates and the input function at the points."""
        receiver_end, sender_end = self.edge.ends()
        heard = neighbour_attention(
            self._queries(features, sender_end), torch.cat([features, attributes], dim=1), neighbourhood
        )
        values = self._heads(torch.cat([self.value.weight, sender_end], dim=1)) / self.num_heads
        once = linear(attributes, self._heads(receiver_end).mean(0), self._heads(self.value.bias).mean(0))
        if not neighbourhood.all_hear:
            # A point that hears nobody gets no edge term and no value.
            once = torch.where(neighbourhood.hears[:, None], once, 0.0)
        result = once + linear(features, self.root.weight + self.skip.weight, self.root.bias)
        return result + linear(heard.flatten(1), values.transpose(0, 1).flatten(1))

    def _queries(
        self, features: Float[Tensor, "point width"], sender_end: Float[Tensor, "head_width attribute"]
    ) -> Float[Tensor, "point head width_and_attribute"]:
        """Move the key matrix onto the query: (K_h, S_h)ᵀ (Q_h h_i + b_Q) / √C."""
        keys = self._heads(torch.cat([self.key.weight, sender_end], dim=1)).mT / math.sqrt(features.shape[1])
        weight = matmul(keys, self._heads(self.query.weight))
        bias = keys @ self._heads(self.query.bias)[..., None]
        queries = linear(features, weight.flatten(0, 1), bias.flatten())
        return torch.unflatten(queries, 1, (self.num_heads, -1))

    def _heads(self, rows: Float[Tensor, "head_width ..."]) -> Float[Tensor, "head width ..."]:
        return torch.unflatten(rows, 0, (self.num_heads, -1))
