"""The page and the figure of finished cells."""

from benchmarks.runs import Runs
from pathlib import Path

KEYS = ("problem", "samples", "seed", "method")
RUNS = Runs(
    path=Path("results/engineering.csv"),
    columns=(*KEYS, "error", "standard_error", "estimated_error", "seconds", "chosen", "version"),
    keys=KEYS,
)


def write_report() -> None:
    """Write."""
