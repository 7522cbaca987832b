"""Make data sets of benchmark problems: in parallel, resumable, on the cores of this machine or a Dask cluster."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from gola.data.dataset import Dataset
from gola.data.sample import Sample
from gola.data.storage import Header, Parts
from gola.problems.problem import Problem

# How often Dask repeats a chunk whose worker died before it gives up.
_RETRIES = 5
_CONNECT_SECONDS = 20


def generate(
    problem: Problem,
    path: str | Path,
    *,
    num_samples: int,
    seed: int = 0,
    num_workers: int | None = None,
    scheduler: str | None = None,
    overwrite: bool = False,
    on_progress: Callable[[int], object] = lambda _: None,
) -> Dataset:
    """Draw and solve samples, and write them to one file.

    Samples are made in fixed chunks, each of which is kept on disk as soon as it is ready: after an interruption the
    same call goes on where it stopped. The result does not depend on the number of workers. A file that holds these
    very samples already is left as it is.

    Args:
        problem: What to solve.
        path: The file to write.
        num_samples: How many samples.
        seed: Decides the random inputs.
        num_workers: Processes on this machine; by default one per core.
        scheduler: Address of a Dask scheduler, for instance ``tcp://host:8786``, to use its workers instead.
        overwrite: Whether to replace a file that holds something else.
        on_progress: Called with the number of finished samples, after every chunk.

    Raises:
        ValueError: If the file exists and holds something else, or the numbers make no sense.
    """
    if num_samples < 1 or seed < 0:
        raise ValueError(f"num_samples must be at least 1 and seed at least 0; got {num_samples} and {seed}.")
    path = Path(path)
    header = _header(problem, num_samples, seed)
    if path.exists() and not overwrite:
        _require_same(path, header)
        on_progress(num_samples)
        return Dataset.load(path)
    parts = Parts(path=path, header=header)
    parts.prepare()
    done = parts.finished()
    chunks = _chunks(num_samples, problem.chunk_size)
    missing = {index: chunk for index, chunk in enumerate(chunks) if done.get(index) != len(chunk)}
    num_done = num_samples - sum(map(len, missing.values()))
    on_progress(num_done)
    with _executor(num_workers, scheduler, len(missing)) as executor:
        for index, samples in _completed(executor, problem, seed, missing):
            parts.write(index, samples)
            num_done += len(samples)
            on_progress(num_done)
    parts.merge(len(chunks))
    return Dataset.load(path)


def _header(problem: Problem, num_samples: int, seed: int) -> Header:
    return Header(
        inputs=problem.inputs,
        targets=problem.targets,
        provenance={
            "problem": problem.name,
            "parameters": problem.parameters,
            "seed": seed,
            "num_samples": num_samples,
            "version": version("gola"),
        },
    )


def _require_same(path: Path, header: Header) -> None:
    existing = Dataset.load(path)
    if Header(inputs=existing.inputs, targets=existing.targets, provenance=existing.provenance) != header:
        raise ValueError(f"{path} exists and holds other data; choose another name, or overwrite it (--overwrite).")


def _chunks(num_samples: int, chunk_size: int) -> list[range]:
    return [range(start, min(start + chunk_size, num_samples)) for start in range(0, num_samples, chunk_size)]


def _completed(
    executor: Executor | None, problem: Problem, seed: int, chunks: dict[int, range]
) -> Iterator[tuple[int, list[Sample]]]:
    """Yield each chunk's samples as they become ready, in this process where there is no executor."""
    if executor is None:
        for index, chunk in chunks.items():
            yield index, problem.generate(seed, chunk)
        return
    index_of = {executor.submit(problem.generate, seed, chunk): index for index, chunk in chunks.items()}
    for future in as_completed(index_of):
        samples = future.result()
        yield index_of.pop(future), samples  # popped, so that written samples do not pile up in memory


@contextmanager
def _executor(num_workers: int | None, scheduler: str | None, num_chunks: int) -> Iterator[Executor | None]:
    if scheduler is not None:
        with _dask_executor(scheduler) as executor:
            yield executor
        return
    num_workers = min(num_workers or os.cpu_count() or 1, num_chunks)
    if num_workers <= 1:
        yield None
        return
    with _process_pool(num_workers) as executor:
        yield executor


@contextmanager
def _process_pool(num_workers: int) -> Iterator[Executor]:
    # Forking a process that runs threads (torch, BLAS) can deadlock; a fork server has none and imports only once.
    methods: Sequence[str] = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    if hasattr(context, "set_forkserver_preload"):
        context.set_forkserver_preload(["gola.problems"])
    pool = ProcessPoolExecutor(num_workers, mp_context=context, initializer=_ignore_interrupts)
    try:
        yield pool
    finally:
        # After Ctrl-C only the chunks that are being solved are waited for.
        pool.shutdown(cancel_futures=True)


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the parent process, which then stops the workers in good order."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _dask_executor(scheduler: str) -> Iterator[Executor]:
    from distributed import Client  # takes a second to import, and most calls don't need it

    try:
        client = Client(scheduler, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"No Dask scheduler answers at {scheduler}; start one with `dask scheduler`, and workers that have gola"
            f" installed with `dask worker {scheduler}`."
        ) from error
    with client:
        # Equal calls are not pure here: each is one chunk of this data set and runs once.
        yield client.get_executor(pure=False, retries=_RETRIES)
