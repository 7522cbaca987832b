"""The leaderboard as a page."""

from collections import defaultdict
from typing import Any


def page(lines: list[dict[str, Any]]) -> str:
    """Return the leaderboard: means over seeds, best first."""
    raise NotImplementedError
