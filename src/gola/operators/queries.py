"""Places at which to predict although the input function is not known there."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from gola.graph.neighbourhood import Neighbourhood
from gola.graph.search import radius_neighbourhood_between
from gola.operators.cloud import Cloud
from gola.representation.interpolated import interpolation_weights


@dataclass(frozen=True, kw_only=True, eq=False)
class Queries:
    """Points to predict at, those of each sample after those of the one before.

    Attributes:
        points: Coordinates.
        offsets: Where the queries of each sample start; the last entry is their number. Kept on the CPU.
    """

    points: Float[Tensor, "query dim"]
    offsets: Int[Tensor, " sample_plus_one"]

    @staticmethod
    def repeated(points: Float[Tensor, "query dim"], num_samples: int) -> "Queries":
        """Ask for the same points in every sample."""
        return Queries(
            points=points.repeat(num_samples, 1),
            offsets=torch.arange(num_samples + 1) * len(points),
        )

    @property
    def sizes(self) -> list[int]:
        """Number of queries of each sample."""
        return self.offsets.diff().tolist()


def with_queries(cloud: Cloud, queries: Queries) -> tuple[Cloud, Bool[Tensor, " row"]]:
    """Add the queries to the cloud as points that listen and never speak; tell which rows they are.

    A query hears its neighbours, has no weight in any sum and sends to nobody, so nothing changes at the points of
    the cloud, and an operator that only knows clouds predicts at the queries too. The input function there is
    interpolated from the cloud. A query at the very place of a point does not hear it: it stands for that point.
    """
    _check(cloud, queries)
    # Rows of the cloud and of the queries, sample by sample: the k-th row of the result was row order[k] of both.
    places = torch.cat([_sample_numbers(cloud.offsets), _sample_numbers(queries.offsets)])
    order = torch.sort(places, stable=True).indices.to(cloud.points.device)
    joined = Cloud(
        points=torch.cat([cloud.points, queries.points])[order],
        values=torch.cat([cloud.values, interpolated_values(cloud, queries)])[order],
        weights=torch.cat([cloud.weights, cloud.weights.new_zeros(len(queries.points))])[order],
        offsets=cloud.offsets + queries.offsets,
        parameters=cloud.parameters,
        radius=cloud.radius,
    )
    if cloud.neighbourhood is not None:
        joined = replace(joined, neighbourhood=_joined_lists(cloud, queries, order))
    return joined, order >= cloud.num_points


def interpolated_values(cloud: Cloud, queries: Queries) -> Float[Tensor, "query channel"]:
    """Interpolate the input function at the queries, sample by sample; differentiable in queries and values."""
    parts = []
    for points, values, asked in zip(
        torch.split(cloud.points, cloud.sizes),
        torch.split(cloud.values, cloud.sizes),
        torch.split(queries.points, queries.sizes),
        strict=True,
    ):
        rows, weights = interpolation_weights(_numpy(points), asked)
        parts.append(torch.einsum("qk,qkc->qc", weights.to(values), values[rows.to(values.device)]))
    return torch.cat(parts)


def _joined_lists(cloud: Cloud, queries: Queries, order: Int[Tensor, " row"]) -> Neighbourhood:
    """Lists of the joined cloud: the cloud's own for its points, and those of the queries, which hear only points."""
    assert cloud.neighbourhood is not None
    assert cloud.radius is not None
    heard = radius_neighbourhood_between(
        _numpy(cloud.points),
        _numpy(queries.points),
        cloud.radius,
        source_offsets=cloud.offsets.numpy(),
        query_offsets=queries.offsets.numpy(),
        coincident=False,
    ).to(cloud.points.device)
    rows = torch.argsort(order)
    receivers = torch.cat([cloud.neighbourhood.receivers, heard.receivers + cloud.num_points])
    senders = torch.cat([cloud.neighbourhood.senders, heard.senders])
    degrees = torch.cat([cloud.neighbourhood.degrees, heard.degrees])[order]
    # Senders stay in ascending order within a list, because rows keep their order within a sample.
    edges = torch.sort(rows[receivers], stable=True).indices
    return Neighbourhood(
        offsets=torch.cat([degrees.new_zeros(1), degrees.cumsum(0)]),
        senders=rows[senders][edges],
        num_senders=len(order),
        symmetric=False,
    )


def _check(cloud: Cloud, queries: Queries) -> None:
    if len(queries.offsets) != len(cloud.offsets):
        raise ValueError(
            f"The queries are for {len(queries.offsets) - 1} samples and the cloud has {cloud.num_samples};"
            " give queries for each sample."
        )
    if min(queries.sizes) < 1:
        raise ValueError(f"Sample {queries.sizes.index(0)} has no queries; ask for at least one point of each sample.")
    if queries.points.shape[1] != cloud.dim:
        raise ValueError(
            f"The queries have {queries.points.shape[1]} coordinates and the cloud {cloud.dim}; give both the same."
        )
    if cloud.neighbourhood is not None and cloud.radius is None:
        raise ValueError(
            "Predicting elsewhere needs the radius of the neighbourhood; build it with cloud.with_neighbours(radius)."
        )


def _sample_numbers(offsets: Int[Tensor, " sample_plus_one"]) -> Int[Tensor, " row"]:
    return torch.arange(len(offsets) - 1).repeat_interleave(offsets.diff())


def _numpy(points: Float[Tensor, "point dim"]) -> Float[np.ndarray, "point dim"]:
    return points.detach().cpu().numpy()
