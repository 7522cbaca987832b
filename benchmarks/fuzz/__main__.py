"""``python -m benchmarks.fuzz``: damage files, load them, print and keep a table of what happened."""

import argparse
import csv
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import torch

from benchmarks.fuzz.cases import VERDICTS, Outcome
from benchmarks.fuzz.specimens import make_specimens
from benchmarks.fuzz.workers import run_cases
from gola.files import replacing

RESULTS = Path("results/fuzz.csv")


def main() -> int:
    """Run the cases that the command line asks for; the exit code is 1 if any failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20.0, help="time limit of a case")
    options = parser.parse_args()
    os.nice(10)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        specimens = make_specimens(Path(folder))
        cases = range(options.first, options.first + options.cases)
        outcomes = []
        for outcome in run_cases(specimens, cases, options.seed, options.seconds):
            outcomes.append(outcome)
            if outcome.is_failure:
                print(f"case {outcome.case}: {outcome.kind}, {outcome.damage}: {outcome.verdict}", flush=True)
                print(outcome.message, flush=True)
    rows = table(outcomes)
    for row in rows:
        print("".join(f"{value!s:>20}" for value in row))
    write(rows)
    return int(any(outcome.is_failure for outcome in outcomes))


def table(outcomes: Sequence[Outcome]) -> list[list[str | int]]:
    """Count verdicts for every kind of file; forged files in rows of their own."""
    counts = Counter((_row(outcome), outcome.verdict) for outcome in outcomes)
    names = sorted({_row(outcome) for outcome in outcomes})
    rows: list[list[str | int]] = [["file", "cases", *VERDICTS]]
    for name in names:
        numbers = [counts[name, verdict] for verdict in VERDICTS]
        rows.append([name, sum(numbers), *numbers])
    totals = [sum(counts[name, verdict] for name in names) for verdict in VERDICTS]
    return [*rows, ["all", sum(totals), *totals]]


def write(rows: Sequence[Sequence[str | int]]) -> None:
    """Keep the table."""
    RESULTS.parent.mkdir(exist_ok=True)
    with replacing(RESULTS) as temporary, temporary.open("w", newline="") as file:
        csv.writer(file).writerows(rows)


def _row(outcome: Outcome) -> str:
    return f"{outcome.kind}, forged" if outcome.damage == "forged" else outcome.kind


if __name__ == "__main__":
    sys.exit(main())
