"""Show the progress of many runs: a bar with the time left, lines for log files, and failures at once."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Column
from rich.text import Text

from gola.cli.console import INTERRUPTED, errors, say

if TYPE_CHECKING:
    from gola.protocol import Progress as TrainingStep
    from gola.runs import Outcome, RunConfig, RunStatus


def run_with_progress(
    runs: "Sequence[RunConfig]",
    folder: Path,
    *,
    num_workers: int | None = None,
    scheduler: str | None = None,
    keep: bool = False,
) -> "list[Outcome]":
    """Do the runs that have no result, with a bar; Ctrl-C ends the command and keeps finished runs."""
    from gola.runs import run_all  # PyTorch is slow to import

    with _RunsBar() as bar, _interruptible(bar, folder):
        return run_all(
            runs,
            folder,
            num_workers=num_workers,
            scheduler=scheduler,
            keep=keep,
            on_progress=bar.show,
            on_step=bar.show_step,
        )


def duration(seconds: float) -> str:
    """Format a time for people.

    >>> duration(0.0123), duration(5.04), duration(90), duration(7300)
    ('12 ms', '5.0 s', '1.5 min', '2.0 h')
    """
    for factor, unit, decimals in ((3600.0, "h", 1), (60.0, "min", 1), (1.0, "s", 1)):
        if seconds >= factor:
            return f"{seconds / factor:.{decimals}f} {unit}"
    return f"{1000 * seconds:.0f} ms" if seconds >= 0.001 else f"{1000 * seconds:.1f} ms"


@contextmanager
def _interruptible(bar: "_RunsBar", folder: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        bar.stop()
        say(f"Interrupted. Finished runs are kept in {folder}; run the same command to continue.", to=errors)
        raise typer.Exit(INTERRUPTED) from None


class _RunsBar(Progress):
    """A bar over runs, and one over the steps of the training in this process, if there is any."""

    def __init__(self) -> None:
        super().__init__(
            TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, ratio=1)),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            _TimeLeft(table_column=Column(no_wrap=True)),
            console=errors,
            expand=True,
            disable=not errors.is_terminal,
        )
        self._steps = self.add_task("", total=None, visible=False, end=None)
        self._runs = self.add_task("runs", total=None, end=None)

    def show(self, status: "RunStatus") -> None:
        """Show how many runs are done, and the latest one if it failed or if this is no terminal."""
        end = None if status.seconds_left is None else time.monotonic() + status.seconds_left
        self.update(self._runs, total=status.num_runs, completed=status.num_done, end=end)
        self.update(self._steps, visible=False)
        if status.last is None:
            self._announce(status)
            return
        message = getattr(status.last, "message", "")
        if message:
            say(f"Failed: {status.last.run.label}: {message}", to=errors)
        elif not errors.is_terminal:
            left = "" if not status.seconds_left else f", about {duration(status.seconds_left)} left"
            say(f"{status.num_done}/{status.num_runs} runs{left}: {status.last.run.label}", to=errors)

    def show_step(self, run: "RunConfig", step: "TrainingStep") -> None:
        """Show how far the training of a run is."""
        error = "" if step.last is None else f", training error {step.last.training_error:.4f}"
        description = f"{run.label}{error}"
        task = self.tasks[0]
        if not task.visible or task.fields.get("run") is not run:
            self.reset(self._steps, total=step.num_steps, completed=step.step, visible=True, run=run, end=None)
        elapsed, fraction = task.elapsed or 0.0, step.step / step.num_steps
        end = time.monotonic() + elapsed * (1.0 - fraction) / fraction if elapsed > 1.0 else None
        self.update(self._steps, completed=step.step, description=description, end=end)

    def _announce(self, status: "RunStatus") -> None:
        pending = status.num_runs - status.num_done
        parts = [f"{status.num_found} of {status.num_runs} runs are done already"] if status.num_found else []
        if status.num_outdated:
            parts.append(f"{status.num_outdated} have results of another code version and are repeated")
        if pending and not errors.is_terminal:  # where there is no bar that says so
            parts.append("1 run to do" if pending == 1 else f"{pending} runs to do")
        if pending and status.seconds_left:
            parts.append(f"about {duration(status.seconds_left)} left")
        if parts:
            say(f"{'; '.join(parts)}.", to=errors)


class _TimeLeft(ProgressColumn):
    """The time until the estimated end."""

    def render(self, task: Task) -> Text:
        """Return the time, or nothing where it is unknown."""
        end = task.fields.get("end")
        if task.finished or end is None:
            return Text("")
        return Text(f"about {duration(max(end - time.monotonic(), 1.0))} left")
