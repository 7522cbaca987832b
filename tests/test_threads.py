"""How many threads compute, and that they are given back."""

import threading

import pytest
import scipy.linalg  # noqa: F401  # its library is counted too
import torch
from threadpoolctl import threadpool_info, threadpool_limits

from gola.threads import one_thread, spread_over_threads


@pytest.fixture
def three_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    with threadpool_limits(limits=3, user_api="blas"):
        yield
    torch.set_num_threads(before)


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.mark.usefixtures("three_threads")
def test_all_libraries_compute_on_one_thread_and_on_as_many_as_before_afterwards():
    before = blas_threads()
    with one_thread(), one_thread():
        assert torch.get_num_threads() == 1
        assert blas_threads() == {1}
    assert torch.get_num_threads() == 3
    assert blas_threads() == before


@pytest.mark.usefixtures("three_threads")
def test_threads_are_given_back_after_an_error():
    before = blas_threads()
    with pytest.raises(KeyError), one_thread():
        raise KeyError
    assert torch.get_num_threads() == 3
    assert blas_threads() == before


@pytest.mark.usefixtures("three_threads")
def test_threads_are_given_back_in_whichever_order_users_are_done():
    before, inside, leave = blas_threads(), threading.Event(), threading.Event()

    def other():
        with one_thread():
            inside.set()
            leave.wait(60)

    thread = threading.Thread(target=other)
    with one_thread():
        thread.start()
        assert inside.wait(60)
    leave.set()
    thread.join()
    assert blas_threads() == before


@pytest.mark.usefixtures("three_threads")
def test_work_is_spread_over_as_many_threads_as_there_were_each_computing_alone():
    together = threading.Barrier(3, timeout=60)

    def job(number):
        together.wait()
        return number, torch.get_num_threads(), torch.is_grad_enabled()

    with torch.no_grad(), one_thread():
        assert spread_over_threads(job, range(3)) == [(number, 1, False) for number in range(3)]
    assert torch.get_num_threads() == 3


@pytest.mark.usefixtures("three_threads")
def test_an_error_in_a_thread_is_that_of_the_call():
    with pytest.raises(ZeroDivisionError):
        spread_over_threads(lambda number: 1 / number, [1, 0, 2])
