"""Our FNO beside published results, on the full grid: ``python -m benchmarks.calibration``.

The paper gives no equations and no parameters of its problems, so this is how we know that ours are like theirs: the
same network, trained on as many samples, should have about the same error. Training follows the settings that the same
group published for its FNO, except that the learning rate follows a cosine schedule and that no test sample chooses the
epoch. One run is one variant of a problem and one seed; it is written to ``results/calibration/runs.csv`` as soon as it
ends, and a second call does only the missing ones. ``--table`` prints the finished ones.
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.runs import Runs
from gola import Dataset, TrainingConfig, evaluate, fit
from gola.problems import make_problem

RUNS = Runs(
    path=Path("results/calibration/runs.csv"),
    columns=("variant", "seed", "epochs", "error", "training_error", "seconds"),
    keys=("variant", "seed"),
)
NUM_SAMPLES, NUM_TRAIN, NUM_TEST = 200, 30, 100
# Presets were chosen on samples of seed 0, so none of those may be a test sample.
DATA_SEED = 1

# Name, problem, its parameters, epochs, and the errors that the paper and PPI-NO (arXiv 2502.02682) print.
VARIANTS: dict[str, tuple[str, dict[str, float], int, float, float]] = {
    "darcy": ("darcy", {}, 150, 0.1678, 0.1645),
    "nonlinear diffusion": ("nonlinear_diffusion", {}, 150, 0.0793, 0.0551),
    "eikonal, length 0.1": ("eikonal", {"length_scale": 0.1}, 150, 0.0874, 0.0843),
    "eikonal, length 0.2": ("eikonal", {"length_scale": 0.2}, 150, 0.0874, 0.0843),
    "advection, 100 centres": ("advection", {"num_centres": 100}, 300, 0.3873, 0.4035),
    "advection, 10 centres": ("advection", {"num_centres": 10}, 300, 0.3873, 0.4035),
    "darcy, coefficient 1": ("darcy", {"coefficient_seed": 1}, 150, 0.1678, 0.1645),
}


def main() -> None:
    """Do the missing runs of the chosen variants and seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--table", action="store_true", help="only print what is finished, as Markdown")
    options = parser.parse_args()
    if options.table:
        print_table()
        return
    for seed in options.seeds:
        for variant in options.variants:
            if not RUNS.is_done(variant, seed):
                RUNS.append(*run(variant, seed))


def run(variant: str, seed: int) -> tuple[object, ...]:
    """Train on 30 samples, and evaluate on 100 others."""
    name, parameters, num_epochs, _, _ = VARIANTS[variant]
    problem = make_problem(name, **parameters)
    samples = problem.generate(DATA_SEED, range(NUM_SAMPLES))
    data = Dataset.from_samples(samples, inputs=problem.inputs, targets=problem.targets)
    train, test = data.split(num_train=NUM_TRAIN, num_test=NUM_TEST, seed=seed)
    surrogate = fit(train, "fno", training=TrainingConfig(num_epochs=num_epochs, batch_size=10), seed=seed)
    return (
        variant,
        seed,
        num_epochs,
        f"{evaluate(surrogate, test).mean:.4f}",
        f"{surrogate.scores['training_error']:.4f}",
        f"{surrogate.provenance['seconds']:.0f}",
    )


def print_table() -> None:
    """Print mean and spread over seeds beside the published errors."""
    errors: dict[str, list[float]] = {}
    for row in RUNS.finished():
        errors.setdefault(row["variant"], []).append(float(row["error"]))
    print("| problem | our FNO | seeds | the paper's FNO | ours / the paper's | PPI-NO's FNO |")
    print("|---|---|---|---|---|---|")
    for variant, found in errors.items():
        paper, ppi_no = VARIANTS[variant][3:]
        spread = f" ± {np.std(found, ddof=1):.4f}" if len(found) > 1 else ""
        mean = float(np.mean(found))
        print(f"| {variant} | {mean:.4f}{spread} | {len(found)} | {paper} | {mean / paper:.2f} | {ppi_no} |")


if __name__ == "__main__":
    main()
