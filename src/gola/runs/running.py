"""Do many runs: only what is missing, on the cores of this machine or a Dask cluster, and keep each as it ends."""

import os
import shutil
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from gola.executors import completed, workers_for
from gola.protocol import Progress, Session
from gola.registry import OPERATORS
from gola.runs.checks import require_runnable
from gola.runs.config import RunConfig
from gola.runs.execution import attempt
from gola.runs.fingerprints import code_version, fingerprint_of
from gola.runs.planning import Plan, estimated_seconds, plan
from gola.runs.result import Outcome, RunFailure, RunResult
from gola.runs.storage import ResultFolder

# Fitting sets the global seed of torch, so two runs in threads of one process, as Dask may have it, would mix.
_ONE_AT_A_TIME = threading.Lock()
_CHECKPOINTS = ".unfinished"


@dataclass(frozen=True, kw_only=True)
class RunStatus:
    """How far some runs are.

    Attributes:
        num_runs: How many different runs there are.
        num_found: Those that had a result before.
        num_done: Those that have one now, or have failed.
        num_failed: Those that have failed.
        num_outdated: Those that had a result of another code version, which does not count.
        seconds_left: Estimate from earlier runs; None where no similar run is known.
        last: The latest outcome.
    """

    num_runs: int
    num_found: int
    num_done: int
    num_failed: int
    num_outdated: int
    seconds_left: float | None
    last: Outcome | None = None


def run_all(
    runs: Sequence[RunConfig],
    folder: str | Path,
    *,
    num_workers: int | None = None,
    scheduler: str | None = None,
    keep: bool = False,
    on_progress: Callable[[RunStatus], object] = lambda _: None,
    on_step: Callable[[RunConfig, Progress], object] = lambda _run, _progress: None,
) -> list[Outcome]:
    """Do the runs that have no result in the folder yet, and return the results of all.

    Several runs are done at a time, one process with one thread per core. A single one is done in this process, with
    all threads. Each result is written as soon as its run ends, so after an interruption the same call continues where
    it stopped; a network resumes from its last checkpoint. A run that fails does not stop the others, and is tried
    again by the next call.

    Args:
        runs: What to do; they are checked against their data before the first one starts.
        folder: Where results are kept.
        num_workers: Processes on this machine; by default one per core, and one where there is a GPU.
        scheduler: Address of a Dask scheduler to use its workers instead. They must see the files of the data sets
            under the same paths.
        keep: Whether results of other code versions count too; otherwise those runs are repeated.
        on_progress: Called at the start and after each run.
        on_step: Called after every step of a training in this process.

    Returns:
        A result or a failure for each run, in the order of the runs.

    Raises:
        ValueError: If a run cannot work, or no scheduler answers at the address.
    """
    require_runnable(runs)
    results = ResultFolder(path=Path(folder))
    todo = plan(runs, results, keep=keep)
    num_workers = num_workers or (1 if torch.cuda.is_available() else os.cpu_count() or 1)
    outcomes: dict[str, Outcome] = dict(todo.found)
    on_progress(_status(todo, outcomes, num_workers))
    # Closed at once, whatever happens in between: an error must not leave processes running.
    with closing(_done(todo, results, num_workers, scheduler, on_step)) as done:
        for identity, outcome in done:
            results.write(outcome)
            shutil.rmtree(results.place_of(outcome.run, _CHECKPOINTS), ignore_errors=True)
            outcomes[identity] = outcome
            on_progress(_status(todo, outcomes, num_workers, outcome))
    return [outcomes[run.identity(fingerprint_of(run.data))] for run in runs]


def _done(
    todo: Plan,
    results: ResultFolder,
    num_workers: int,
    scheduler: str | None,
    on_step: Callable[[RunConfig, Progress], object],
) -> Generator[tuple[str, Outcome], None, None]:
    """Do the pending runs, and yield each as it ends."""
    if not todo.pending:
        return
    with workers_for(len(todo.pending), num_workers=num_workers, scheduler=scheduler) as workers:
        if workers is None:
            for identity, run in todo.pending.items():
                yield identity, _with_checkpoints(run, results.place_of(run, _CHECKPOINTS), on_step)
            return
        jobs = {identity: _job(run, results, scheduler) for identity, run in todo.pending.items()}
        for identity, outcome in completed(workers, in_worker, jobs):
            # The path of the data is the one that the user gave, wherever the worker found them.
            yield identity, replace(outcome, run=todo.pending[identity])


def _job(
    run: RunConfig, results: ResultFolder, scheduler: str | None
) -> tuple[RunConfig, Path | None, str, str, dict[str, Any]]:
    """Return the arguments of :func:`in_worker`."""
    anywhere = replace(run, data=str(Path(run.data).absolute()))
    checkpoints = results.place_of(run, _CHECKPOINTS).absolute() if scheduler is None else None
    return anywhere, checkpoints, code_version(run.operator), fingerprint_of(run.data), OPERATORS.added()


def in_worker(run: RunConfig, checkpoints: Path | None, code: str, data: str, operators: Mapping[str, Any]) -> Outcome:
    """Do a run in one of several processes: on one thread, since threads that compete for cores are many times slower.

    Args:
        run: What to do.
        checkpoints: Folder for the state of the training; None for none.
        code: The code version that the result must come from.
        data: The fingerprint of the data that it must come from.
        operators: What the program that asks has registered, by name.
    """
    with _ONE_AT_A_TIME, _one_thread():
        for name, operator in operators.items():
            OPERATORS.add(name, operator)
        try:
            difference = _difference(run, code, data)
        except ValueError as error:
            difference = str(error)
        return RunFailure(run=run, message=difference) if difference else _with_checkpoints(run, checkpoints)


@contextmanager
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)  # it may be the program itself that does what no worker can import


def _with_checkpoints(
    run: RunConfig,
    checkpoints: Path | None,
    on_step: Callable[[RunConfig, Progress], object] = lambda _run, _progress: None,
) -> Outcome:
    """Do a run, resumed from its last checkpoint if there is one."""
    if checkpoints is None or not run.heeds("session"):
        return attempt(run)
    checkpoints.mkdir(parents=True, exist_ok=True)
    session = Session(folder=checkpoints, resume=True, on_progress=lambda progress: on_step(run, progress))
    return attempt(run, session)


def _difference(run: RunConfig, code: str, data: str) -> str:
    """Say how this process differs from the one that asked for the run; empty where it does not."""
    own = code_version(run.operator)
    if own != code:
        return (
            f"A worker has another code version ({own}, not {code}): install the same gola on all workers,"
            " and leave the code unchanged during the runs."
        )
    if fingerprint_of(run.data) != data:
        return f"A worker finds other data in {run.data}; give all workers access to the same file."
    return ""


def _status(todo: Plan, outcomes: dict[str, Outcome], num_workers: int, last: Outcome | None = None) -> RunStatus:
    left = [run for identity, run in todo.pending.items() if identity not in outcomes]
    new = [outcome for outcome in outcomes.values() if isinstance(outcome, RunResult)]
    return RunStatus(
        num_runs=len(todo.found) + len(todo.pending),
        num_found=len(todo.found),
        num_done=len(outcomes),
        num_failed=sum(isinstance(outcome, RunFailure) for outcome in outcomes.values()),
        num_outdated=todo.num_outdated,
        seconds_left=estimated_seconds(left, [*todo.known, *new], num_workers),
        last=last,
    )
