"""Make data sets of benchmark problems: in parallel, resumable, on the cores of this machine or a Dask cluster."""

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from gola.data.dataset import Dataset
from gola.data.storage import Header, Parts
from gola.executors import completed, workers_for
from gola.problems.problem import Problem


def generate(
    problem: Problem,
    path: str | Path,
    *,
    num_samples: int,
    seed: int = 0,
    num_workers: int | None = 1,
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
        num_workers: Processes on this machine; None for one per core, which a script may only ask for below
            ``if __name__ == "__main__":``.
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
    jobs = {index: (seed, chunk) for index, chunk in missing.items()}
    with workers_for(len(jobs), num_workers=num_workers, scheduler=scheduler, preload=["gola.problems"]) as workers:
        for index, samples in completed(workers, problem.generate, jobs):
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
