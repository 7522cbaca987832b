"""Choose GOLA's presets by cross-validation on training samples: ``python -m benchmarks.presets``.

Thirty samples of 1000 points of each of the paper's problems are cut into three folds; a variant is trained on two
and judged on the third, so no test sample is ever seen. One run is one variant, problem and fold; it is written to
``results/presets/runs.csv`` as soon as it ends, and a second call does only what is missing.
"""

import argparse
import csv
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from gola.data.dataset import Dataset
from gola.operators import Gola, GolaConfig
from gola.problems import make_problem
from gola.training import Scaling, TrainingConfig, train

RUNS = Path("results/presets/runs.csv")
COLUMNS = ("variant", "problem", "fold", "epochs", "error", "training_error", "seconds", "parameters")
PROBLEMS = ("darcy", "advection", "eikonal", "nonlinear_diffusion")
NUM_TRAIN, NUM_POINTS, NUM_FOLDS = 30, 1000, 3

SMALL = GolaConfig(width=64, num_modes=32, num_blocks=1, num_heads=2, radius=0.1, frequency_scale=2.0)
VARIANTS: dict[str, GolaConfig] = {
    "paper": Gola.presets["paper"],
    "one block": SMALL,
    "two blocks": replace(SMALL, num_blocks=2),
    "three blocks": replace(SMALL, num_blocks=3),
    "width 32": replace(SMALL, width=32),
    "width 96": replace(SMALL, width=96),
    "12 modes": replace(SMALL, num_modes=12),
    "64 modes": replace(SMALL, num_modes=64),
    "128 modes": replace(SMALL, num_modes=128),
    "256 modes": replace(SMALL, num_modes=256),
    "128 modes, two blocks": replace(SMALL, num_modes=128, num_blocks=2),
    "128 modes, frequencies 1": replace(SMALL, num_modes=128, frequency_scale=1.0),
    "128 modes, frequencies 4": replace(SMALL, num_modes=128, frequency_scale=4.0),
    "radius 0.07": replace(SMALL, radius=0.07),
    "radius 0.15": replace(SMALL, radius=0.15),
    "frequencies 1": replace(SMALL, frequency_scale=1.0),
    "frequencies 4": replace(SMALL, frequency_scale=4.0),
    "absolute edges": replace(SMALL, edge_coordinates="absolute"),
    "no residual": replace(SMALL, attention_residual=False),
    "channel norm": replace(SMALL, normalisation="channel"),
}


def main() -> None:
    """Run what is missing of the chosen variants, problems and folds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=PROBLEMS)
    parser.add_argument("--folds", nargs="+", type=int, default=list(range(NUM_FOLDS)))
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--table", action="store_true", help="only print what is finished, as Markdown")
    options = parser.parse_args()
    if options.table:
        print_table()
        return
    done = {(row["variant"], row["problem"], int(row["fold"]), int(row["epochs"])) for row in finished_runs()}
    for fold in options.folds:
        for variant in options.variants:
            for problem in options.problems:
                if (variant, problem, fold, options.epochs) not in done:
                    row = run(variant, problem, fold, options.epochs)
                    append(row)
                    print({name: row[name] for name in COLUMNS}, flush=True)


def run(variant: str, problem: str, fold: int, num_epochs: int) -> dict[str, object]:
    """Train one variant on all folds but one and return its error on that one."""
    samples = training_set(problem)
    held_out = range(fold, NUM_TRAIN, NUM_FOLDS)
    kept = [samples[row] for row in range(NUM_TRAIN) if row not in held_out]
    config = VARIANTS[variant]
    scaling = Scaling.fit(kept)
    prepared = [scaling.prepare(sample, config.radius) for sample in samples]
    torch.manual_seed(0)
    operator = Gola(config)
    start = time.perf_counter()
    last = []
    train(
        operator,
        [prepared[row] for row in range(NUM_TRAIN) if row not in held_out],
        scaling,
        TrainingConfig(num_epochs=num_epochs),
        on_epoch=lambda _, error: last.append(error),
    )
    seconds = time.perf_counter() - start
    errors = scaling.errors(operator, [prepared[row] for row in held_out])
    return dict(
        zip(
            COLUMNS,
            (variant, problem, fold, num_epochs, f"{errors.mean():.4f}", f"{last[-1]:.4f}", f"{seconds:.0f}",
             operator.num_parameters),
            strict=True,
        )
    )  # fmt: skip


def training_set(problem: str) -> Dataset:
    """Return the training samples of the first seed: 30 of 130, each at its own 1000 points."""
    chosen = np.random.default_rng(0).permutation(130)[:NUM_TRAIN].tolist()
    kind = make_problem(problem)
    samples = kind.generate(0, sorted(chosen))
    dataset = Dataset.from_samples(samples, inputs=kind.inputs, targets=kind.targets)
    return dataset.subsample(NUM_POINTS, seed=0)


def print_table() -> None:
    """Print the mean error over folds of every variant and problem, with the number of folds."""
    errors: dict[str, dict[str, list[float]]] = {}
    others: dict[str, tuple[str, list[float]]] = {}
    for row in finished_runs():
        errors.setdefault(row["variant"], {}).setdefault(row["problem"], []).append(float(row["error"]))
        others.setdefault(row["variant"], (row["parameters"], []))[1].append(float(row["seconds"]))
    print("| variant | parameters | " + " | ".join(PROBLEMS) + " | median seconds |")
    print("|---" * (len(PROBLEMS) + 3) + "|")
    for variant, found in errors.items():
        cells = [f"{np.mean(found[name]):.3f} ({len(found[name])})" if name in found else "–" for name in PROBLEMS]
        parameters, times = others[variant]
        print(f"| {variant} | {int(parameters):,} | {' | '.join(cells)} | {np.median(times):.0f} |")


def finished_runs() -> Iterator[dict[str, str]]:
    """Yield the rows that are on disk."""
    if RUNS.exists():
        with RUNS.open() as file:
            yield from csv.DictReader(file)


def append(row: dict[str, object]) -> None:
    """Add a finished run to the file."""
    RUNS.parent.mkdir(parents=True, exist_ok=True)
    new = not RUNS.exists()
    with RUNS.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if new:
            writer.writeheader()
        writer.writerow(row)


if __name__ == "__main__":
    main()
