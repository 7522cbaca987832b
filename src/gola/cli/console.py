"""Standard output and standard error of the command line."""

import json
from typing import Any

from rich.console import Console

INTERRUPTED = 130
"""The exit code of a program that was stopped by Ctrl-C."""

output = Console(highlight=False)
errors = Console(stderr=True, highlight=False)


def say(text: str, *, to: Console = output) -> None:
    """Print text as it is, without line breaks of our own: paths and commands can be copied."""
    to.print(text, markup=False, soft_wrap=True)


def say_json(value: Any) -> None:
    """Print plain values for scripts."""
    output.print_json(json.dumps(value))


def warn(message: str) -> None:
    """Print a warning on one line of standard error."""
    errors.print("[bold yellow]Warning:[/]", end=" ")
    say(message, to=errors)
