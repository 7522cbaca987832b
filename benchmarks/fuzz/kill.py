"""``python -m benchmarks.fuzz.kill --times 200``: kill commands at random moments, and look at what they leave.

Each command runs to its end once, which takes T seconds. Then it is started again and killed (signal 9) after a random
part of T: what was there before must still be readable, and the next call must finish and leave nothing but its output.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gola.data.dataset import Dataset
from gola.runs.folder import RunFolder
from gola.surrogate.surrogate import Surrogate

_SAVE = """
import gola, sys
from gola.surrogate.surrogate import Surrogate
surrogate = Surrogate.load(sys.argv[1])
for _ in range(50):
    surrogate.save(sys.argv[2])
"""


@dataclass(frozen=True, kw_only=True)
class Victim:
    """A command that writes.

    Attributes:
        name: What the report calls it.
        command: Arguments of the interpreter; repeated, they replace or resume what is there.
        require_whole: Raises if what the command writes is there and cannot be read.
        outputs: All that may lie in its folder when it has finished.
    """

    name: str
    command: list[str]
    require_whole: Callable[[], object]
    outputs: set[str]


def main() -> int:
    """Kill commands in turn; the exit code is 1 if anything was lost or left over."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.nice(10)
    rng = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        victims = _victims(Path(folder))
        problems = [_run(victim) for victim in victims]
        seconds = [_timed(victim) for victim in victims]
        for number in range(options.times):
            place = number % len(victims)
            _kill(victims[place], seconds[place] * rng.uniform(0.2, 1.0))
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
    gola = ["-m", "gola"]
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
    imported = places["import"] / "b.h5"
    names = ["--inputs", "f", "--targets", "u"]
    trained = ["--operator", "mean", "--num-train", "20", "--overwrite"]
    saved = places["save"] / "a.gola"
    return [
        Victim(name="generate", command=[*gola, *problem, "--out", str(data)],
               require_whole=lambda: list(Dataset.load(data)), outputs={"a.h5"}),
        Victim(name="import", command=[*gola, "import", str(cases / "*.csv"), *names, "--out", str(imported)],
               require_whole=lambda: list(Dataset.load(imported)), outputs={"b.h5"}),
        Victim(name="train", command=[*gola, "train", str(data), *trained, "--out", str(run)],
               require_whole=lambda: Surrogate.load(RunFolder(run).surrogate_file), outputs={"run"}),
        Victim(name="save", command=["-c", _SAVE, str(run / "surrogate.gola"), str(saved)],
               require_whole=lambda: Surrogate.load(saved), outputs={"a.gola"}),
    ]  # fmt: skip


def _timed(victim: Victim) -> float:
    start = time.perf_counter()
    problem = _run(victim)
    if problem:
        raise RuntimeError(problem)
    return time.perf_counter() - start


def _run(victim: Victim) -> str:
    """Run a command to its end; return what is wrong then, or nothing."""
    done = subprocess.run([sys.executable, *victim.command], capture_output=True, text=True, check=False)
    if done.returncode:
        return f"{victim.name} failed: {done.stderr.strip()[-500:]}"
    folder = Path(victim.command[-1]).parent
    inside = {path.name for path in (folder / "run").iterdir()} if (folder / "run").is_dir() else set()
    left = {path.name for path in folder.iterdir()} - victim.outputs
    left |= inside - {"run.json", "surrogate.gola", "evaluation.json"}
    return f"{victim.name} left {', '.join(sorted(left))}" if left else _lost(victim)


def _kill(victim: Victim, seconds: float) -> None:
    process = subprocess.Popen(
        [sys.executable, *victim.command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _lost(victim: Victim) -> str:
    try:
        victim.require_whole()
    except ValueError as error:
        return f"{victim.name} lost its output: {error}"
    return ""


if __name__ == "__main__":
    sys.exit(main())
