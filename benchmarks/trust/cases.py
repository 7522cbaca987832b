"""Small data sets of every built-in problem: at most a hundred points or so, so that thousands of fits take an hour."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from gola.data.dataset import Dataset
from gola.problems import make_problem
from gola.problems.generation import generate

# Settings of a coarse version of each problem,
PROBLEMS: dict[str, dict[str, Any]] = {
    "darcy": {"resolution": 24},
    "advection": {"resolution": 12},
    "eikonal": {"resolution": 24},
    "nonlinear_diffusion": {"resolution": 12},
    "burgers": {"resolution": 64},
    "vorticity": {"resolution": 12},
    "perforated_darcy": {"finest": 0.013, "coarsest": 0.1},
    "plate_elasticity": {"finest": 0.02, "coarsest": 0.1},
    "heat_sink": {"finest": 0.0023, "coarsest": 0.02, "num_layers": 2},
    "block_heat": {"resolution": 4},
    "flow_past_body": {"element_size": 0.4},
    "deforming_channel": {"resolution": 8},
    "moving_source": {"element_size": 0.008, "num_times": 6},
    "finned_cooler": {"resolution": 1},
}
# and the points that are kept of meshes that cannot be made coarser, and of two problems that are seen scattered.
MOST_POINTS, SCATTERED = 60, ("darcy", "eikonal")
NUM_SAMPLES = 150
FOLDER = Path("data/trust")


@lru_cache(maxsize=16)
def samples_of(name: str, seed: int) -> Dataset:
    """Return all samples of a problem that splits draw from; made once, kept on disk."""
    problem = make_problem(name, **PROBLEMS[name])
    path = FOLDER / f"{name}-{seed}.h5"
    path.parent.mkdir(parents=True, exist_ok=True)
    data = generate(problem, path, num_samples=NUM_SAMPLES, seed=seed, num_workers=1).in_memory()
    # Other meshes that all samples share stay whole: that nodes correspond is part of the problem.
    if name in SCATTERED or data.correspondence == "none":
        return data.subsample(min(MOST_POINTS, int(data.num_points.min())), seed=seed)
    return data
