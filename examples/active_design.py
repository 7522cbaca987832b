"""Choose simulations where they help most: suggest, solve, add, fit again; beside simulations drawn at random.

Run it with ``python examples/active_design.py``, or with another seed and numbers of rounds and of simulations in each:
``python examples/active_design.py 7 4 5``. The solver is that of a finned cooler, at a coarse resolution.
"""

import sys
import warnings
from collections.abc import Sequence

import numpy as np

from gola import Dataset, Sample, Surrogate, evaluate, fit
from gola.problems.finned_cooler import FinnedCooler

PROBLEM = FinnedCooler(resolution=1)
RANGES = {one.channel.name: (one.lower, one.upper) for one in PROBLEM.ranges}
NUM_START, NUM_TEST = 10, 40


def fitted(samples: Sequence[Sample]) -> Surrogate:
    """Fit a Gaussian process to the samples that there are."""
    data = Dataset.from_samples(samples, inputs=PROBLEM.inputs, targets=PROBLEM.targets, parameters=PROBLEM.parameters)
    return fit(data, "pod_gp", progress=False)


def main(seed: int, num_rounds: int, num_each: int) -> None:
    """Print the error after each round, of chosen simulations and of random ones."""
    drawn = PROBLEM.generate(seed, range(NUM_START + num_rounds * num_each + NUM_TEST))
    start, more, test = np.split(np.arange(len(drawn)), [NUM_START, len(drawn) - NUM_TEST])
    judges = Dataset.from_samples(
        [drawn[row] for row in test], inputs=PROBLEM.inputs, targets=PROBLEM.targets, parameters=PROBLEM.parameters
    )
    chosen = [drawn[row] for row in start]
    surrogate = fitted(chosen)
    print(f"{len(chosen)} simulations: error {evaluate(surrogate, judges, progress=False).mean:.4f}")
    for number in range(num_rounds):
        batch = surrogate.suggest(num=num_each, ranges=RANGES, seed=seed + number)
        chosen += [PROBLEM.simulate(np.array(one.parameters)) for one in batch.chosen]
        surrogate = fitted(chosen)
        at_random = fitted([drawn[row] for row in (*start, *more[: (number + 1) * num_each])])
        errors = [evaluate(one, judges, progress=False).mean for one in (surrogate, at_random)]
        print(f"{len(chosen)} simulations: error {errors[0]:.4f} where suggested, {errors[1]:.4f} at random")


if __name__ == "__main__":
    warnings.simplefilter("ignore", UserWarning)  # test samples may be beyond the first few simulations
    main(*map(int, sys.argv[1:] or ("0", "3", "5")))
