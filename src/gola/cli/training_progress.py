"""Show the progress of a fit: a bar for people, a line from time to time for log files."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from gola.cli.console import errors, say
from gola.cli.interruption import stop_on_signals

if TYPE_CHECKING:
    from gola.protocol import Progress as TrainingStep
    from gola.protocol import Session
    from gola.runs import RunConfig

_SECONDS_BETWEEN_LINES = 30.0


@contextmanager
def watched(run: "RunConfig", session: "Session") -> "Iterator[Session]":
    """Show the progress of a fit, and stop a training in good order on Ctrl-C or SIGTERM.

    Args:
        run: What is fitted.
        session: How to run it.

    Yields:
        The session to run it with.
    """
    if not run.heeds("session"):
        with _spinner(f"Fitting {run.operator}"):
            yield session
        return
    first = session.is_first_process
    with (
        TrainingBar(f"Training {run.operator}", disabled=not first) as bar,
        stop_on_signals(_announce_stop if first else _stay_silent) as stop,
    ):
        yield replace(session, on_progress=bar.show, stop=stop)


class TrainingBar:
    """A bar with step, epoch, errors and time left on standard error; lines where that is no terminal."""

    def __init__(self, title: str, *, disabled: bool = False) -> None:
        self._title = title
        self._last_line = time.monotonic()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:.0f}/{task.total:.0f} steps{task.fields[state]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=errors,
            disable=disabled or not errors.is_terminal,
        )

    def __enter__(self) -> "TrainingBar":
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bar.stop()

    def show(self, now: "TrainingStep") -> None:
        """Show how far the training is."""
        if errors.is_terminal:
            self._update(now)
        elif time.monotonic() - self._last_line >= _SECONDS_BETWEEN_LINES or now.step == now.num_steps:
            self._last_line = time.monotonic()
            say(f"{self._title}: {now.step}/{now.num_steps} steps{_state(now)}", to=errors)

    def _update(self, now: "TrainingStep") -> None:
        if not self._bar.task_ids:
            # Steps of an earlier session would make the time left look too short, so the clock starts after them.
            self._bar.add_task(self._title, total=now.num_steps, completed=now.step - 1, state="")
        self._bar.update(self._bar.task_ids[0], completed=now.step, state=_state(now))


def _spinner(title: str) -> Progress:
    """Return a spinner with the elapsed time, for work of unknown length."""
    bar = Progress(
        SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=errors, transient=True
    )
    bar.add_task(title, total=None)
    return bar


def _announce_stop() -> None:
    say("Stopping after this step; press Ctrl-C again to stop at once.", to=errors)


def _stay_silent() -> None:
    pass


def _state(now: "TrainingStep") -> str:
    if now.last is None:
        return ", epoch 1"
    parts = [f"epoch {now.last.number + 1}", f"training error {now.last.training_error:.4f}"]
    if now.last.validation_error is not None:
        parts.append(f"validation error {now.last.validation_error:.4f}")
    return ", " + ", ".join(parts)
