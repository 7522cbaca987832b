"""Tiny data sets and runs for tests of the command line."""

from typer.testing import CliRunner

from gola.cli import app

TINY = (
    "--operator",
    "gola",
    "--set",
    "width=8",
    "--set",
    "num_modes=8",
    "--set",
    "num_heads=1",
    "--batch-size",
    3,
    "--logger",
    "none",
)


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def success(*words):
    """Run a command that must work, and return what it prints on standard output."""
    result = run(*words)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def failure(*words):
    """Run a command that must fail, and return what it would print."""
    result = run(*words)
    assert isinstance(result.exception, ValueError), (result.output, result.exception)
    return str(result.exception)


def generated(folder, num_samples=10):
    """Write a data set of 256 points per sample."""
    file = folder / "darcy.h5"
    success(
        "generate", "darcy", "--num-samples", num_samples, "--set", "resolution=16", "--num-workers", 1, "--out", file
    )
    return file
