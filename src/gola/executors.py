"""Where work is done: in this process, on the cores of this machine, or on the workers of a Dask cluster."""

import os
import pickle
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar, final

from gola.extras import require
from gola.worker import RAISED, REFUSED, Worker, is_worker

if TYPE_CHECKING:
    from distributed import Client

Key = TypeVar("Key")
Result = TypeVar("Result")

# How often Dask repeats a job whose worker died before it gives up.
_RETRIES = 5
_CONNECT_SECONDS = 20


@final
class Processes:
    """Worker processes on this machine, and as many threads of this process that talk to them."""

    def __init__(self, num_workers: int) -> None:
        self._workers: list[Worker] = []
        self._idle: SimpleQueue[Worker] = SimpleQueue()
        self._threads = ThreadPoolExecutor(num_workers)
        try:
            for _ in range(num_workers):
                self._workers.append(Worker())
                self._idle.put(self._workers[-1])
        except BaseException:
            self.kill()
            self.close()
            raise

    def submit(self, job: bytes) -> "Future[bytes]":
        """Send a job to the next idle worker; the future has the reply."""
        return self._threads.submit(self._do, job)

    def kill(self) -> None:
        """End the processes at once, whatever they are doing."""
        for worker in self._workers:
            worker.kill()

    def close(self) -> None:
        """End the processes, and wait until they have ended."""
        for worker in self._workers:
            worker.release()
        self._threads.shutdown(cancel_futures=True)
        for worker in self._workers:
            worker.close()

    def _do(self, job: bytes) -> bytes:
        worker = self._idle.get()
        try:
            return worker.do(job)
        finally:
            self._idle.put(worker)


@contextmanager
def workers_for(
    num_jobs: int, *, num_workers: int | None = None, scheduler: str | None = None
) -> "Iterator[Processes | Client | None]":
    """Give workers for some jobs, or None where this process had better do them itself.

    Each process on this machine computes on one thread; so do the workers that Dask starts, unless told otherwise.
    None of them imports the user's program. If the block is left by an error or Ctrl-C, the processes on this machine
    end at once, whatever they are doing.

    Args:
        num_jobs: How many jobs there are; no more processes than that are started.
        num_workers: Processes on this machine; by default one per core.
        scheduler: Address of a Dask scheduler, for instance ``tcp://host:8786``, to use its workers instead.

    Raises:
        ValueError: If no scheduler answers at the address.
    """
    if scheduler is not None:
        with _dask_client(scheduler) as client:
            yield client
        return
    num_workers = min(num_workers or os.cpu_count() or 1, num_jobs)
    if num_workers <= 1 or is_worker():  # a worker that started workers would do so without end
        yield None
        return
    processes = Processes(num_workers)
    try:
        yield processes
    except BaseException:
        processes.kill()  # nobody waits for the jobs in progress any more, and they may have an hour to go
        raise
    finally:
        processes.close()


def completed(
    workers: "Processes | Client | None", function: Callable[..., Result], jobs: Mapping[Key, tuple[Any, ...]]
) -> Iterator[tuple[Key, Result]]:
    """Call a function for each job, and yield results as they come.

    Args:
        workers: What :func:`workers_for` gave.
        function: What to call. This process calls it itself where another one on this machine cannot import it or its
            arguments, for instance because they are defined in a notebook.
        jobs: Its arguments, by a key that comes back with the result.

    Raises:
        ChildProcessError: If a process on this machine ends before it has finished its job.
    """
    if workers is None:
        return ((key, function(*arguments)) for key, arguments in jobs.items())
    if isinstance(workers, Processes):
        return _completed_by_processes(workers, function, jobs)
    return _completed_by_dask(workers, function, jobs)


def _completed_by_processes(
    processes: Processes, function: Callable[..., Result], jobs: Mapping[Key, tuple[Any, ...]]
) -> Iterator[tuple[Key, Result]]:
    # Pickled and unpickled in the caller's thread: both import modules, and one that is just being imported, and calls
    # this, would let any other thread wait for ever.
    pickled = {key: _pickled(function, arguments) for key, arguments in jobs.items()}
    key_of = {processes.submit(job): key for key, job in pickled.items() if job is not None}
    for future in as_completed(key_of):
        said, content = pickle.loads(future.result())
        if said == RAISED:
            raise content
        key = key_of.pop(future)  # popped, so that results which were dealt with do not pile up in memory
        yield key, function(*jobs[key]) if said == REFUSED else content
    yield from ((key, function(*jobs[key])) for key, job in pickled.items() if job is None)


def _pickled(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bytes | None:
    """Return a job as workers take it; None for one that cannot be copied."""
    try:
        return pickle.dumps((function, arguments), pickle.HIGHEST_PROTOCOL)
    except Exception:  # whatever an object raises that cannot be pickled
        return None


def _completed_by_dask(
    client: "Client", function: Callable[..., Result], jobs: Mapping[Key, tuple[Any, ...]]
) -> Iterator[tuple[Key, Result]]:
    # Equal calls are not pure here: each is a job of its own and runs once.
    futures = {client.submit(function, *job, pure=False, retries=_RETRIES): key for key, job in jobs.items()}
    # Dask's own loop, not its imitation of an executor, which trips over a worker that dies with a finished result.
    for future, result in _distributed().as_completed(futures, loop=client.loop, with_results=True):
        yield futures.pop(future), result


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
