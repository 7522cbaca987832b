"""``python -m benchmarks.fuzz.kill --times 200``: kill commands at random moments, and look at what they leave.

Each command runs to its end once, which takes T seconds. Then it is started again and killed (signal 9) after a random
part of T: what was there before must still be readable, and the next call must finish and leave nothing but its output.
Commands run in copies of this process, which has imported all that they need, so that kills hit their work.
"""

import argparse
import contextlib
import io
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np
import torch

from gola.cli import app
from gola.data.dataset import Dataset
from gola.runs.folder import RunFolder
from gola.surrogate.surrogate import Surrogate


@dataclass(frozen=True, kw_only=True)
class Victim:
    """A command that writes.

    Attributes:
        name: What the report calls it.
        write: Writes the output; called again, it replaces or resumes what is there.
        require_whole: Raises if the output cannot be read.
        output: The file or folder that it writes, which is all that may lie beside it at the end.
    """

    name: str
    write: Callable[[], object]
    require_whole: Callable[[], object]
    output: Path


def main() -> int:
    """Kill commands in turn; the exit code is 1 if anything was lost or left over."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.nice(10)
    torch.set_num_threads(1)
    rng = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        victims = _victims(Path(folder))
        for victim in victims:
            with contextlib.suppress(SystemExit):
                _write(victim)  # here, so that all is imported
        problems = [_run(victim) for victim in victims]
        seconds = [_timed(victim) for victim in victims]
        for number in range(options.times):
            place = number % len(victims)
            _kill(victims[place], seconds[place] * rng.random())
            problems.append(_lost(victims[place]))
            if number // len(victims) % 5 == 4:  # finish every fifth time, and look at what is left
                problems.append(_run(victims[place]))
        problems += [_run(victim) for victim in victims]
    found = [problem for problem in problems if problem]
    print(f"{options.times} kills of {', '.join(victim.name for victim in victims)}: {len(found)} problems.")
    for problem in found:
        print(problem)
    return int(bool(found))


def _victims(folder: Path) -> list[Victim]:
    places = {name: folder / name for name in ("generate", "import", "train", "save", "source")}
    for place in places.values():
        place.mkdir()
    data, cases, run = places["generate"] / "a.h5", places["source"], places["train"] / "run"
    for number in range(3):
        rows = "".join(f"{x},{x * x},{x + number},{x - number}\n" for x in range(200))
        (cases / f"case_{number}.csv").write_text("x,y,f,u\n" + rows)
    problem = [
        "generate",
        "eikonal",
        "--set",
        "resolution=16",
        "--num-samples",
        "40",
        "--num-workers",
        "1",
        "--overwrite",
    ]
    imported, saved = places["import"] / "b.h5", places["save"] / "a.gola"
    names = ["--inputs", "f", "--targets", "u"]
    trained = ["--operator", "mean", "--num-train", "20", "--overwrite"]
    surrogate_file = RunFolder(run).surrogate_file
    return [
        Victim(name="generate", write=lambda: app([*problem, "--out", str(data)]),
               require_whole=lambda: list(Dataset.load(data)), output=data),
        Victim(name="import", write=lambda: app(["import", str(cases / "*.csv"), *names, "--out", str(imported)]),
               require_whole=lambda: list(Dataset.load(imported)), output=imported),
        Victim(name="train", write=lambda: app(["train", str(data), *trained, "--out", str(run)]),
               require_whole=lambda: Surrogate.load(surrogate_file), output=run),
        Victim(name="save", write=lambda: Surrogate.load(surrogate_file).save(saved),
               require_whole=lambda: Surrogate.load(saved), output=saved),
    ]  # fmt: skip


def _timed(victim: Victim) -> float:
    start = time.perf_counter()
    problem = _run(victim)
    if problem:
        raise RuntimeError(problem)
    return time.perf_counter() - start


def _run(victim: Victim) -> str:
    """Write an output to the end; return what is wrong then, or nothing."""
    process = _started(victim)
    process.join()
    if process.exitcode:
        return f"{victim.name} failed with exit code {process.exitcode}"
    left = {path.name for path in victim.output.parent.iterdir()} - {victim.output.name}
    if victim.output.is_dir():
        left |= {path.name for path in victim.output.iterdir()} - {"run.json", "surrogate.gola", "evaluation.json"}
    return f"{victim.name} left {', '.join(sorted(left))}" if left else _lost(victim)


def _kill(victim: Victim, seconds: float) -> None:
    process = _started(victim)
    process.join(seconds)
    process.kill()
    process.join()


def _started(victim: Victim) -> BaseProcess:
    process = multiprocessing.get_context("fork").Process(target=_write, args=(victim,))
    process.start()
    return process


def _write(victim: Victim) -> None:
    silence = io.StringIO()
    with contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
        victim.write()


def _lost(victim: Victim) -> str:
    try:
        victim.require_whole()
    except ValueError as error:
        return f"{victim.name} lost its output: {error}"
    return ""


if __name__ == "__main__":
    sys.exit(main())
