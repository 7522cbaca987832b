import numpy as np
import pytest
import torch

from gola.graph import Neighbourhood, radius_neighbourhood, radius_neighbourhood_between, reductions
from tests.graph.brute_force import adjacency_of

REDUCTIONS = {
    "sum": reductions.neighbour_sum,
    "mean": reductions.neighbour_mean,
    "max": reductions.neighbour_max,
    "min": reductions.neighbour_min,
    "std": reductions.neighbour_std,
}


def row_by_row(name, values):
    """The definition, for one receiver's list of neighbour values."""
    if len(values) == 0:
        return torch.zeros(values.shape[1], dtype=values.dtype)
    return {
        "sum": lambda: values.sum(0),
        "mean": lambda: values.mean(0),
        "max": lambda: values.max(0).values,
        "min": lambda: values.min(0).values,
        "std": lambda: (values.var(0, correction=0) + reductions.STD_EPSILON).sqrt(),
    }[name]()


@pytest.fixture
def scattered():
    """Forty points of which some have no neighbour, two coincide, and random values there."""
    rng = np.random.default_rng(0)
    points = rng.random((40, 2))
    points[5] = points[6]
    neighbourhood = radius_neighbourhood(points, 0.12)
    assert (neighbourhood.degrees == 0).any()
    return torch.from_numpy(rng.standard_normal((40, 3))), neighbourhood


@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_equals_its_definition_row_by_row(name, scattered):
    values, neighbourhood = scattered
    adjacency = torch.from_numpy(adjacency_of(neighbourhood)).bool()
    expected = torch.stack([row_by_row(name, values[row]) for row in adjacency])
    torch.testing.assert_close(REDUCTIONS[name](values, neighbourhood), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_gradients_of_a_reduction_pass_gradcheck(name, scattered):
    values, neighbourhood = scattered
    assert torch.autograd.gradcheck(lambda v: REDUCTIONS[name](v, neighbourhood), values.requires_grad_())


def test_the_softmax_sum_equals_its_definition_and_passes_gradcheck(scattered):
    values, neighbourhood = scattered
    scores = torch.from_numpy(np.random.default_rng(1).standard_normal(neighbourhood.num_edges))
    dense = torch.full((40, 40), -torch.inf, dtype=torch.float64)
    dense[neighbourhood.receivers, neighbourhood.senders] = scores
    expected = dense.softmax(1).nan_to_num() @ values
    found = reductions.neighbour_softmax(scores, values, neighbourhood)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    assert torch.autograd.gradcheck(
        lambda s, v: reductions.neighbour_softmax(s, v, neighbourhood),
        (scores.requires_grad_(), values.requires_grad_()),
    )


def test_the_softmax_survives_scores_that_overflow_an_exponential():
    neighbourhood = radius_neighbourhood(np.random.default_rng(2).random((10, 2)), 2.0)
    scores = torch.linspace(-1e4, 1e4, neighbourhood.num_edges)
    assert reductions.neighbour_softmax(scores, torch.ones(10, 1), neighbourhood).sub(1).abs().max() < 1e-6


def test_attention_with_zero_queries_is_the_mean_and_it_passes_gradcheck(scattered):
    values, neighbourhood = scattered
    found = reductions.neighbour_attention(torch.zeros(40, 2, 3, dtype=torch.float64), values, neighbourhood)
    mean = reductions.neighbour_mean(values, neighbourhood)
    torch.testing.assert_close(found, mean[:, None].expand(-1, 2, -1), rtol=1e-12, atol=1e-12)
    queries = torch.from_numpy(np.random.default_rng(3).standard_normal((40, 2, 3)))
    assert torch.autograd.gradcheck(
        lambda q, v: reductions.neighbour_attention(q, v, neighbourhood),
        (queries.requires_grad_(), values.requires_grad_()),
    )


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("points", [np.zeros((1, 2)), np.zeros((4, 2)), np.eye(3)[:, :2] * 100.0])
def test_one_point_coincident_points_and_isolated_points_stay_finite(name, points):
    neighbourhood = radius_neighbourhood(points, 0.5)
    # Equal values are where the slope of the standard deviation would be infinite.
    values = torch.ones(len(points), 2, requires_grad=True)
    result = REDUCTIONS[name](values, neighbourhood)
    result.sum().backward()
    assert result.isfinite().all()
    assert values.grad.isfinite().all()


@pytest.mark.parametrize("name", ["max", "min"])
def test_an_extreme_of_exactly_zero_keeps_its_whole_gradient(name):
    lists = Neighbourhood(offsets=torch.tensor([0, 2]), senders=torch.tensor([0, 1]), num_senders=2, symmetric=False)
    values = torch.tensor([[0.0], [-1.0 if name == "max" else 1.0]], requires_grad=True)
    REDUCTIONS[name](values, lists).sum().backward()
    assert values.grad.tolist() == [[1.0], [0.0]]


def test_queries_reduce_over_their_sources():
    rng = np.random.default_rng(4)
    sources, queries = rng.random((30, 3)), rng.random((7, 3))
    neighbourhood = radius_neighbourhood_between(sources, queries, 0.5)
    values = torch.from_numpy(rng.standard_normal((30, 2)))
    adjacency = torch.from_numpy(adjacency_of(neighbourhood)).double()
    torch.testing.assert_close(reductions.neighbour_sum(values, neighbourhood), adjacency @ values)


def test_reductions_run_on_any_device(scattered):
    values, neighbourhood = scattered
    lists: Neighbourhood = neighbourhood.to("meta")
    for result in reductions.neighbour_statistics(values.to("meta"), lists):
        assert result.shape == (40, 3)
