"""The data: fresh samples of each problem, the same training and test samples for all methods."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from gola.data.dataset import Dataset
from gola.data.sample import as_rows
from gola.problems import Problem, make_problem
from gola.problems.generation import generate

# Settings that keep a sample below a second, where the problem's own do not.
PROBLEMS: dict[str, dict[str, Any]] = {
    "block_heat": {},
    "flow_past_body": {"element_size": 0.2},
    "deforming_channel": {},
    "moving_source": {"element_size": 0.003, "num_times": 12},
    "burgers": {},
    "vorticity": {"resolution": 32},
    "finned_cooler": {"resolution": 1},
    "darcy": {"resolution": 32},
    "advection": {"resolution": 32},
    "eikonal": {"resolution": 32},
    "nonlinear_diffusion": {"resolution": 32},
    "perforated_darcy": {},
    "plate_elasticity": {},
    "heat_sink": {},
}
SIZES = (10, 30, 100)
NUM_TEST = 40
# No other study draws samples from these seeds: neither the paper's tables nor what operators were developed on.
FIRST_SEED = 24_000
FOLDER = Path("data/engineering")


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """Training and test samples of a problem.

    Attributes:
        problem: What the samples are solutions of.
        train: The training samples.
        test: The test samples.
    """

    problem: Problem
    train: Dataset
    test: Dataset

    @cached_property
    def scales(self) -> Float[np.ndarray, " channel"]:
        """Typical size of each target channel among the training samples: channels of other units count alike."""
        spread = np.concatenate([as_rows(sample.targets) for sample in self.train]).std(axis=0)
        return np.where(spread > 0.0, spread, 1.0)

    @property
    def has_nodes(self) -> bool:
        """Whether a row means the same place, or the same node of a moved mesh, in all samples."""
        return self.train.correspondence != "none"

    def snapshots(self, data: Dataset) -> Float[np.ndarray, "sample value"]:
        """Return the targets of each sample, of all channels and times, as one row in units of their scales."""
        return np.stack([(sample.targets / self.scales).ravel() for sample in data])

    def errors(self, predictions: list[Float[np.ndarray, "*any"]]) -> Float[np.ndarray, " sample"]:
        """Return the relative L2 error of each test sample, given predictions in the units of the data."""
        return np.array(
            [
                np.linalg.norm((found.reshape(sample.targets.shape) - sample.targets) / self.scales)
                / np.linalg.norm(sample.targets / self.scales)
                for found, sample in zip(predictions, self.test, strict=True)
            ]
        )


@lru_cache(maxsize=1)
def all_samples(name: str, seed: int) -> tuple[Problem, Dataset]:
    """Return the problem and the samples that training and test samples are drawn from; made once, kept on disk."""
    problem = make_problem(name, **PROBLEMS[name])
    path = FOLDER / f"{name}-{seed}.h5"
    path.parent.mkdir(parents=True, exist_ok=True)
    count = max(SIZES) + NUM_TEST
    return problem, generate(problem, path, num_samples=count, seed=FIRST_SEED + seed, num_workers=1).in_memory()


def split(name: str, num_train: int, seed: int) -> Split:
    """Draw training samples; a larger number adds to the same, and the test samples stay the same."""
    problem, data = all_samples(name, seed)
    train, test = data.split(num_train=num_train, num_test=NUM_TEST, seed=seed)
    return Split(problem=problem, train=train, test=test)
