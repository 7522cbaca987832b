"""Where the command line writes to, and how it shows that it is at work."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

INTERRUPTED = 130
"""The exit code of a program that was stopped by Ctrl-C."""

output = Console(highlight=False)
errors = Console(stderr=True, highlight=False)


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
