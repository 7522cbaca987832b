"""How many threads compute: one for work in small pieces, several for pieces that do not wait for each other.

The threads of a library wait for each other after every product of matrices, and wait by spinning. Where another
program keeps a core busy, every such wait takes as long as that program is let run: a fit of a second, which has tens
of thousands of them, then takes minutes. So what consists of small pieces is computed on one thread, and independent
pieces that are worth it (samples of many points) are spread over threads that meet once, at the end.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from typing import TypeVar

import torch
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

# The threads that PyTorch was given where `one_thread` was entered first; nothing outside of it.
_GIVEN: ContextVar[int | None] = ContextVar("_GIVEN", default=None)
_LIMITING = threading.Lock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch, NumPy and SciPy compute on one thread for a while, and on as many as before afterwards."""
    if _GIVEN.get() is not None:
        yield
        return
    num_threads = torch.get_num_threads()
    token = _GIVEN.set(num_threads)
    torch.set_num_threads(1)
    try:
        with _one_blas_thread():
            yield
    finally:
        torch.set_num_threads(num_threads)
        _GIVEN.reset(token)


def spread_over_threads(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Call a function for each item, on as many threads as PyTorch was given, each of which computes alone.

    Worth it where a call takes milliseconds at least. Results do not depend on the number of threads.

    >>> spread_over_threads(abs, [-1, 2])
    [1, 2]
    """
    given = _GIVEN.get()
    num_threads = min(torch.get_num_threads() if given is None else given, len(items))
    if num_threads <= 1:
        return [function(item) for item in items]
    mode = partial(_compute_alone, torch.is_grad_enabled())
    with one_thread(), ThreadPoolExecutor(num_threads, initializer=mode) as pool:
        return list(pool.map(function, items))


def _compute_alone(grad_enabled: bool) -> None:
    """Prepare a thread of a pool, which ends with it; a new thread knows nothing of what the old one was told."""
    torch.set_num_threads(1)
    torch.set_grad_enabled(grad_enabled)


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Let the linear algebra libraries of NumPy and SciPy compute on one thread for a while.

    Their number of threads is one for all threads of a program: the first who asks limits it and gives it back.
    """
    if not _LIMITING.acquire(blocking=False):
        yield
        return
    try:
        with _libraries().limit(limits=1, user_api="blas"):
            yield
    finally:
        _LIMITING.release()


@cache
def _libraries() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401  # only libraries that are loaded are found

    return ThreadpoolController()
