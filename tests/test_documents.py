"""What README and documentation show runs as it stands."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(python)?\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)


def run_python(code, folder):
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, timeout=300, env=quiet())


def run_commands(lines, folder):
    for line in lines.strip().splitlines():
        command, *options = shlex.split(line, comments=True)
        assert command == "gola", line
        subprocess.run([sys.executable, "-m", "gola", *options], cwd=folder, check=True, timeout=300, env=quiet())


def quiet():
    # Two programs that each use all cores stand in each other's way.
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def blocks(document):
    return [(language, code) for language, code in BLOCK.findall((ROOT / document).read_text())]


def test_the_tutorial_runs_from_the_first_line_to_the_last(tmp_path, capfd):
    for language, code in blocks("docs/tutorial.md"):
        (run_python if language else run_commands)(code, tmp_path)
    said = capfd.readouterr().out
    error = float(re.search(r"test error ([\d.]+)%", said).group(1))
    assert error < 10.0
    centre, exactly = map(float, re.search(r"in the centre ([\d.]+) K, exactly ([\d.]+) K", said).groups())
    assert centre == pytest.approx(exactly, rel=0.05)
    for made in ("plate.gola", "case_007.vtu", "runs/plate/surrogate.gola", "runs/plate/fields.png"):
        assert (tmp_path / made).stat().st_size > 1000


def test_the_python_of_the_readme_runs(tmp_path, capfd):
    code = [code for language, code in blocks("README.md") if language]
    assert code
    for block in code:
        run_python(block, tmp_path)
    assert "area 0.9600" in capfd.readouterr().out
