"""What is imported with what: a program waits for, and needs installed, only what it uses."""

import subprocess
import sys

import pytest

# What the core does without, and what is slow to import and of no use to most programs.
EXTRAS = ("dask", "distributed", "eikonalfm", "lightning", "matplotlib", "meshio", "shapely", "skfem")


def imported_by(statements: str) -> set[str]:
    """Return the top-level packages that are imported after some statements, in a process of their own."""
    code = f"import sys\n{statements}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "module", ["gola", "gola.data.dataset", "gola.data.formats", "gola.data.inspection", "gola.geometry"]
)
def test_data_need_neither_torch_nor_extras(module):
    found = imported_by(f"import {module}")
    assert "numpy" in found or module == "gola"
    assert not found & {"torch", *EXTRAS}


def test_problems_need_neither_torch_nor_extras_until_they_are_solved():
    found = imported_by(
        "from gola.registry import PROBLEMS\nfrom gola.problems.generation import generate\nPROBLEMS.values()"
    )
    assert not found & {"torch", *EXTRAS}


def test_workers_that_solve_do_not_load_torch():
    found = imported_by("import gola\ngola.make_problem('perforated_darcy').generate(0, [0])")
    assert "skfem" in found
    assert "torch" not in found


def test_fitting_and_the_command_line_need_no_extras():
    found = imported_by(
        "import gola, gola.cli, gola.runs\nfrom gola.registry import OPERATORS\ngola.fit\nOPERATORS.values()"
    )
    assert {"torch", "typer"} <= found
    assert not found & {*EXTRAS}
