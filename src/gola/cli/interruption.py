"""Ctrl-C and SIGTERM: finish the step, keep the state, and only then stop."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stop_on_signals(on_first: Callable[[], object]) -> Iterator[Callable[[], bool]]:
    """Remember the first SIGINT or SIGTERM until the training asks for it; a second one interrupts at once.

    Args:
        on_first: Called when the first signal comes.

    Yields:
        A function that says whether a signal has come.
    """
    came = False

    def receive(_number: int, _frame: FrameType | None) -> None:
        nonlocal came
        if came:
            raise KeyboardInterrupt
        came = True
        on_first()

    before = {number: signal.signal(number, receive) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
