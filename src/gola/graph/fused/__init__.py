"""The reductions of :mod:`gola.graph.reductions`, many times faster on a CPU.

The functions here have the names, arguments and results of the reference, values and gradients alike. Tensors on a CPU
in single or double precision take compiled loops over the neighbour lists, which read each neighbour's row where it
lies. All else takes the reference: other devices and precisions, and tracing by ``torch.compile``. The loops know first
derivatives in reverse mode only, and infinite values come out of them as NaN.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gola.graph import reductions
from gola.graph.fused.attention import NeighbourAttention
from gola.graph.fused.statistics import NeighbourStatistics
from gola.graph.neighbourhood import Neighbourhood
from gola.recording import is_recorded

__all__ = ["neighbour_attention", "neighbour_statistics"]

Values = Float[Tensor, "sender channel"]
Reduced = Float[Tensor, "receiver channel"]


def neighbour_statistics(values: Values, neighbourhood: Neighbourhood) -> tuple[Reduced, Reduced, Reduced, Reduced]:
    """Return mean, max, min and standard deviation of the neighbours' values.

    >>> offsets, senders = torch.tensor([0, 2]), torch.tensor([0, 1])
    >>> lists = Neighbourhood(offsets=offsets, senders=senders, num_senders=2, symmetric=False)
    >>> [statistic.item() for statistic in neighbour_statistics(torch.tensor([[1.0], [3.0]]), lists)]
    [2.0, 3.0, 1.0, 1.0]
    """
    _check_rows("values", values, "senders", neighbourhood.num_senders)
    if _has_compiled_loops(values, neighbourhood=neighbourhood):
        return NeighbourStatistics.apply(values, neighbourhood)  # type: ignore[no-untyped-call]
    return reductions.neighbour_statistics(values, neighbourhood)


def neighbour_attention(
    queries: Float[Tensor, "receiver head channel"], values: Values, neighbourhood: Neighbourhood
) -> Float[Tensor, "receiver head channel"]:
    r"""Return the neighbours' values, averaged by attention.

    .. math::
        \sum_{j \in \mathcal{N}(i)} \alpha^h_{ij} v_j, \quad
        \alpha^h_{ij} = \mathrm{softmax}_j \langle q^h_i, v_j \rangle

    Keys and values are the same vector, as in :func:`gola.graph.reductions.neighbour_attention`.

    >>> offsets, senders = torch.tensor([0, 2]), torch.tensor([0, 1])
    >>> lists = Neighbourhood(offsets=offsets, senders=senders, num_senders=2, symmetric=False)
    >>> neighbour_attention(torch.zeros(1, 1, 1), torch.tensor([[1.0], [3.0]]), lists).item()
    2.0
    """
    _check_rows("values", values, "senders", neighbourhood.num_senders)
    _check_rows("queries", queries, "receivers", neighbourhood.num_receivers)
    if queries.shape[2:] != values.shape[1:]:
        raise ValueError(
            f"queries and values need equally many channels; got {queries.shape[-1]} and {values.shape[-1]}."
            " Move the key matrix onto the queries."
        )
    if _has_compiled_loops(queries, values, neighbourhood=neighbourhood):
        return NeighbourAttention.apply(queries, values, neighbourhood)  # type: ignore[no-untyped-call]
    return reductions.neighbour_attention(queries, values, neighbourhood)


def _has_compiled_loops(*tensors: Tensor, neighbourhood: Neighbourhood) -> bool:
    """Whether all are plain tensors in memory, of one precision; the loops see nothing but their addresses."""
    one_precision = {tensor.dtype for tensor in tensors} in ({torch.float32}, {torch.float64})
    plain = all(
        tensor.device.type == "cpu" and type(tensor) in (Tensor, nn.Parameter)
        for tensor in (*tensors, neighbourhood.offsets, neighbourhood.senders)
    )
    return one_precision and plain and not is_recorded()


def _check_rows(name: str, rows: Tensor, points: str, num_points: int) -> None:
    # Compiled loops follow the lists wherever they lead, so this protects memory.
    if len(rows) != num_points:
        raise ValueError(
            f"{name} needs one row for each of the neighbourhood's {num_points} {points}; got {len(rows)}."
            " Pass the neighbourhood of these very points."
        )
