"""Errors of published networks on candidate laws: ``python -m paper.laws``, and ``--table`` for what is done.

One run is a law, a network, a number of training samples and a seed; it is written to
``results/calibration/laws.csv`` as soon as it ends, and a second call does only the missing ones.
"""

import argparse
import math
import time
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from benchmarks.runs import Runs
from gola.cli.console import output
from gola.problems.nonlinear_diffusion import NonlinearDiffusion
from paper.laws.networks import NETWORKS, relative_errors, trained_error
from paper.published import PPI_NO_DEEPONET, PPI_NO_FNO, TABLE_1

LAWS: dict[str, dict[str, float]] = {
    "zero mean (old)": {},
    "mean 1.5": {"mean_forcing": 1.5},
    "mean 2": {"mean_forcing": 2.0},
    "mean 2.5": {"mean_forcing": 2.5},
    "initial height 1": {"initial_height": 1.0},
    "mean 2, length 0.1": {"mean_forcing": 2.0, "length_scale": 0.1},
    "mean 1.5, length 0.1": {"mean_forcing": 1.5, "length_scale": 0.1},
}
SIZES = (5, 10, 20, 30)
MEAN = "mean"
_KEYS = ("law", "network", "samples", "resolution", "seed")
RUNS = Runs(path=Path("results/calibration/laws.csv"), columns=(*_KEYS, "error", "seconds"), keys=_KEYS)
# Seed 5 is the laboratory's development data, which no table uses.
NUM_TRAIN, NUM_TEST, DATA_SEED = 100, 100, 5

PUBLISHED = {
    "FNO": PPI_NO_FNO["nonlinear_diffusion"],
    "DeepONet": PPI_NO_DEEPONET["nonlinear_diffusion"],
    # The paper's GCN has the error of the mean of the training solutions on its other problems.
    MEAN: {30: TABLE_1["nonlinear_diffusion"]["gcn"]},
}

Pair = tuple[Float[Tensor, "sample row row"], Float[Tensor, "sample row row"]]


def main() -> None:
    """Do the missing runs, or print the table of those that are done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--laws", nargs="+", default=list(LAWS), choices=list(LAWS))
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--resolution", type=int, default=32, help="nodes along each axis")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--table", action="store_true", help="only print what is done, as Markdown")
    options = parser.parse_args()
    if options.table:
        output.print("\n".join(table(options.resolution)), soft_wrap=True)
        return
    torch.set_num_threads(1)
    for law in options.laws:
        run_law(law, options.sizes, options.resolution, options.seed)


def run_law(law: str, sizes: list[int], resolution: int, seed: int) -> None:
    """Do the missing runs of a law."""
    train, test = samples(law, resolution)
    rows = torch.randperm(NUM_TRAIN, generator=torch.Generator().manual_seed(seed))
    for network in (MEAN, *NETWORKS):
        for size in sizes:
            key = (law, network, size, resolution, seed)
            if RUNS.is_done(*key) or (network == MEAN and size not in PUBLISHED[MEAN]):
                continue
            start = time.perf_counter()
            known = train[0][rows[:size]], train[1][rows[:size]]
            if network == MEAN:
                error = float(relative_errors(known[1].mean(0).expand_as(test[1]), test[1]).mean())
            else:
                error = trained_error(network, known, test, seed=seed)
            RUNS.append(*key, f"{error:.4f}", f"{time.perf_counter() - start:.0f}")


def samples(law: str, resolution: int) -> tuple[Pair, Pair]:
    """Draw training and test samples."""
    made = NonlinearDiffusion(resolution=resolution, **LAWS[law]).generate(DATA_SEED, range(NUM_TRAIN + NUM_TEST))
    shape = (-1, resolution, resolution)
    inputs = torch.stack([torch.from_numpy(sample.inputs) for sample in made]).reshape(shape).float()
    targets = torch.stack([torch.from_numpy(sample.targets) for sample in made]).reshape(shape).float()
    return (inputs[:NUM_TRAIN], targets[:NUM_TRAIN]), (inputs[NUM_TRAIN:], targets[NUM_TRAIN:])


def table(resolution: int) -> list[str]:
    """Return the errors of each law beside the published ones, with the root mean square of the logarithmic ratio."""
    columns = [(network, size) for network, sizes in PUBLISHED.items() for size in sizes]
    heading = ["law", *(f"{network}, {size}" for network, size in columns), "factor"]
    printed = ["published", *(f"{PUBLISHED[network][size]:.3f}" for network, size in columns), ""]
    lines = [heading, ["---"] * len(heading), printed]
    for law in LAWS:
        errors = {
            (row["network"], int(row["samples"])): float(row["error"])
            for row in RUNS.finished()
            if row["law"] == law and int(row["resolution"]) == resolution
        }
        if errors:
            ratios = [errors[column] / PUBLISHED[column[0]][column[1]] for column in columns if column in errors]
            factor = math.exp(math.sqrt(sum(math.log(ratio) ** 2 for ratio in ratios) / len(ratios)))
            cells = [f"{errors[column]:.3f}" if column in errors else "–" for column in columns]
            lines.append([law, *cells, f"{factor:.2f}"])
    return ["| " + " | ".join(line) + " |" for line in lines]


if __name__ == "__main__":
    main()
