"""Six problems of different kinds, small enough that all methods fit in seconds to a minute."""

from functools import lru_cache
from typing import Any

from benchmarks.engineering.cases import Split
from gola.data.dataset import Dataset
from gola.problems import make_problem

PROBLEMS: dict[str, tuple[str, dict[str, Any], int | None]] = {
    "linear, on a grid": ("darcy", {"resolution": 16}, None),
    "nonlinear, scattered points": ("eikonal", {"resolution": 24}, 300),
    "periodic, one dimension": ("burgers", {"resolution": 128}, None),
    "parameters, one mesh": ("block_heat", {"resolution": 5}, None),
    "moving mesh": ("deforming_channel", {}, None),
    "a mesh for each sample": ("perforated_darcy", {}, 400),
}
"""By kind: the problem, its settings, and how many points are kept of each sample."""

NUM_TRAIN, NUM_TEST = 30, 20
# No other study draws samples from this seed.
SEED = 25_600


@lru_cache(maxsize=len(PROBLEMS))
def split(kind: str) -> Split:
    """Return the training and test samples of a problem."""
    name, settings, num_points = PROBLEMS[kind]
    problem = make_problem(name, **settings)
    samples = problem.generate(SEED, range(NUM_TRAIN + NUM_TEST))
    channels = {name: getattr(problem, name) for name in ("inputs", "targets", "parameters")}
    data = Dataset.from_samples(samples, **channels, periods=problem.periods)
    data = data if num_points is None else data.subsample(num_points, seed=SEED)
    train, test = data.select(range(NUM_TRAIN)), data.select(range(NUM_TRAIN, NUM_TRAIN + NUM_TEST))
    return Split(problem=problem, train=train, test=test)
