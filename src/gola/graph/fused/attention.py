"""Attention over neighbours, without a row for every edge."""

from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from gola.graph.fused.attention_kernels import forward_loop, queries_loop, values_loop
from gola.graph.fused.threads import launch, receiver_ranges, scalar_type, sender_ranges
from gola.graph.neighbourhood import Neighbourhood

Queries = Float[Tensor, "receiver head channel"]
Values = Float[Tensor, "sender channel"]


@final
class NeighbourAttention(torch.autograd.Function):
    r"""Weighted sums over neighbours, with the gradients

    .. math::
        \frac{\partial L}{\partial q^h_i} = \sum_{j \in \mathcal{N}(i)} \delta^h_{ij} v_j, \qquad
        \frac{\partial L}{\partial v_j} = \sum_{i : j \in \mathcal{N}(i)} \sum_h
            \alpha^h_{ij} g^h_i + \delta^h_{ij} q^h_i, \qquad
        \delta^h_{ij} = \alpha^h_{ij} \Big( \langle g^h_i, v_j \rangle
            - \sum_{k \in \mathcal{N}(i)} \alpha^h_{ik} \langle g^h_i, v_k \rangle \Big)

    The backward pass keeps one number per edge and head, the attention.
    """  # noqa: D415 (the sentence ends with the formula)

    @staticmethod
    def forward(ctx: Any, queries: Queries, values: Values, neighbourhood: Neighbourhood) -> Queries:
        """Return the sum of the neighbours' values, weighted by the softmax of their products with the query."""
        queries, values = queries.contiguous(), values.contiguous()
        _, num_heads, width = queries.shape
        attention = values.new_empty(neighbourhood.num_edges, num_heads)
        result = torch.empty_like(queries)
        launch(
            forward_loop(scalar_type(values)),
            neighbourhood,
            receiver_ranges(neighbourhood, num_heads * width),
            (queries, values, attention, result),
            (num_heads, width),
        )
        ctx.neighbourhood = neighbourhood
        ctx.save_for_backward(queries, values, attention)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradients: Queries) -> tuple[Queries, Values | None, None]:
        """Return the gradients of queries and values."""
        queries, values, attention = ctx.saved_tensors
        gradients = gradients.contiguous()
        sizes = queries.shape[1:]
        grad_scores, grad_queries = torch.empty_like(attention), torch.empty_like(queries)
        launch(
            queries_loop(scalar_type(values)),
            ctx.neighbourhood,
            receiver_ranges(ctx.neighbourhood, sizes.numel()),
            (values, attention, gradients, grad_scores, grad_queries),
            sizes,
        )
        if not ctx.needs_input_grad[1]:
            return grad_queries, None, None
        grad_values = torch.empty_like(values)
        launch(
            values_loop(scalar_type(values)),
            ctx.neighbourhood,
            sender_ranges(ctx.neighbourhood, sizes.numel()),
            (queries, attention, gradients, grad_scores, grad_values),
            sizes,
        )
        return grad_queries, grad_values, None
