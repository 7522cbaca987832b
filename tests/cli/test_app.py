"""What holds for all commands together."""

import json
import os
import subprocess
import sys
import warnings
from importlib.metadata import version

import pytest
import typer

from gola import cli
from gola.cli import app
from tests.cli.runs import success

COMMANDS = typer.main.get_command(app).commands
SLOW = ("torch", "scipy", "numpy", "h5py", "pandas", "matplotlib", "lightning", "distributed")


def test_the_version_is_that_of_the_package():
    assert success("--version").strip() == f"gola {version('gola')}"


def test_help_needs_none_of_the_slow_packages():
    code = (
        "import runpy, sys\n"
        "sys.argv = ['gola', '--help']\n"
        "try:\n    runpy.run_module('gola', run_name='__main__')\n"
        f"except SystemExit:\n    print([name for name in {SLOW!r} if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "Usage" in printed
    assert printed.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_print_json(name):
    assert "--json" in [option for parameter in COMMANDS[name].params for option in parameter.opts]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_installed(shell):
    assert "--install-completion" in success("--help")
    completed = complete(shell, "gola tra", 1)
    assert "train" in completed


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("gola train d.h5 --operator lin", "linear"),
        ("gola generate eik", "eikonal"),
        ("gola info --operator ker", "kernel"),
    ],
)
def test_names_of_operators_and_problems_are_completed(typed, wanted):
    assert wanted in complete("bash", typed, len(typed.split()) - 1).split()


def complete(shell, typed, word):
    """What a shell gets to complete a line."""
    environment = {**os.environ, "_GOLA_COMPLETE": f"complete_{shell}", "COMP_WORDS": typed, "COMP_CWORD": str(word)}
    environment |= {"_TYPER_COMPLETE_ARGS": typed, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    command = [sys.executable, "-c", "import sys; sys.argv = ['gola']; from gola.cli import app; app(prog_name='gola')"]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment).stdout


def test_problems_and_operators_are_printed_for_scripts():
    problems = {problem["name"]: problem for problem in json.loads(success("problems", "--json"))}
    assert problems["advection"]["symmetries"] == ["yx"]
    assert problems["advection"]["settings"]["resolution"] == 128
    assert problems["vorticity"]["periods"] == [1.0, 1.0]
    assert problems["deforming_channel"]["parameters"][0] == "bump_height from -0.4 to 0.5"
    operators = {operator["name"]: operator for operator in json.loads(success("operators", "--json"))}
    assert operators["linear"]["min_samples"] == 3
    assert operators["gola"]["presets"] == ["default", "paper"]


def test_a_warning_is_one_line_without_code(monkeypatch, capsys):
    def command():
        warnings.simplefilter("default")
        warnings.warn("the prediction is a guess", stacklevel=1)

    monkeypatch.setattr(cli, "app", command)
    cli.main()
    assert capsys.readouterr().err == "Warning: the prediction is a guess\n"
