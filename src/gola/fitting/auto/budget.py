"""The time that a choice may take, and what fits into it."""

import math
import time
from dataclasses import dataclass, field
from typing import final

# A closed form cannot be interrupted, so none is begun once this share of the time has passed,
_LAST_START = 0.5
# nor where less is left than the slowest one took, times this: the cheapest come first.
_SLOWER = 2.0
# Fewer steps teach a network nothing.
_FEWEST_STEPS = 300
# Networks whose training would go on for longer than the limit times this are given up.
_GRACE = 1.1


class OutOfTime(Exception):  # noqa: N818  # nothing went wrong
    """Raised where networks are given up because the time is over."""


@final
@dataclass(frozen=True, kw_only=True)
class Budget:
    """A limit on the time from now on.

    Attributes:
        seconds: The limit; None for none.
    """

    seconds: float | None = None
    _began: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """Seconds that are left, none where the limit has passed."""
        return math.inf if self.seconds is None else max(0.0, self._began + self.seconds - time.monotonic())

    def allows_another_fit(self, slowest: float = 0.0) -> bool:
        """Whether there is time to begin with another closed form.

        >>> Budget(seconds=10.0).allows_another_fit(), Budget(seconds=10.0).allows_another_fit(slowest=6.0)
        (True, False)

        Args:
            slowest: Seconds that the slowest one took so far.
        """
        if self.seconds is None:
            return True
        return self.left > max((1.0 - _LAST_START) * self.seconds, _SLOWER * slowest)

    @property
    def is_over(self) -> bool:
        """Whether the limit has passed, with some grace for what is nearly done."""
        return self.seconds is not None and time.monotonic() > self._began + _GRACE * self.seconds

    def num_steps(self, wanted: int, seconds_for_all: float) -> int:
        """Return how many steps networks can be trained for; none where the time is too short to be worth it.

        >>> Budget().num_steps(2000, seconds_for_all=300.0)
        2000
        >>> Budget(seconds=1.0).num_steps(2000, seconds_for_all=300.0)
        0

        Args:
            wanted: Steps of each network where time is no matter.
            seconds_for_all: How long all networks would take with these.
        """
        share = min(1.0, self.left / seconds_for_all) if seconds_for_all > 0.0 else 1.0
        steps = math.floor(share * wanted)
        return steps if steps >= min(_FEWEST_STEPS, wanted) else 0
