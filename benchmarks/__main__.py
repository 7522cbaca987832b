"""``make bench``: run every benchmark, print its ratios and write them to results/benchmarks.json."""

import json
from pathlib import Path

from benchmarks import aggregation, gkn, graph, step

RESULTS = Path("results/benchmarks.json")
BENCHMARKS = {
    "graph": graph.measure,
    "aggregation": aggregation.measure,
    "step": step.measure,
    "gkn": gkn.measure,
}


def main() -> None:
    """Measure, print, write."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name, measure in BENCHMARKS.items():
        print(f"{name} ...", flush=True)
        measured = measure()
        for key, value in measured.items():
            print(f"  {key:32s} {value:.4g}", flush=True)
        results |= measured
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
