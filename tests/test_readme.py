"""The first code that a reader tries works wherever it is tried: saved as a file, with ``python -c``, in a notebook."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from jupyter_client.manager import run_kernel

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(python)?\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
SMALLER = {
    "num_samples=40": "num_samples=12",
    "num_train=30": "num_train=8",
    "gola.fit(train, time_limit=10)": 'gola.fit(train, "linear")',
}


def environment(folder: Path) -> dict[str, str]:
    # One thread, since other tests run beside this one; the settings of whoever runs the tests do not matter.
    return {**os.environ, "OMP_NUM_THREADS": "1", "IPYTHONDIR": str(folder / "ipython")}


def run(folder: Path, *words: str) -> str:
    done = subprocess.run([sys.executable, *words], cwd=folder, env=environment(folder), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def file(folder: Path) -> Iterator[Callable[[str], str]]:
    """Save code as a file and run that."""

    def run_code(code: str) -> str:
        (folder / "script.py").write_text(code)
        return run(folder, "script.py")

    yield run_code


@contextmanager
def option(folder: Path) -> Iterator[Callable[[str], str]]:
    """Run code with ``python -c``."""
    yield lambda code: run(folder, "-c", code)


@contextmanager
def notebook(folder: Path) -> Iterator[Callable[[str], str]]:
    """Run code as the cells of one notebook."""
    with run_kernel(cwd=str(folder), env=environment(folder)) as client:

        def run_code(code: str) -> str:
            said: list[str] = []

            def hear(message: dict) -> None:
                if message["msg_type"] == "stream" and message["content"]["name"] == "stdout":
                    said.append(message["content"]["text"])

            reply = client.execute_interactive(code, output_hook=hear)["content"]
            assert reply["status"] == "ok", "\n".join(reply["traceback"])
            return "".join(said)

        yield run_code


WAYS = pytest.mark.parametrize("way", [file, option, notebook], ids=lambda way: way.__name__)


def five_lines() -> str:
    (code,) = [code for language, code in BLOCK.findall((ROOT / "README.md").read_text()) if language]
    return code


def smaller(code: str) -> str:
    for old, new in SMALLER.items():
        assert code.count(old) == 1
        code = code.replace(old, new)
    return code


def error_told(said: str) -> float:
    return float(re.search(r"relative L2 error on test samples: ([\d.]+)%", said).group(1))


@WAYS
def test_the_five_lines_of_the_readme_run(way, tmp_path):
    with way(tmp_path) as run_code:
        assert 0.0 < error_told(run_code(smaller(five_lines()))) < 20.0
    assert (tmp_path / "darcy.gola").stat().st_size > 1000


@pytest.mark.slow
def test_the_five_lines_run_in_a_notebook_as_they_stand(tmp_path):
    with notebook(tmp_path) as run_code:
        # What is found in ten seconds depends on the machine: 1 % on a quiet one.
        assert error_told(run_code(five_lines())) < 40.0


# As files, with all commands between them, test_documents.py runs them.
@pytest.mark.parametrize("way", [option, notebook], ids=lambda way: way.__name__)
def test_the_python_of_the_tutorial_runs(way, tmp_path):
    said = ""
    with way(tmp_path) as run_code:
        for language, code in BLOCK.findall((ROOT / "docs" / "tutorial.md").read_text()):
            if language:
                said += run_code(code)
            elif code.startswith("gola import"):  # the other commands make nothing that the code needs
                run(tmp_path, "-m", *shlex.split(code.splitlines()[0]))
    assert float(re.search(r"test error ([\d.]+)%", said).group(1)) < 10.0
    centre, exactly = map(float, re.search(r"in the centre ([\d.]+) K, exactly ([\d.]+) K", said).groups())
    assert centre == pytest.approx(exactly, rel=0.05)


PARALLEL = """
import gola
from gola.problems import generation

generation._WORTH_WORKERS_SECONDS = 0.0
data = gola.generate(gola.make_problem("darcy", resolution=16), "darcy.h5", num_samples=60, num_workers=2)
print(len(data))
"""


@WAYS
def test_workers_can_be_started_without_a_main_guard(way, tmp_path):
    with way(tmp_path) as run_code:
        assert run_code(PARALLEL) == "60\n"
