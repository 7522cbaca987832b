import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.__main__ import NAMES

ROOT = Path(__file__).parents[2]
MODULES = sorted(path.stem for path in (ROOT / "benchmarks").glob("[a-z]*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_a_module_of_the_benchmarks_can_be_imported(name):
    import_module(f"benchmarks.{name}")


def test_every_benchmark_measures_something():
    assert all(callable(import_module(f"benchmarks.{name}").measure) for name in NAMES)


def test_an_unknown_benchmark_is_answered_with_those_there_are():
    command = [sys.executable, "-m", "benchmarks", "stepp"]
    asked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert asked.returncode == 2
    assert "no benchmark 'stepp'; there are graph, aggregation, step, gkn" in asked.stderr
