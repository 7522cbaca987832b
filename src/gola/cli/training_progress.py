"""Show the progress of a fit, and end it in good order on Ctrl-C."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from gola.cli.console import errors, say
from gola.cli.interruption import stop_on_signals

if TYPE_CHECKING:
    from gola.protocol import Session
    from gola.runs import RunConfig


@contextmanager
def watched(run: "RunConfig", session: "Session") -> "Iterator[Session]":
    """Show the progress of a fit, and stop a training in good order on Ctrl-C or SIGTERM.

    Args:
        run: What is fitted.
        session: How to run it.

    Yields:
        The session to run it with.
    """
    from gola.surrogate.fit import shown  # PyTorch is slow to import

    first = session.is_first_process
    with shown(f"Fitting {run.operator}", session, enabled=first) as displayed:
        if not run.heeds("session"):
            yield displayed
            return
        with stop_on_signals(_announce_stop if first else _stay_silent) as stop:
            yield replace(displayed, stop=stop)


def _announce_stop() -> None:
    say("Stopping after this step; press Ctrl-C again to stop at once.", to=errors)


def _stay_silent() -> None:
    pass
