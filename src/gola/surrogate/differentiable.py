"""A surrogate as a differentiable function of its inputs, its parameters and the places it is asked at."""

import copy
from dataclasses import replace
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from gola.data.trajectories import TimeAxis
from gola.operators.cloud import Cloud
from gola.operators.operator import Network
from gola.operators.scaling import Scaling
from gola.representation.shared_points import Recent
from gola.surrogate.surrogate import Surrogate


@final
class DifferentiableSurrogate(nn.Module):
    """The predictions of a surrogate as tensors with gradients, in the units of the data.

    Values are those of :meth:`Surrogate.predict <gola.surrogate.surrogate.Surrogate.predict>`, without its checks and
    warnings. Gradients go to inputs, parameters and places. Which neighbours, cells or training samples are near is
    taken for fixed, so that derivatives are one-sided where that changes: on the faces of cells, for instance. The
    surrogate itself is fixed too: its numbers get no gradient.

    Make one by ``surrogate.differentiable()``.
    """

    def __init__(self, surrogate: Surrogate, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self.operator = copy.deepcopy(surrogate.operator).requires_grad_(False)
        self.scaling: Scaling = surrogate.scaling
        self.time_axis: TimeAxis | None = surrogate.time_axis
        self.num_inputs, self.num_outputs = len(surrogate.inputs), len(surrogate.targets)
        self._order = surrogate.order_of
        self._moves = surrogate.correspondence == "moved nodes"
        self._dtype = torch.float32 if self.operator.normalised else torch.float64
        self._prepared: Recent[tuple[Tensor, Cloud]] = Recent()
        if dtype is not None:
            _convert(self.operator, dtype)
            self._dtype = torch.promote_types(self._dtype, dtype)

    def forward(
        self,
        points: Float[Tensor, "point dim"],
        inputs: Float[Tensor, "*time point input"] | None = None,
        parameters: Float[Tensor, " parameter"] | None = None,
        at: Float[Tensor, "query dim"] | None = None,
        times: Float[Tensor, " time"] | None = None,
    ) -> Float[Tensor, "*time row output"]:
        """Predict at the points, or at other places.

        Args:
            points: Where the input function is known.
            inputs: The input function there; None for a surrogate that reads none.
            parameters: Numbers of the whole sample; None for a surrogate that reads none.
            at: Where to predict; at the points by default.
            times: When to predict, for a surrogate of trajectories; at their times by default, where all share them.
        """
        self._require_fixed(points, at)
        values = points.new_empty(len(points), 0) if inputs is None else inputs
        numbers = points.new_empty(0) if parameters is None else parameters
        rows = None if at is None else at.double()
        shape: tuple[int, ...] = (-1, self.num_outputs)
        points = points.double()
        if self.time_axis is not None:
            known, asked = _times(self.time_axis, times, has_inputs_per_time=values.ndim == 3)
            places = points if at is None else at.double()
            shape = (len(asked), len(places), self.num_outputs)
            rows = None if at is None and known is asked else _in_time(places, asked, self.time_axis.speed)
            points = _in_time(points, known, self.time_axis.speed)
            values = values.flatten(0, 1) if values.ndim == 3 else values.repeat(len(known), 1)
        found = self._predicted(points, values.double(), numbers.double(), rows)
        # Operators that do not read all they are given have no gradient there instead of a gradient of zero.
        nothing = sum((0.0 * given.double().sum() for given in (inputs, parameters, at) if given is not None), 0.0)
        return (found + nothing).reshape(shape)

    def _predicted(
        self,
        points: Float[Tensor, "point dim"],
        values: Float[Tensor, "point input"],
        parameters: Float[Tensor, " parameter"],
        queries: Float[Tensor, "query dim"] | None,
    ) -> Float[Tensor, "row output"]:
        seen, numbers = self.scaling.seen_tensors(values, parameters)
        order, ready = self._prepared.of(lambda: self._structure(points, numbers), points)
        cloud = replace(ready, values=seen[order].to(self._dtype), parameters=numbers[None].to(self._dtype))
        if queries is None:
            found = self.operator(cloud)
            found = torch.zeros_like(found).index_copy(0, order, found)
        else:
            found = self.operator(cloud, at=self._encoded(queries).to(self._dtype))
        return self.scaling.decode(found.double())

    def _structure(
        self, points: Float[Tensor, "point dim"], numbers: Float[Tensor, " parameter"]
    ) -> tuple[Int[Tensor, " point"], Cloud]:
        """Return what depends on the points alone, and the order in which the operator sees them."""
        order = torch.from_numpy(self._order(points.detach().numpy()))
        places = self._encoded(points[order]).to(self._dtype)
        bare = Cloud.of(places, places.new_zeros(len(places), self.num_inputs), torch.zeros_like(numbers).to(places))
        return order, self.operator.prepare(bare)

    def _encoded(self, points: Float[Tensor, "point dim"]) -> Float[Tensor, "point dim"]:
        frame = self.scaling.frame
        return (points - points.new_tensor(frame.origin)) / points.new_tensor(frame.extent)

    def _require_fixed(self, points: Tensor, at: Tensor | None) -> None:
        if not points.requires_grad:
            return
        if any(isinstance(module, Network) for module in self.operator.modules()) or not self._moves or at is not None:
            raise ValueError(
                "The points at which inputs are known have no gradient, except for closed forms on the moved nodes of a"
                " mesh that are predicted at these nodes; ask at places with a gradient: module(points, f, at=places)."
            )


def _times(
    axis: TimeAxis, times: Float[Tensor, " time"] | None, *, has_inputs_per_time: bool
) -> tuple[Float[Tensor, " known"], Float[Tensor, " asked"]]:
    """Return the times at which inputs are shown to the operator, and those that are asked for."""
    if times is None and not axis.shared:
        raise ValueError("The training trajectories have different times; say at which to predict: times=...")
    own = torch.tensor(axis.times, dtype=torch.float64)
    asked = own if times is None else times.double()
    keeps = has_inputs_per_time or (not asked.requires_grad and axis.resembles(np.asarray(asked)))
    return (asked if keeps else own), asked


def _in_time(
    points: Float[Tensor, "point dim"], times: Float[Tensor, " time"], speed: float
) -> Float[Tensor, "row dim_plus_one"]:
    """Return the points of space and time: all points at the first time, then all at the second, and so on."""
    places = points[None].expand(len(times), -1, -1)
    heights = (speed * times)[:, None, None].expand(-1, len(points), 1)
    return torch.cat([places, heights], dim=2).flatten(0, 1)


def _convert(module: nn.Module, dtype: torch.dtype) -> None:
    """Bring the numbers of networks to a precision, complex ones too; closed forms keep theirs."""
    wide = torch.promote_types(dtype, torch.complex32)

    def converted(tensor: Tensor) -> Any:
        return tensor.to(wide) if tensor.is_complex() else tensor.to(dtype) if tensor.is_floating_point() else tensor

    for network in (one for one in module.modules() if isinstance(one, Network)):
        network._apply(converted)  # type: ignore[no-untyped-call]
