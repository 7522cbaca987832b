"""Reductions over neighbours, written plainly: the reference that every faster path must agree with.

All take ``values`` at the senders, gather a row for each edge and reduce the rows of each receiver. They run on any
device. A receiver without neighbours gets zeros, and every gradient is finite.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from gola.graph.neighbourhood import Neighbourhood

Values = Float[Tensor, "sender channel"]
Reduced = Float[Tensor, "receiver channel"]

# Added to the variance: sqrt has an infinite slope at 0, which equal neighbours reach. Nothing larger is needed: the
# slope of the deviation in each value, (v_j - mean) / (n std), is at most 1 however small the deviation is.
STD_EPSILON = 1e-12


def neighbour_sum(values: Values, neighbourhood: Neighbourhood) -> Reduced:
    r""":math:`\sum_{j \in \mathcal{N}(i)} v_j`."""
    return sum_of_edges(values[neighbourhood.senders], neighbourhood)


def neighbour_mean(values: Values, neighbourhood: Neighbourhood) -> Reduced:
    r""":math:`\frac{1}{|\mathcal{N}(i)|} \sum_{j \in \mathcal{N}(i)} v_j`."""
    return neighbour_sum(values, neighbourhood) / _degrees(values, neighbourhood)


def neighbour_max(values: Values, neighbourhood: Neighbourhood) -> Reduced:
    r""":math:`\max_{j \in \mathcal{N}(i)} v_j`; equal maxima share the gradient."""
    return _extreme(values[neighbourhood.senders], neighbourhood, "amax")


def neighbour_min(values: Values, neighbourhood: Neighbourhood) -> Reduced:
    r""":math:`\min_{j \in \mathcal{N}(i)} v_j`; equal minima share the gradient."""
    return _extreme(values[neighbourhood.senders], neighbourhood, "amin")


def neighbour_std(values: Values, neighbourhood: Neighbourhood) -> Reduced:
    r""":math:`\sqrt{\frac{1}{|\mathcal{N}(i)|} \sum_j (v_j - \bar v_i)^2 + \epsilon}`, zero without neighbours.

    The deviations are squared, not the values: :math:`E[v^2] - E[v]^2` cancels where the spread is small.
    """
    mean = neighbour_mean(values, neighbourhood)
    deviations = values[neighbourhood.senders] - mean[neighbourhood.receivers]
    variance = sum_of_edges(deviations.square(), neighbourhood) / _degrees(values, neighbourhood)
    heard = (neighbourhood.degrees > 0)[:, None]
    return torch.where(heard, (variance + STD_EPSILON).sqrt(), torch.zeros_like(variance))


def neighbour_softmax(scores: Float[Tensor, " edge"], values: Values, neighbourhood: Neighbourhood) -> Reduced:
    r""":math:`\sum_j \alpha_{ij} v_j` where :math:`\alpha_{ij} = e^{s_{ij}} / \sum_{k} e^{s_{ik}}`."""
    # Subtracting the largest score changes nothing but keeps the exponentials from overflowing.
    largest = _extreme(scores[:, None].detach(), neighbourhood, "amax")[:, 0]
    exponentials = (scores - largest[neighbourhood.receivers]).exp()
    totals = sum_of_edges(exponentials[:, None], neighbourhood)[:, 0]
    attention = exponentials / totals[neighbourhood.receivers]
    return sum_of_edges(attention[:, None] * values[neighbourhood.senders], neighbourhood)


def neighbour_statistics(values: Values, neighbourhood: Neighbourhood) -> tuple[Reduced, Reduced, Reduced, Reduced]:
    """Return mean, max, min and standard deviation of the neighbours' values."""
    return (
        neighbour_mean(values, neighbourhood),
        neighbour_max(values, neighbourhood),
        neighbour_min(values, neighbourhood),
        neighbour_std(values, neighbourhood),
    )


def neighbour_attention(
    queries: Float[Tensor, "receiver head channel"], values: Values, neighbourhood: Neighbourhood
) -> Float[Tensor, "receiver head channel"]:
    r""":math:`\sum_j \alpha^h_{ij} v_j` with :math:`\alpha^h_{ij} = \mathrm{softmax}_j \langle q^h_i, v_j \rangle`.

    Keys and values are the same vector here: a key matrix can be moved onto the query, and a value matrix applied
    after the sum, so that every head reads the same numbers of a neighbour.
    """
    scores = torch.einsum("ehc,ec->eh", queries[neighbourhood.receivers], values[neighbourhood.senders])
    heads = [neighbour_softmax(head_scores, values, neighbourhood) for head_scores in scores.unbind(1)]
    return torch.stack(heads, dim=1)


def sum_of_edges(edge_values: Float[Tensor, "edge channel"], neighbourhood: Neighbourhood) -> Reduced:
    """Add up the rows of each receiver's edges."""
    total = edge_values.new_zeros(neighbourhood.num_receivers, edge_values.shape[1])
    return total.index_add(0, neighbourhood.receivers, edge_values)


def _degrees(values: Values, neighbourhood: Neighbourhood) -> Float[Tensor, "receiver 1"]:
    """Number of neighbours, at least 1 so that a point without any divides zero by one."""
    return neighbourhood.degrees.clamp(min=1).to(values.dtype)[:, None]


def _extreme(edge_values: Float[Tensor, "edge channel"], neighbourhood: Neighbourhood, reduce: str) -> Reduced:
    index = neighbourhood.receivers[:, None].expand_as(edge_values)
    # The start counts in torch's gradient wherever it equals the result, even with include_self=False; NaN never does.
    start = edge_values.new_full((neighbourhood.num_receivers, edge_values.shape[1]), torch.nan)
    extreme = start.scatter_reduce(0, index, edge_values, reduce=reduce, include_self=False)
    return torch.where((neighbourhood.degrees > 0)[:, None], extreme, 0.0)
