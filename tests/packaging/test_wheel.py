import os
import subprocess
import sys
import tarfile
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with the sdist, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def python(built, tmp_path_factory):
    """The interpreter of a fresh environment with the wheel and its dependencies, and no extras."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    found = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(
        found,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--constraint",
        ROOT / "constraints.txt",
        only(built, "*.whl"),
        cwd=folder,
    )
    return found


def run(*words, cwd):
    """Run a command away from the repository, and show what it printed if it fails."""
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def only(folder, pattern):
    (found,) = folder.glob(pattern)
    return found


def test_the_wheel_holds_the_library_and_nothing_else(built):
    with ZipFile(only(built, "*.whl")) as wheel:
        names = wheel.namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"gola"}
    assert {"gola/__init__.py", "gola/py.typed", "gola/cli/__init__.py"} <= set(names)
    assert not [name for name in names if {"paper", "tests", "benchmarks"} & set(Path(name).parts)]


def test_the_sdist_holds_what_the_wheel_is_built_from(built):
    with tarfile.open(only(built, "*.tar.gz")) as archive:
        tops = {Path(name).parts[1] for name in archive.getnames()}
    assert {"src", "pyproject.toml", "README.md", "LICENSE"} <= tops
    assert not {"paper", "results", "tests"} & tops


def test_without_extras_it_fits_predicts_saves_and_loads(python, tmp_path):
    run(python, Path(__file__).with_name("core_only.py"), tmp_path, cwd=tmp_path)


def test_without_extras_the_command_line_works(python, tmp_path):
    gola = python.with_name("gola")
    assert "train" in run(gola, "--help", cwd=tmp_path)
    assert "linear" in run(gola, "operators", cwd=tmp_path)
    assert "heat_sink" in run(gola, "problems", cwd=tmp_path)
