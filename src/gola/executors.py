"""Where work is done: in this process, on the cores of this machine, or on the workers of a Dask cluster."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from gola.extras import require

if TYPE_CHECKING:
    from distributed import Client

Key = TypeVar("Key")
Result = TypeVar("Result")

# How often Dask repeats a job whose worker died before it gives up.
_RETRIES = 5
_CONNECT_SECONDS = 20
# Threads of processes that share the cores would compete, which costs many times more than it gains. The libraries that
# compute read these when they are loaded.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@contextmanager
def workers_for(
    num_jobs: int, *, num_workers: int | None = None, scheduler: str | None = None, preload: Sequence[str] = ()
) -> "Iterator[Executor | Client | None]":
    """Give workers for some jobs, or None where this process had better do them itself.

    Each process on this machine computes on one thread; so do the workers that Dask starts, unless told otherwise.
    If the block is left by an error or Ctrl-C, the processes on this machine end at once, whatever they are doing.

    Args:
        num_jobs: How many jobs there are; no more processes than that are started.
        num_workers: Processes on this machine; by default one per core.
        scheduler: Address of a Dask scheduler, for instance ``tcp://host:8786``, to use its workers instead.
        preload: Modules that jobs need, imported once for all processes where the system can.

    Raises:
        ValueError: If no scheduler answers at the address.
    """
    if scheduler is not None:
        with _dask_client(scheduler) as client:
            yield client
        return
    num_workers = min(num_workers or os.cpu_count() or 1, num_jobs)
    if num_workers <= 1:
        yield None
        return
    with _process_pool(num_workers, preload) as pool:
        yield pool


def completed(
    workers: "Executor | Client | None", function: Callable[..., Result], jobs: Mapping[Key, tuple[Any, ...]]
) -> Iterator[tuple[Key, Result]]:
    """Call a function for each job, and yield results as they come.

    Args:
        workers: What :func:`workers_for` gave.
        function: What to call; other processes must be able to import it.
        jobs: Its arguments, by a key that comes back with the result.
    """
    if workers is None:
        return ((key, function(*arguments)) for key, arguments in jobs.items())
    if isinstance(workers, Executor):
        return _completed_by_pool(workers, function, jobs)
    return _completed_by_dask(workers, function, jobs)


def _completed_by_pool(
    pool: Executor, function: Callable[..., Result], jobs: Mapping[Key, tuple[Any, ...]]
) -> Iterator[tuple[Key, Result]]:
    key_of = {pool.submit(function, *arguments): key for key, arguments in jobs.items()}
    for future in as_completed(key_of):
        try:
            result = future.result()
        except BrokenProcessPool as error:
            raise ChildProcessError(
                "A worker process was killed from outside, most likely because memory ran out; what was finished is"
                " kept. Continue with fewer workers (--num-workers 1)."
            ) from error
        yield key_of.pop(future), result  # popped, so that results which were dealt with do not pile up in memory


def _completed_by_dask(
    client: "Client", function: Callable[..., Result], jobs: Mapping[Key, tuple[Any, ...]]
) -> Iterator[tuple[Key, Result]]:
    # Equal calls are not pure here: each is a job of its own and runs once.
    futures = {client.submit(function, *job, pure=False, retries=_RETRIES): key for key, job in jobs.items()}
    # Dask's own loop, not its imitation of an executor, which trips over a worker that dies with a finished result.
    for future, result in _distributed().as_completed(futures, loop=client.loop, with_results=True):
        yield futures.pop(future), result


@contextmanager
def _process_pool(num_workers: int, preload: Sequence[str]) -> Iterator[Executor]:
    # Forking a process that runs threads (torch, BLAS) can deadlock; a fork server has none and imports only once.
    methods: Sequence[str] = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    if hasattr(context, "set_forkserver_preload"):
        context.set_forkserver_preload(list(preload))
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(num_workers, mp_context=context, initializer=_ignore_interrupts)
    try:
        with _environment(_ONE_THREAD):
            yield pool
    except BaseException:
        # Nobody waits for the jobs in progress any more, and they may have an hour to go.
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables for the processes that are started meanwhile."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]
        os.environ.update({name: value for name, value in before.items() if value is not None})


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the parent process, which then stops the workers in good order."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _dask_client(scheduler: str) -> "Iterator[Client]":
    distributed = _distributed()
    try:
        client = distributed.Client(scheduler, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"No Dask scheduler answers at {scheduler}; start one with `dask scheduler`, and workers that have gola"
            f" installed with `dask worker {scheduler}`."
        ) from error
    with client:
        yield client


def _distributed() -> Any:
    return require("distributed", extra="cluster", what="Working on a Dask cluster")
