"""Choose GOLA's presets by cross-validation on training samples: ``python -m benchmarks.presets``.

Thirty samples of 1000 points of each of the paper's problems are split into three folds; a variant is trained on two
and evaluated on the third, so no test sample is ever used. One run is one variant, problem and fold; it is written to
``results/presets/runs.csv`` as soon as it ends, and a second call does only the missing ones.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.runs import Runs
from gola import Dataset, TrainingConfig, evaluate, fit
from gola.operators import Gola, GolaConfig
from gola.problems import make_problem

RUNS = Runs(
    path=Path("results/presets/runs.csv"),
    columns=("variant", "problem", "fold", "epochs", "error", "training_error", "seconds", "parameters"),
    keys=("variant", "problem", "fold", "epochs"),
)
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
    """Do the missing runs of the chosen variants, problems and folds."""
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
    for fold in options.folds:
        for variant in options.variants:
            for problem in options.problems:
                if not RUNS.is_done(variant, problem, fold, options.epochs):
                    RUNS.append(*run(variant, problem, fold, options.epochs))


def run(variant: str, problem: str, fold: int, num_epochs: int) -> tuple[object, ...]:
    """Train one variant on all folds but one, and evaluate it on that one."""
    samples = training_set(problem)
    held_out = range(fold, NUM_TRAIN, NUM_FOLDS)
    kept = samples.select(row for row in range(NUM_TRAIN) if row not in held_out)
    surrogate = fit(kept, VARIANTS[variant], training=TrainingConfig(num_epochs=num_epochs))
    return (
        variant,
        problem,
        fold,
        num_epochs,
        f"{evaluate(surrogate, samples.select(held_out)).mean:.4f}",
        f"{surrogate.scores['training_error']:.4f}",
        f"{surrogate.provenance['seconds']:.0f}",
        surrogate.operator.num_parameters,
    )


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
    for row in RUNS.finished():
        errors.setdefault(row["variant"], {}).setdefault(row["problem"], []).append(float(row["error"]))
        others.setdefault(row["variant"], (row["parameters"], []))[1].append(float(row["seconds"]))
    print("| variant | parameters | " + " | ".join(PROBLEMS) + " | median seconds |")
    print("|---" * (len(PROBLEMS) + 3) + "|")
    for variant, found in errors.items():
        cells = [f"{np.mean(found[name]):.3f} ({len(found[name])})" if name in found else "–" for name in PROBLEMS]
        parameters, times = others[variant]
        print(f"| {variant} | {int(parameters):,} | {' | '.join(cells)} | {np.median(times):.0f} |")


if __name__ == "__main__":
    main()
