"""``make bench``: run every benchmark, print its ratios and write them to results/benchmarks.json.

``python -m benchmarks step`` runs one of them.
"""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

RESULTS = Path("results/benchmarks.json")
NAMES = ("graph", "aggregation", "step", "gkn")


def main(names: list[str]) -> None:
    """Run benchmarks, each in a process of its own, so that none inherits the memory or threads of another."""
    if len(names) != 1:
        for name in names or NAMES:
            subprocess.run([sys.executable, "-m", "benchmarks", name], check=True)
        return
    print(f"{names[0]} ...", flush=True)
    measured = import_module(f"benchmarks.{names[0]}").measure()
    for key, value in measured.items():
        print(f"  {key:36s} {value:.4g}", flush=True)
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results | measured, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
