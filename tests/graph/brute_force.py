"""Neighbour lists by comparing every two points: the definition that the KD-tree must meet."""

import numpy as np

from gola.graph import Neighbourhood


def squared_distances(receivers, senders, periods=None):
    difference = np.abs(receivers[:, None].astype(np.float64) - senders[None].astype(np.float64))
    for axis, period in enumerate(periods or ()):
        if period is not None:
            wrapped = difference[..., axis] % period
            difference[..., axis] = np.minimum(wrapped, period - wrapped)
    return (difference**2).sum(axis=2)


def within(receivers, senders, radius, periods=None):
    return squared_distances(receivers, senders, periods) <= radius**2


def nearest(receivers, senders, num_neighbours, *, skip_self, periods=None):
    squared = squared_distances(receivers, senders, periods)
    if skip_self:
        np.fill_diagonal(squared, np.inf)
    order = np.argsort(squared, axis=1, kind="stable")[:, :num_neighbours]
    adjacency = np.zeros(squared.shape, dtype=bool)
    np.put_along_axis(adjacency, order, True, axis=1)
    return adjacency


def adjacency_of(neighbourhood: Neighbourhood):
    matrix = np.zeros((neighbourhood.num_receivers, neighbourhood.num_senders), dtype=int)
    np.add.at(matrix, (neighbourhood.receivers.numpy(), neighbourhood.senders.numpy()), 1)
    return matrix


def assert_lists_equal(neighbourhood: Neighbourhood, adjacency):
    """Compare with a Boolean matrix; a repeated edge would count twice and be found."""
    np.testing.assert_array_equal(adjacency_of(neighbourhood), adjacency.astype(int))
    for start, stop in zip(neighbourhood.offsets[:-1], neighbourhood.offsets[1:], strict=True):
        assert (neighbourhood.senders[start:stop].diff() > 0).all(), "lists must ascend"
