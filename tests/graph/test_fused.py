"""The compiled loops against the plain reference: values, gradients, and what only compiled code can get wrong."""

import os
import subprocess
import sys
import threading
from dataclasses import replace

import jaxtyping
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core import caching
from torch._subclasses.fake_tensor import FakeTensorMode

from gola.graph import Neighbourhood, fused, radius_neighbourhood, radius_neighbourhood_between, reductions
from gola.graph.fused import threads

TOLERANCES = {torch.float64: {"rtol": 1e-11, "atol": 1e-11}, torch.float32: {"rtol": 2e-4, "atol": 2e-4}}


def ragged(dim=2, sizes=(40, 1, 75), radius=0.15, seed=0):
    """Neighbour lists of several samples, in which some points have no neighbours and some coincide."""
    points = np.random.default_rng(seed).random((sum(sizes), dim))
    points[3] = points[4] = points[5]
    return radius_neighbourhood(points, radius, offsets=np.cumsum([0, *sizes]))


def bipartite(seed=0):
    """Lists from 90 sources to 35 queries, of which the last is far from everything."""
    rng = np.random.default_rng(seed)
    sources, queries = rng.random((90, 3)), rng.random((35, 3))
    queries[-1] = 9.0
    return radius_neighbourhood_between(sources, queries, 0.3)


LISTS = {
    "2D": ragged(),
    "3D": ragged(dim=3, radius=0.3),
    "all neighbours": ragged(radius=2.0),
    "bipartite": bipartite(),
    "no edges": ragged(sizes=(9, 9), radius=1e-9, seed=1),
    "one point": radius_neighbourhood(np.zeros((1, 2)), 1.0),
    "large enough for threads": ragged(sizes=(1500, 700), radius=0.1),
}


def random(*shape, dtype=torch.float64, seed=0):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def statistics_and_gradient(function, values, neighbourhood):
    """Stack the four statistics, and return the gradient of a random linear functional of them as well."""
    values = values.detach().requires_grad_()
    statistics = torch.stack(function(values, neighbourhood))
    (gradient,) = torch.autograd.grad(statistics, values, random(*statistics.shape, dtype=values.dtype, seed=1))
    return statistics.detach(), gradient


def attention_and_gradients(function, queries, values, neighbourhood):
    queries, values = queries.detach().requires_grad_(), values.detach().requires_grad_()
    result = function(queries, values, neighbourhood)
    gradients = torch.autograd.grad(result, (queries, values), random(*result.shape, dtype=values.dtype, seed=1))
    return result.detach(), *gradients


def assert_statistics_agree(values, neighbourhood):
    found = statistics_and_gradient(fused.neighbour_statistics, values, neighbourhood)
    expected = statistics_and_gradient(reductions.neighbour_statistics, values, neighbourhood)
    torch.testing.assert_close(found, expected, **TOLERANCES[values.dtype])


def assert_attention_agrees(queries, values, neighbourhood):
    found = attention_and_gradients(fused.neighbour_attention, queries, values, neighbourhood)
    expected = attention_and_gradients(reductions.neighbour_attention, queries, values, neighbourhood)
    torch.testing.assert_close(found, expected, **TOLERANCES[values.dtype])


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("width", [1, 5, 64])
@pytest.mark.parametrize("lists", LISTS)
def test_statistics_and_their_gradient_equal_the_reference(lists, width, dtype):
    neighbourhood = LISTS[lists]
    assert_statistics_agree(random(neighbourhood.num_senders, width, dtype=dtype), neighbourhood)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize(("num_heads", "width"), [(1, 1), (4, 67), (3, 8)])
@pytest.mark.parametrize("lists", LISTS)
def test_attention_and_its_gradients_equal_the_reference(lists, num_heads, width, dtype):
    neighbourhood = LISTS[lists]
    queries = random(neighbourhood.num_receivers, num_heads, width, dtype=dtype, seed=2) / width**0.5
    assert_attention_agrees(queries, random(neighbourhood.num_senders, width, dtype=dtype), neighbourhood)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_lists_give_what_the_reference_gives(data):
    num_receivers, num_senders = data.draw(st.integers(0, 12)), data.draw(st.integers(1, 12))
    lists = data.draw(
        st.lists(st.sets(st.integers(0, num_senders - 1)).map(sorted), min_size=num_receivers, max_size=num_receivers)
    )
    neighbourhood = Neighbourhood(
        offsets=torch.tensor([0, *np.cumsum([len(one) for one in lists], dtype=int)]),
        senders=torch.tensor([sender for one in lists for sender in one], dtype=torch.int64),
        num_senders=num_senders,
        symmetric=False,
    )
    width, num_heads = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 3))
    assert_statistics_agree(random(num_senders, width), neighbourhood)
    assert_attention_agrees(random(num_receivers, num_heads, width, seed=2), random(num_senders, width), neighbourhood)


def test_equal_extremes_share_the_gradient_as_in_the_reference():
    # Three different values only, so that nearly every list has several maxima and minima.
    values = torch.randint(1, 4, (116, 6), generator=torch.Generator().manual_seed(3)).double()
    assert_statistics_agree(values, LISTS["2D"])
    together = Neighbourhood(
        offsets=torch.tensor([0, 3]), senders=torch.tensor([0, 1, 2]), num_senders=3, symmetric=False
    )
    for equal in (5.0, 0.0):
        values = torch.tensor([[equal], [equal], [-1.0]], requires_grad=True)
        fused.neighbour_statistics(values, together)[1].backward()
        assert values.grad.tolist() == [[0.5], [0.5], [0.0]]


def test_a_small_spread_around_a_large_value_is_not_lost():
    # In single precision the squares of these values agree to all digits, and E[v²] − E[v]² would be noise.
    neighbourhood = LISTS["all neighbours"]
    values = 1000.0 + 0.01 * random(neighbourhood.num_senders, 8)
    exact = reductions.neighbour_std(values.float().double(), neighbourhood)
    found = fused.neighbour_statistics(values.float(), neighbourhood)[3]
    torch.testing.assert_close(found.double(), exact, rtol=1e-3, atol=1e-6)


def test_equal_neighbours_have_no_spread_and_no_gradient_of_it():
    values = torch.full((116, 3), 0.1, requires_grad=True)
    mean, _, _, std = fused.neighbour_statistics(values, LISTS["2D"])
    heard = LISTS["2D"].degrees > 0
    assert (mean[heard] == values[heard]).all()
    assert (std[heard] == reductions.STD_EPSILON**0.5).all()
    std.sum().backward()
    assert (values.grad == 0).all()


def test_gradients_pass_gradcheck():
    neighbourhood = ragged(sizes=(12, 7), radius=0.4)
    values, queries = random(19, 3).requires_grad_(), random(19, 2, 3, seed=1).requires_grad_()
    assert torch.autograd.gradcheck(lambda v: fused.neighbour_statistics(v, neighbourhood), values)
    assert torch.autograd.gradcheck(lambda q, v: fused.neighbour_attention(q, v, neighbourhood), (queries, values))


def test_inputs_and_gradients_need_not_be_contiguous():
    neighbourhood = LISTS["2D"]
    values = random(5, 116).mT
    assert not values.is_contiguous()
    assert_statistics_agree(values, neighbourhood)
    queries = random(116, 5, 2, seed=2).mT
    assert_attention_agrees(queries, values, neighbourhood)
    total, expected = values.clone().requires_grad_(), values.clone().requires_grad_()
    # The gradient of a sum is one number expanded to every entry.
    fused.neighbour_statistics(total, neighbourhood)[0].sum().backward()
    reductions.neighbour_mean(expected, neighbourhood).sum().backward()
    torch.testing.assert_close(total.grad, expected.grad)


def test_only_the_inputs_that_ask_for_a_gradient_get_one():
    neighbourhood, values, queries = LISTS["2D"], random(116, 3), random(116, 2, 3, seed=1)
    assert not fused.neighbour_statistics(values, neighbourhood)[0].requires_grad
    _, all_queries, all_values = attention_and_gradients(fused.neighbour_attention, queries, values, neighbourhood)
    gradient = random(116, 2, 3, seed=1)
    for wanted, expected in ((queries, all_queries), (values, all_values)):
        wanted.requires_grad_()
        result = fused.neighbour_attention(queries, values, neighbourhood)
        (found,) = torch.autograd.grad(result, wanted, gradient)
        wanted.requires_grad_(False)
        assert torch.equal(found, expected)


def test_a_statistic_that_is_not_used_adds_nothing_to_the_gradient():
    values, expected = (random(116, 3).requires_grad_() for _ in range(2))
    fused.neighbour_statistics(values, LISTS["2D"])[3].sum().backward()
    reductions.neighbour_std(expected, LISTS["2D"]).sum().backward()
    torch.testing.assert_close(values.grad, expected.grad)


@pytest.fixture
def thread_count():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.parametrize("lists", ["large enough for threads", "bipartite"])
def test_results_are_equal_to_the_last_bit_for_any_number_of_threads(lists, thread_count, monkeypatch):
    monkeypatch.setattr(threads, "_WORTH_SHARING", 0)
    neighbourhood = LISTS[lists]
    values = random(neighbourhood.num_senders, 33, dtype=torch.float32)
    queries = random(neighbourhood.num_receivers, 3, 33, dtype=torch.float32, seed=2)
    results = []
    for num_threads in (1, 2, 2, 5):
        thread_count(num_threads)
        statistics = statistics_and_gradient(fused.neighbour_statistics, values, neighbourhood)
        attention = attention_and_gradients(fused.neighbour_attention, queries, values, neighbourhood)
        results.append([*statistics, *attention])
    for others in results[1:]:
        assert all(torch.equal(one, other) for one, other in zip(results[0], others, strict=True))


def test_calls_from_several_python_threads_do_not_disturb_each_other():
    neighbourhood = LISTS["large enough for threads"]
    inputs = [random(neighbourhood.num_senders, 16, seed=seed) for seed in range(4)]
    expected = [statistics_and_gradient(fused.neighbour_statistics, values, neighbourhood) for values in inputs]
    found = [None] * len(inputs)

    def work(position):
        for _ in range(5):
            found[position] = statistics_and_gradient(fused.neighbour_statistics, inputs[position], neighbourhood)

    workers = [threading.Thread(target=work, args=(position,)) for position in range(len(inputs))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for one, other in zip(found, expected, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_worker_with_one_thread_computes():
    # What a data loader's workers do: OpenMP does not survive a fork, so they must not start threads.
    program = """
import os, numpy as np, torch
from gola.graph import fused, radius_neighbourhood
lists = radius_neighbourhood(np.random.default_rng(0).random((2000, 2)), 0.1)
expected = fused.neighbour_statistics(torch.ones(2000, 8), lists)[0]
child = os.fork()
if child == 0:
    torch.set_num_threads(1)
    equal = torch.equal(fused.neighbour_statistics(torch.ones(2000, 8), lists)[0], expected)
    os._exit(0 if equal else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs Linux's list of threads")
def test_the_loops_run_on_the_threads_that_torch_has_and_start_none():
    program = """
import os, numpy as np, torch
from gola.graph import fused, radius_neighbourhood
torch.set_num_threads(3)
torch.ones(1_000_000).exp()
before = set(os.listdir("/proc/self/task"))
lists = radius_neighbourhood(np.random.default_rng(0).random((2000, 2)), 0.1)
fused.neighbour_statistics(torch.ones(2000, 64), lists)
assert len(before) >= 3
assert set(os.listdir("/proc/self/task")) == before
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)


def test_without_an_openmp_runtime_one_thread_does_it_all(monkeypatch):
    monkeypatch.setattr(threads, "_parallel", lambda: None)
    neighbourhood = LISTS["large enough for threads"]
    assert_statistics_agree(random(neighbourhood.num_senders, 16), neighbourhood)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_takes_the_reference(dtype):
    values = random(116, 4).to(dtype)
    for found, expected in zip(
        fused.neighbour_statistics(values, LISTS["2D"]),
        reductions.neighbour_statistics(values, LISTS["2D"]),
        strict=True,
    ):
        assert torch.equal(found, expected)


def test_other_devices_take_the_reference():
    lists = LISTS["2D"].to("meta")
    values = torch.empty(116, 4, device="meta", requires_grad=True)
    statistics = fused.neighbour_statistics(values, lists)
    assert [statistic.shape for statistic in statistics] == [(116, 4)] * 4
    assert fused.neighbour_attention(torch.empty(116, 2, 4, device="meta"), values, lists).shape == (116, 2, 4)


def test_tensors_without_memory_take_the_reference():
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        values = mode.from_tensor(torch.zeros(116, 4))
        assert fused.neighbour_statistics(values, LISTS["2D"])[3].shape == (116, 4)


def test_a_nan_reaches_every_statistic_of_those_who_hear_it():
    neighbourhood = LISTS["2D"]
    values = random(116, 2)
    sender = int(neighbourhood.senders[7])
    values[sender, 0] = torch.nan
    statistics = torch.stack(fused.neighbour_statistics(values, neighbourhood))
    hears = neighbourhood.receivers[neighbourhood.senders == sender]
    expected = torch.zeros(116, dtype=torch.bool)
    expected[hears] = True
    assert (statistics[:, :, 0].isnan() == expected).all()
    assert not statistics[:, :, 1].isnan().any()


def test_scores_that_overflow_an_exponential_are_no_problem():
    neighbourhood = LISTS["all neighbours"]
    queries, values = 1e4 * random(116, 2, 3), random(116, 3, seed=1)
    assert fused.neighbour_attention(queries, values, neighbourhood).isfinite().all()


def test_integers_of_another_width_will_do():
    lists = replace(LISTS["2D"], offsets=LISTS["2D"].offsets.int(), senders=LISTS["2D"].senders.int())
    found = fused.neighbour_statistics(random(116, 3), lists)
    for one, other in zip(found, fused.neighbour_statistics(random(116, 3), LISTS["2D"]), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("senders", [[0, 9], [-1, 0], [1, 0]])
def test_lists_that_lead_astray_are_refused(senders):
    lists = Neighbourhood(
        offsets=torch.tensor([0, 2, 2]), senders=torch.tensor(senders), num_senders=2, symmetric=False
    )
    with pytest.raises(ValueError, match="existing senders in ascending order, and 1 of 2 do not"):
        fused.neighbour_statistics(random(2, 3), lists)
    with pytest.raises(ValueError, match="existing senders"):
        fused.neighbour_attention(random(2, 1, 3), random(2, 3), lists)


def test_rows_that_do_not_fit_the_lists_or_each_other_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="values needs one row for each of the neighbourhood's 116 senders; got 115"):
        fused.neighbour_statistics(random(115, 3), LISTS["2D"])
    with pytest.raises(ValueError, match="queries needs one row for each of the neighbourhood's 116 receivers; got 2"):
        fused.neighbour_attention(random(2, 1, 3), random(116, 3), LISTS["2D"])
    # Without the shape checker, as for users.
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    with pytest.raises(ValueError, match="queries and values need equally many channels; got 5 and 3"):
        fused.neighbour_attention(random(116, 1, 5), random(116, 3), LISTS["2D"])


def test_a_second_derivative_is_refused():
    values = random(116, 3).requires_grad_()
    mean = fused.neighbour_statistics(values, LISTS["2D"])[0]
    (gradient,) = torch.autograd.grad(mean.square().sum(), values, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()


def test_loops_compile_where_there_is_no_place_to_keep_them(monkeypatch):
    monkeypatch.setattr(caching.CodeLibraryCacheImpl, "_locator_classes", [])
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])

    def loop(arguments):
        threads.refuse(arguments)

    with pytest.raises(ValueError, match="1 of 116 do not"):
        threads.launch(threads.compiled(loop), LISTS["2D"], torch.tensor([0, 116]), (), ())
