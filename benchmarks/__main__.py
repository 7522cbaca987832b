"""``make bench``: run every benchmark, print its ratios and write them to results/benchmarks.json.

``python -m benchmarks step`` runs one of them. Studies behind decisions and documents are modules of their own, with
``--help`` each: calibration, closed_form, error_against_time, floors, presets, projections.
"""

import argparse
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from gola.files import replacing

RESULTS = Path("results/benchmarks.json")
NAMES = ("graph", "aggregation", "step", "gkn", "fit_times", "prediction", "growth")


def main(names: list[str]) -> None:
    """Run benchmarks, each in a process of its own, so that none inherits the memory or threads of another."""
    if len(names) != 1:
        for name in names or NAMES:
            subprocess.run([sys.executable, "-m", "benchmarks", name], check=True)
        return
    print(f"{names[0]} ...", flush=True)
    measured = import_module(f"benchmarks.{names[0]}").measure()
    for part in [measured] if isinstance(measured, dict) else measured:
        keep(part)


def keep(measured: dict[str, float]) -> None:
    """Print what was measured, and write it beside what is known."""
    for key, value in measured.items():
        print(f"  {key:36s} {value:.4g}", flush=True)
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.parent.mkdir(exist_ok=True)
    with replacing(RESULTS) as temporary:
        temporary.write_text(json.dumps(results | measured, indent=2, sort_keys=True) + "\n")


def parsed() -> list[str]:
    """Read the names of benchmarks from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(NAMES)}; all by default")
    names: list[str] = parser.parse_args().names
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        parser.error(f"There is no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}.")
    return names


if __name__ == "__main__":
    main(parsed())
