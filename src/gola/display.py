"""Show how far a long call is: a bar on a terminal or in a notebook, plain lines elsewhere."""

import sys
import threading
import time
from types import TracebackType
from typing import final

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column

# Calls that end sooner show nothing.
_QUIET_SECONDS = 1.0
_SECONDS_BETWEEN_LINES = 10.0
_POLL_SECONDS = 0.2


@final
class Display:
    """What a call that takes long shows on standard error, from the first second on.

    ::

        with Display("Fitting auto") as display:
            display.update("training spectral, kernel 0.104", done=120, total=4000)

    Args:
        title: What is being done.
        enabled: False to show nothing.
    """

    def __init__(self, title: str, *, enabled: bool = True) -> None:
        self._title = title
        self._enabled = enabled
        self._message, self._done, self._total = "", 0.0, None
        self._began = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)

    _done: float
    _total: float | None

    def __enter__(self) -> "Display":
        if self._enabled:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._enabled:
            self._thread.join()

    def update(self, message: str, done: float = 0.0, total: float | None = None) -> None:
        """Say what is being done now, and how much of how much is done where that is known."""
        self._message, self._done, self._total = message, done, total

    def _show(self) -> None:
        if self._ended.wait(_QUIET_SECONDS):
            return
        console = Console(stderr=True, highlight=False)
        if console.is_terminal or console.is_jupyter:
            self._show_bar(console)
        else:
            self._show_lines()

    def _show_bar(self, console: Console) -> None:
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, overflow="fold")),
            BarColumn(bar_width=20, table_column=_fixed(20)),
            TimeElapsedColumn(table_column=_fixed(7)),
            TextColumn("left", table_column=_fixed(4)),
            TimeRemainingColumn(table_column=_fixed(7)),
        )
        with Progress(*columns, console=console, transient=True, expand=True) as bar:
            task = bar.add_task(self._title, total=None)
            while not self._ended.wait(_POLL_SECONDS):
                bar.update(task, description=self._text(), completed=self._done, total=self._total)

    def _show_lines(self) -> None:
        due = 0.0
        while True:
            if time.monotonic() >= due:
                due = time.monotonic() + _SECONDS_BETWEEN_LINES
                sys.stderr.write(f"{self._text()}, {self._times()}\n")
                sys.stderr.flush()
            if self._ended.wait(_POLL_SECONDS):
                return

    def _text(self) -> str:
        return f"{self._title}: {self._message}" if self._message else self._title

    def _times(self) -> str:
        elapsed = time.monotonic() - self._began
        if not self._total or not self._done:
            return f"{elapsed:.0f} s"
        left = elapsed * (self._total - self._done) / self._done
        return f"{self._done:.0f} of {self._total:.0f}, {elapsed:.0f} s, about {left:.0f} s left"


def _fixed(width: int) -> Column:
    """Return a column that a long message cannot squeeze."""
    return Column(no_wrap=True, min_width=width)
