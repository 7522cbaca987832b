"""Answers to requests: what the operator sees of them, as many together as fit, in the units of the data."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np
import torch
from jaxtyping import Float, Int

from gola.geometry import spatial_order
from gola.operators.cloud import Cloud
from gola.operators.operator import Operator
from gola.operators.queries import Queries
from gola.operators.scaling import Scaling
from gola.representation.shared_points import Recent
from gola.surrogate.request import Request, batches
from gola.threads import one_thread

# Networks share fewer rows than these among threads in little more than the time that threads wait for each other, and
# in a hundred times as much where another program keeps a core busy.
_FEW_ROWS = 2**15

Order = Int[np.ndarray, " point"] | slice
"""Numbers of points, or all as they are, which need not be copied then."""


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Answering:
    """Has an operator answer requests.

    Attributes:
        operator: The fitted operator.
        scaling: Between the user's units and the operator's.
        keeps_order: Whether the order of points carries meaning, as that of moved nodes of one mesh does.
    """

    operator: Operator
    scaling: Scaling
    keeps_order: bool
    _recent: Recent[tuple[Order, Cloud]] = field(default_factory=Recent, init=False, repr=False)

    def answers(self, requests: Sequence[Request]) -> list[Float[np.ndarray, "row channel"]]:
        """Predict at the queries of each request, or at its points, as many together as fit."""
        answered: list[Float[np.ndarray, "row channel"]] = []
        for batch in batches(requests):
            is_small = sum(request.num_rows for request in batch) <= _FEW_ROWS
            with one_thread() if is_small else nullcontext():
                answered += self._answered_together(batch)
        return answered

    def _answered_together(self, requests: Sequence[Request]) -> list[Float[np.ndarray, "row channel"]]:
        orders, clouds = zip(*[self._cloud(request) for request in requests], strict=True)
        cloud = clouds[0] if len(clouds) == 1 else Cloud.collate(clouds)
        asked = [request.queries for request in requests if request.queries is not None]
        if asked:
            counts = torch.tensor([0, *map(len, asked)])
            places = self.scaling.places(np.concatenate(asked) if len(asked) > 1 else asked[0], self._dtype)
            predicted = self.operator(cloud, at=Queries(points=places, offsets=counts.cumsum(0)))
        else:
            predicted = self.operator(cloud)
        answers = _finite(self.scaling.decode(predicted.double()).numpy())
        if asked:
            return np.split(answers, counts.cumsum(0)[1:-1].numpy())
        return [
            _in_order(answer, order)
            for answer, order in zip(np.split(answers, cloud.offsets[1:-1]), orders, strict=True)
        ]

    @property
    def _dtype(self) -> torch.dtype:
        """The precision that the operator computes in."""
        return torch.float32 if self.operator.normalised else torch.float64

    def _cloud(self, request: Request) -> tuple[Order, Cloud]:
        """Return what the operator sees of a request, and in which order it sees the points."""

        def prepared() -> tuple[Order, Cloud]:
            order = self._order(request.points)
            places = self.scaling.places(request.points[order], self._dtype)
            return order, self.operator.prepare(Cloud.of(places, values[order], parameters))

        values, parameters = self.scaling.seen(request.values, request.parameters, self._dtype)
        order, ready = self._recent.of(prepared, torch.from_numpy(request.points))
        return order, replace(ready, values=values[order], parameters=parameters[None])

    def order_of(self, points: Float[np.ndarray, "point dim"]) -> Int[np.ndarray, " point"]:
        """Return the order in which the operator gets points: neighbours one after the other, where it needs them."""
        return np.arange(len(points))[self._order(points)]

    def _order(self, points: Float[np.ndarray, "point dim"]) -> Order:
        if "neighbours" in self.operator.needs and not self.keeps_order:
            return spatial_order(points)
        return slice(None)


def _finite(predictions: Float[np.ndarray, "row channel"]) -> Float[np.ndarray, "row channel"]:
    if not np.isfinite(predictions).all():
        bad = ~np.isfinite(predictions).all(axis=1)
        raise ValueError(
            f"The prediction is not finite in {int(bad.sum())} of {len(bad)} rows: the input is too far from the"
            " training samples, or the surrogate was fitted to numbers out of range."
        )
    return predictions


def _in_order(rows: Float[np.ndarray, "row channel"], order: Order) -> Float[np.ndarray, "row channel"]:
    """Return rows, given in some order, in their own."""
    found = np.empty_like(rows)
    found[order] = rows
    return found
