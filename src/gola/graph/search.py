"""Find neighbours with a KD-tree: exact, never capped, O(N log N) time and O(edges) memory.

Distances are compared in float64 as ``sum((x_i - x_j)**2) <= radius**2``. The tree's own tests round differently, so
it is asked for slightly more and the result is filtered; the outcome equals brute force, ties included.
"""

import itertools
import math
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.spatial import cKDTree

from gola.geometry.tree import Periods, Points, check_count, periodic_tree, radius_for
from gola.graph.neighbourhood import Neighbourhood

Queries = Float[np.ndarray, "query query_dim"]
Offsets = Int[np.ndarray, " sample_plus_one"]
Indices = Int[np.ndarray, " edge"]

# What the tree is asked for beyond the radius, to be filtered exactly.
_SLACK = 1.0 + 1e-9
# At its peak, building the 30 million edges of 1,000,000 points takes 35 bytes for each; the rest is for their use.
_BYTES_PER_EDGE = 64
# Points whose neighbours are counted to estimate the number of edges.
_NUM_PROBES = 2000
_REASONABLE_NEIGHBOURS = 16


def radius_neighbourhood(
    points: Points, radius: float, *, offsets: Offsets | None = None, periods: Periods | None = None
) -> Neighbourhood:
    """Connect every two points of a sample at a distance of at most ``radius``, without self-loops.

    Args:
        points: Coordinates; the samples of a batch one after the other.
        radius: The largest distance of neighbours, inclusive.
        offsets: Where each sample starts, and the number of points at the end; one sample if omitted.
        periods: The period along each axis, None where the axis is not periodic. Distances are to the nearest image.

    >>> points = np.array([[0.0, 0.0], [0.3, 0.0], [1.0, 0.0]])
    >>> radius_neighbourhood(points, 0.5).senders.tolist()
    [1, 0]
    >>> radius_neighbourhood(points, 0.5, periods=(1.2, None)).senders.tolist()
    [1, 2, 0, 2, 0, 1]
    """
    _check_radius(radius)
    lists = []
    for sample, rows in _samples(points, offsets):
        tree, own = periodic_tree(points[rows], periods, sample)
        _check_memory(tree, own, radius, sample)
        # Distance zero comes as a pair i < j too, so coincident points are neighbours and nobody is its own.
        pairs = tree.query_pairs(radius * _SLACK, output_type="ndarray")
        i, j = np.ascontiguousarray(pairs.T)
        first, second = _within(radius, own, own, i, j, periods)
        lists.append(_symmetric_lists(first, second, len(own)))
    return Neighbourhood.collate(lists)


def radius_neighbourhood_between(
    sources: Points,
    queries: Queries,
    radius: float,
    *,
    source_offsets: Offsets | None = None,
    query_offsets: Offsets | None = None,
    periods: Periods | None = None,
    coincident: bool = True,
) -> Neighbourhood:
    """Let every query hear from the sources of its sample at a distance of at most ``radius``.

    Args:
        sources: Points that send.
        queries: Points that receive.
        radius: The largest distance, inclusive.
        source_offsets: Where each sample starts in ``sources``; one sample if omitted.
        query_offsets: Where each sample starts in ``queries``; one sample if omitted.
        periods: As in :func:`radius_neighbourhood`.
        coincident: Whether a query hears from a source at its very place. With False and queries = sources (all
            different) the lists are those of :func:`radius_neighbourhood`.
    """
    _check_radius(radius)
    lists = []
    for sample, source_rows, query_rows in _paired_samples(sources, queries, source_offsets, query_offsets):
        source_tree, own = periodic_tree(sources[source_rows], periods, sample)
        query_tree, asking = periodic_tree(queries[query_rows], periods, sample)
        _check_memory(source_tree, asking, radius, sample)
        found = query_tree.sparse_distance_matrix(source_tree, radius * _SLACK, output_type="ndarray")
        receivers, senders = _within(radius, asking, own, found["i"], found["j"], periods)
        if not coincident:
            apart = (asking[receivers] != own[senders]).any(axis=1)
            receivers, senders = receivers[apart], senders[apart]
        lists.append(_lists(receivers * len(own) + senders, len(asking), len(own), symmetric=False))
    return Neighbourhood.collate(lists)


def nearest_neighbourhood(
    points: Points, num_neighbours: int, *, offsets: Offsets | None = None, periods: Periods | None = None
) -> Neighbourhood:
    """Connect two points of a sample if either is among the other's ``num_neighbours`` nearest.

    Of points at equal distance those with the smaller index count as nearer. A point may end up with more than
    ``num_neighbours``, because neighbours are mutual here as in a radius graph.
    """
    lists = []
    for sample, rows in _samples(points, offsets):
        tree, own = periodic_tree(points[rows], periods, sample)
        check_count(num_neighbours, len(own) - 1, "other points", sample)
        receivers, senders = _nearest(tree, own, own, num_neighbours, periods, skip_self=True)
        lists.append(_symmetric_lists(receivers, senders, len(own)))
    return Neighbourhood.collate(lists)


def nearest_neighbourhood_between(
    sources: Points,
    queries: Queries,
    num_neighbours: int,
    *,
    source_offsets: Offsets | None = None,
    query_offsets: Offsets | None = None,
    periods: Periods | None = None,
) -> Neighbourhood:
    """Let every query hear from its ``num_neighbours`` nearest sources; ties as in :func:`nearest_neighbourhood`."""
    lists = []
    for sample, source_rows, query_rows in _paired_samples(sources, queries, source_offsets, query_offsets):
        tree, own = periodic_tree(sources[source_rows], periods, sample)
        _, asking = periodic_tree(queries[query_rows], periods, sample)
        check_count(num_neighbours, len(own), "sources", sample)
        receivers, senders = _nearest(tree, own, asking, num_neighbours, periods, skip_self=False)
        lists.append(_lists(receivers * len(own) + senders, len(asking), len(own), symmetric=False))
    return Neighbourhood.collate(lists)


def _samples(points: Points, offsets: Offsets | None, what: str = "points") -> Iterator[tuple[int, slice]]:
    """Yield the number and the rows of each sample."""
    starts = np.array([0, len(points)]) if offsets is None else offsets
    if len(starts) < 2 or starts[0] != 0 or starts[-1] != len(points):
        raise ValueError(
            f"The offsets of a batch must run from 0 to its number of {what}, {len(points)};"
            f" got {starts.tolist()[:8]}. Give the cumulated numbers of {what} of its samples."
        )
    for sample, (start, stop) in enumerate(itertools.pairwise(starts)):
        if stop <= start:
            raise ValueError(f"Sample {sample} has no {what}; leave it out of the batch or give it at least one.")
        yield sample, slice(int(start), int(stop))


def _paired_samples(
    sources: Points, queries: Queries, source_offsets: Offsets | None, query_offsets: Offsets | None
) -> Iterator[tuple[int, slice, slice]]:
    """Yield the number of each sample with the rows of its sources and of its queries."""
    if sources.shape[1] != queries.shape[1]:
        raise ValueError(
            f"Sources have {sources.shape[1]} coordinates and queries {queries.shape[1]}; give both the same."
        )
    source_samples = list(_samples(sources, source_offsets, "sources"))
    query_samples = list(_samples(queries, query_offsets, "queries"))
    if len(source_samples) != len(query_samples):
        raise ValueError(
            f"There are {len(source_samples)} samples of sources and {len(query_samples)} of queries; every"
            " sample needs both. Check source_offsets and query_offsets."
        )
    for (sample, source_rows), (_, query_rows) in zip(source_samples, query_samples, strict=True):
        yield sample, source_rows, query_rows


def _squared_distances(
    receivers: Queries, senders: Points, i: Indices, j: Indices, periods: Periods | None
) -> Float[np.ndarray, " edge"]:
    squared = np.zeros(len(i))
    for axis in range(receivers.shape[1]):
        # One coordinate at a time: gathering contiguous columns is three times faster than gathering rows.
        difference = np.ascontiguousarray(receivers[:, axis])[i]
        difference -= np.ascontiguousarray(senders[:, axis])[j]
        period = periods[axis] if periods is not None else None
        if period is not None:
            np.abs(difference, out=difference)
            np.minimum(difference, period - difference, out=difference)
        difference *= difference
        squared += difference
    return squared


def _within(
    radius: float, receivers: Queries, senders: Points, i: Indices, j: Indices, periods: Periods | None
) -> tuple[Int[np.ndarray, " near"], Int[np.ndarray, " near"]]:
    """Keep the pairs whose distance is at most the radius, exactly."""
    near = _squared_distances(receivers, senders, i, j, periods) <= radius * radius
    return (i, j) if near.all() else (i[near], j[near])


def _nearest(
    tree: cKDTree,
    sources: Points,
    queries: Queries,
    num_neighbours: int,
    periods: Periods | None,
    *,
    skip_self: bool,
) -> tuple[Indices, Indices]:
    """Return the edges from each query's nearest sources, ties broken by index."""
    # One more for the query itself; the distance to the last one then bounds every candidate.
    wanted = min(num_neighbours + int(skip_self), len(sources))
    reach = np.asarray(tree.query(queries, k=[wanted])[0])[:, 0]
    balls = tree.query_ball_point(queries, reach * _SLACK, return_sorted=True)
    senders = np.concatenate([np.asarray(ball, dtype=np.int64) for ball in balls])
    receivers = np.repeat(np.arange(len(queries)), [len(ball) for ball in balls])
    if skip_self:
        other = senders != receivers
        receivers, senders = receivers[other], senders[other]
    squared = _squared_distances(queries, sources, receivers, senders, periods)
    order = np.lexsort((senders, squared, receivers))
    starts = np.searchsorted(receivers, np.arange(len(queries)))
    rank = np.arange(len(receivers)) - starts[receivers]
    chosen = order[rank < num_neighbours]
    return receivers[chosen], senders[chosen]


def _symmetric_lists(first: Indices, second: Indices, num_points: int) -> Neighbourhood:
    """Sort undirected edges, given in one or both directions, into lists."""
    keys = np.empty((2, len(first)), dtype=np.int64)
    for forward, receivers, senders in ((keys[0], first, second), (keys[1], second, first)):
        np.multiply(receivers, num_points, out=forward)
        forward += senders
    return _lists(keys.ravel(), num_points, num_points, symmetric=True)


def _lists(keys: Indices, num_receivers: int, num_senders: int, *, symmetric: bool) -> Neighbourhood:
    """Sort edges into lists, without repetition.

    Edges come as ``receiver * num_senders + sender``: one integer sorts by both in a single fast pass. The keys are
    overwritten.
    """
    keys.sort()
    repeated = keys[1:] == keys[:-1]
    if repeated.any():
        keys = keys[np.concatenate([[True], ~repeated])]
    firsts = np.arange(num_receivers + 1) * num_senders
    offsets = np.searchsorted(keys, firsts)
    keys -= np.repeat(firsts[:-1], np.diff(offsets))
    return Neighbourhood(
        offsets=torch.from_numpy(offsets),
        senders=torch.from_numpy(keys),
        num_senders=num_senders,
        symmetric=symmetric,
    )


def _check_radius(radius: float) -> None:
    if not 0 < radius < np.inf:
        raise ValueError(
            f"The radius must be positive and finite; got {radius}. radius_for(points, num_neighbours) finds one."
        )


def _check_memory(tree: cKDTree, queries: Queries, radius: float, sample: int) -> None:
    """Refuse a radius whose lists would not fit into the free memory."""
    free = available_bytes()
    if len(queries) * tree.n * _BYTES_PER_EDGE <= free:
        return
    probes = queries[np.linspace(0, len(queries) - 1, min(len(queries), _NUM_PROBES)).astype(int)]
    counts = tree.query_ball_point(probes, radius, return_length=True)
    num_edges = float(np.mean(counts)) * len(queries)
    if num_edges * _BYTES_PER_EDGE > free:
        better = radius_for(np.asarray(tree.data), _REASONABLE_NEIGHBOURS)
        raise ValueError(
            f"Sample {sample}: radius {radius:g} gives about {num_edges:.2g} edges, which need"
            f" {num_edges * _BYTES_PER_EDGE / 2**30:.3g} GiB to build, and {free / 2**30:.3g} GiB are free."
            f" Use a smaller radius ({better:.3g} gives about {_REASONABLE_NEIGHBOURS} neighbours) or fewer points."
        )


def available_bytes() -> float:
    """Return how much memory the machine can still give, or an upper bound of it where the system does not say."""
    try:
        facts = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        return 1024.0 * int(facts["MemAvailable"].removesuffix("kB"))
    except (OSError, KeyError, ValueError):  # not Linux, where only the memory in all is known, if that
        return _total_bytes()


def _total_bytes() -> float:
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError):
        return math.inf
