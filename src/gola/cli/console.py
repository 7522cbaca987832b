"""Where the command line writes to, and how it shows that it is at work."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

INTERRUPTED = 130
"""The exit code of a program that was stopped by Ctrl-C."""

output = Console(highlight=False)
errors = Console(stderr=True, highlight=False)


def warn(message: str) -> None:
    """Print a warning on one line of standard error."""
    errors.print("[bold yellow]Warning:[/]", end=" ")
    errors.print(message, markup=False, soft_wrap=True)


def progress_bar() -> Progress:
    """Return a bar with counts, elapsed and remaining time, on standard error so that output can be piped."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=errors,
    )
