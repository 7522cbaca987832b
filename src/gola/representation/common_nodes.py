"""Nodes for samples that have points of their own, drawn from all of these: dense where they are, at fronts."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gola.geometry.interpolation import Degree
from gola.metrics import relative_l2
from gola.representation.function_space import FunctionSpace
from gola.representation.interpolated import interpolation_weights
from gola.representation.representatives import spread

# Nodes for each point of a sample, and at most: more hardly help, as solutions are known at the points only.
_PER_POINT, _MOST_NODES = 2, 8000
# The error between points is that at this share of them, held out together in so many samples.
_HELD_OUT, _NUM_SAMPLES = 0.1, 3

Interpolation = Callable[
    [Float[Tensor, "point dim"], Float[Tensor, "point channel"], Float[Tensor, "query dim"]],
    Float[Tensor, "query channel"],
]
"""What a representation makes of values at points, elsewhere."""


def common_nodes(points: Sequence[Float[Tensor, "_ dim"]]) -> Float[Tensor, "node dim"]:
    """Draw nodes from the points of all samples, always the same ones."""
    count = min(_PER_POINT * max(len(one) for one in points), _MOST_NODES)
    every = torch.cat(list(points)).double()
    return every[torch.randperm(len(every), generator=torch.Generator().manual_seed(0))[:count]].unique(dim=0)


def by_splines(
    points: Float[Tensor, "point dim"],
    values: Float[Tensor, "point channel"],
    queries: Float[Tensor, "query dim"],
    degree: Degree,
) -> Float[Tensor, "query channel"]:
    """Interpolate by local splines."""
    rows, weights = interpolation_weights(points.detach().cpu().double().numpy(), queries, degree)
    return torch.einsum("qk,qkc->qc", weights.to(values), values[rows.to(values.device)])


def through(nodes: Float[Tensor, "node dim"], degree: Degree) -> Interpolation:
    """Interpolate from points to nodes, and from there."""

    def interpolate(
        points: Float[Tensor, "point dim"], values: Float[Tensor, "point channel"], queries: Float[Tensor, "query dim"]
    ) -> Float[Tensor, "query channel"]:
        return by_splines(nodes, by_splines(points, values, nodes, degree), queries, degree)

    return interpolate


def by_cosines(space: FunctionSpace) -> Interpolation:
    """Fit the functions of a space to the points, and evaluate them."""

    def interpolate(
        points: Float[Tensor, "point dim"], values: Float[Tensor, "point channel"], queries: Float[Tensor, "query dim"]
    ) -> Float[Tensor, "query channel"]:
        return space.values(queries, space.coefficients([points], [values])[0])

    return interpolate


def error_between_points(
    interpolation: Interpolation,
    points: Sequence[Float[Tensor, "_ dim"]],
    values: Sequence[Float[Tensor, "_ channel"]],
) -> float:
    """Return the mean relative error at some points of some samples, as told by all their other points."""
    errors = []
    for row in spread(len(points), at_most=_NUM_SAMPLES):
        held_out, others = _parted(len(points[row]), seed=row)
        if len(others):
            found = interpolation(points[row][others], values[row][others], points[row][held_out])
            errors.append(relative_l2(found, values[row][held_out]))
    return float(torch.stack(errors).mean()) if errors else 0.0


def _parted(count: int, seed: int) -> tuple[Int[Tensor, " held_out"], Int[Tensor, " other"]]:
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    held_out = max(1, round(_HELD_OUT * count))
    return order[:held_out], order[held_out:]
