"""Run cases in another process, with limits of time and memory."""

import multiprocessing
import resource
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import torch

from benchmarks.fuzz.cases import Outcome, chosen, run_case
from benchmarks.fuzz.specimens import Specimen

_BYTES = 4 << 30
_SECONDS_TO_START = 120.0


def run_cases(specimens: Sequence[Specimen], cases: Iterable[int], seed: int, seconds: float) -> Iterator[Outcome]:
    """Run cases one after the other; a process that hangs or dies is replaced.

    Args:
        specimens: Valid files.
        cases: Numbers of the cases.
        seed: Seed of all cases.
        seconds: Time limit of a case.
    """
    worker = _Worker(specimens, seed)
    try:
        for case in cases:
            outcome = worker.run(case, seconds)
            if isinstance(outcome, str):
                specimen, damage, _ = chosen(specimens, case, seed)
                worker.stop()
                worker = _Worker(specimens, seed)
                outcome = Outcome(case=case, kind=specimen.kind, damage=damage, verdict=outcome)
            yield outcome
    finally:
        worker.stop()


class _Worker:
    """A process that runs cases."""

    def __init__(self, specimens: Sequence[Specimen], seed: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, list(specimens), seed), daemon=True)
        self._process.start()
        theirs.close()
        if not self._connection.poll(_SECONDS_TO_START):
            raise RuntimeError("The process that runs the cases did not start.")
        self._connection.recv()

    def run(self, case: int, seconds: float) -> Outcome | str:
        """Run a case, or say that it hung or died."""
        try:
            self._connection.send(case)
            if not self._connection.poll(seconds):
                return "hang"
            outcome: Outcome = self._connection.recv()
        except (EOFError, OSError):
            return "crash"
        return outcome

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.join()
        self._connection.close()


def _work(connection: Connection, specimens: Sequence[Specimen], seed: int) -> None:
    torch.set_num_threads(1)
    expected = [_read_copy(specimen) for specimen in specimens]
    connection.send("ready")
    resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
    while True:
        with tempfile.TemporaryDirectory() as scratch:
            connection.send(run_case(specimens, expected, connection.recv(), seed, Path(scratch)))


def _read_copy(specimen: Specimen) -> str:
    """Read a copy: loading a checkpoint to the end writes it again."""
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(specimen.path.parent, scratch, dirs_exist_ok=True)
        return specimen.read(Path(scratch) / specimen.path.name)
