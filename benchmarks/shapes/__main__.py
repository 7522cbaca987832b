"""Every sample its own shape: ``python -m benchmarks.shapes [--problem NAME] [--seed N] [--method NAME]``.

Each run adds a line to ``results/shapes.jsonl``; those that are there are not repeated. ``--ablation`` measures what
each representation and step buys, and adds to ``results/shapes_ablation.jsonl``. ``--page`` writes the leaderboard of
all lines to ``docs/leaderboard.md``, with its figures.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.engineering.cases import Split
from benchmarks.shapes import ablation
from benchmarks.shapes.data import PROBLEMS, data_of, seeds_of
from benchmarks.shapes.figure import draw, draw_ablation
from benchmarks.shapes.methods import fitted
from benchmarks.shapes.page import page

RESULTS, PAGE = Path("results/shapes.jsonl"), Path("docs/leaderboard.md")
FIGURE, ABLATION = Path("docs/images/leaderboard.png"), Path("docs/images/shapes_ablation.png")
SECONDS = 120.0
METHODS = ("fitted_pde", "morphed_gp", "kernel", "linear", "pod_raster", "nearest", "mean")


def measure(
    name: str, seed: int, num_train: int, methods: list[str], num_points: int | None = None, seconds: float = SECONDS
) -> None:
    """Fit methods that have not been fitted to these samples, and keep their errors on the others."""
    about = {"problem": name, "seed": seed, "num_train": num_train, "num_points": num_points}
    known = [line for line in lines() if about.items() <= {"num_points": None, **line}.items()]
    wanted = [method for method in methods if method not in {line["operator"] for line in known}]
    if not wanted:
        return
    split, checksum = data_of(name, seed, num_train, num_points)
    for method in wanted:
        found = fitted(split, method, seconds)
        line: dict[str, Any] = {"operator": method, **about, "sha256": checksum}
        if found is not None:
            errors, channels = _errors(split, found.predictions)
            line |= {"error": errors, "channel_errors": channels, "seconds": found.seconds}
            line |= {"estimate": found.estimate, "chosen": found.chosen}
            with RESULTS.open("a") as file:
                file.write(json.dumps(line) + "\n")


def _errors(split: Split, predictions: list[np.ndarray]) -> tuple[float, list[float]]:
    """Return the mean relative error of all channels together, and of each."""
    pairs = [(found, sample.targets) for found, sample in zip(predictions, split.test, strict=True)]
    channels = [
        np.linalg.norm(found - truth, axis=0) / np.linalg.norm(truth, axis=0).clip(1e-300) for found, truth in pairs
    ]
    return float(split.errors(predictions).mean()), np.mean(channels, axis=0).tolist()


def lines() -> list[dict[str, Any]]:
    """Return what has been measured."""
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problem", nargs="*", default=PROBLEMS, choices=PROBLEMS)
    parser.add_argument("--seed", type=int, nargs="*", help="three of each problem by default")
    parser.add_argument("--num-train", type=int, default=30)
    parser.add_argument("--num-points", type=int, help="random points to keep; those of the mesh by default")
    parser.add_argument("--method", nargs="*", default=METHODS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="training of a network")
    parser.add_argument("--ablation", action="store_true", help="what each representation and step buys")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    if options.page:
        PAGE.write_text(page(lines(), ablation.lines()))
        draw(lines()).savefig(FIGURE, dpi=110)
        draw_ablation(ablation.lines()).savefig(ABLATION, dpi=110)
        return
    torch.set_num_threads(1)
    if options.ablation:
        ablation.measure(options.problem)
        return
    for name in options.problem:
        for seed in options.seed or seeds_of(name):
            measure(name, seed, options.num_train, options.method, options.num_points, options.seconds)


if __name__ == "__main__":
    main()
