"""Make data sets of benchmark problems: in parallel, resumable, on the cores of this machine or a Dask cluster."""

import time
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

from gola.data.dataset import Dataset
from gola.data.sample import Sample
from gola.data.storage import Header, Parts
from gola.executors import completed, workers_for
from gola.files import writing_alone
from gola.problems.problem import Problem

# What this process can finish sooner than that, it does itself: processes take about as long to start.
_WORTH_WORKERS_SECONDS = 3.0

# The arguments of Problem.generate, by the number of the chunk.
_Jobs = dict[int, tuple[int, range]]


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
    same call continues where it stopped. The result does not depend on the number of workers. A file that holds these
    very samples already is left as it is.

    Args:
        problem: What to solve.
        path: The file to write.
        num_samples: How many samples.
        seed: Decides the random inputs.
        num_workers: Processes on this machine; by default one per core. Where this process alone needs seconds, it does
            all the work.
        scheduler: Address of a Dask scheduler, for instance ``tcp://host:8786``, to use its workers instead.
        overwrite: Whether to replace a file that holds something else.
        on_progress: Called with the number of finished samples, after every chunk.

    Raises:
        ValueError: If the file exists and holds something else, another process is writing it, or the numbers make no
            sense.
        ChildProcessError: If a process on this machine is killed; what was finished is kept.
    """
    if num_samples < 1 or seed < 0:
        raise ValueError(f"num_samples must be at least 1 and seed at least 0; got {num_samples} and {seed}.")
    path = Path(path)
    header = _header(problem, num_samples, seed)
    if _is_finished(path, header, overwrite):
        on_progress(num_samples)
        return Dataset.load(path)
    with writing_alone(path):
        # Another process may have finished it since the first look.
        if not _is_finished(path, header, overwrite):
            parts = Parts(path=path, header=header)
            parts.prepare()
            chunks = _chunks(num_samples, problem.chunk_size)
            jobs = _missing(parts, chunks, seed)
            with closing(_solved(problem, jobs, num_workers, scheduler)) as solved:
                _keep(solved, parts, num_samples - _num_samples(jobs), on_progress)
            parts.merge(len(chunks))
    return Dataset.load(path)


def _missing(parts: Parts, chunks: list[range], seed: int) -> _Jobs:
    """Return the arguments of :meth:`Problem.generate` for each chunk that is not on disk yet."""
    done = parts.finished()
    return {index: (seed, chunk) for index, chunk in enumerate(chunks) if done.get(index) != len(chunk)}


def _num_samples(jobs: _Jobs) -> int:
    return sum(len(chunk) for _, chunk in jobs.values())


def _keep(
    solved: Iterable[tuple[int, list[Sample]]], parts: Parts, num_done: int, on_progress: Callable[[int], object]
) -> None:
    on_progress(num_done)
    for index, samples in solved:
        parts.write(index, samples)
        num_done += len(samples)
        on_progress(num_done)


def _solved(
    problem: Problem, jobs: _Jobs, num_workers: int | None, scheduler: str | None
) -> Generator[tuple[int, list[Sample]], None, None]:
    """Solve chunks as they come; processes on this machine are started only if they are worth it."""
    rest = dict(jobs)
    if scheduler is None and rest:
        index, first = next(iter(jobs.items()))
        start = time.perf_counter()
        samples = problem.generate(*first)
        seconds_per_sample = (time.perf_counter() - start) / len(samples)
        yield index, samples
        del rest[index]
        if seconds_per_sample * _num_samples(rest) < _WORTH_WORKERS_SECONDS:
            num_workers = 1
    with workers_for(len(rest), num_workers=num_workers, scheduler=scheduler) as workers:
        yield from completed(workers, problem.generate, rest)


def _header(problem: Problem, num_samples: int, seed: int) -> Header:
    return Header(
        inputs=problem.inputs,
        targets=problem.targets,
        parameters=problem.parameters,
        periods=problem.periods,
        provenance={
            "problem": problem.name,
            "settings": problem.settings,
            "seed": seed,
            "num_samples": num_samples,
            "version": version("gola"),
        },
    )


def _is_finished(path: Path, header: Header, overwrite: bool) -> bool:
    """Tell whether the file is there and may stay.

    Raises:
        ValueError: If it holds something else.
    """
    if overwrite or not path.exists():
        return False
    existing = Dataset.load(path)
    about = {name: getattr(existing, name) for name in ("inputs", "targets", "parameters", "periods", "provenance")}
    if Header(**about) != header:
        raise ValueError(f"{path} exists and holds other data; choose another name, or overwrite it (--overwrite).")
    return True


def _chunks(num_samples: int, chunk_size: int) -> list[range]:
    return [range(start, min(start + chunk_size, num_samples)) for start in range(0, num_samples, chunk_size)]
