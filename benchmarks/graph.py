"""Neighbour lists against the bare KD-tree pair query that they are made from."""

import numpy as np
from scipy.spatial import cKDTree

from benchmarks.memory import peak_gib
from benchmarks.timing import alternate, seconds
from gola.graph import radius_for, radius_neighbourhood

NUM_NEIGHBOURS = 30


def measure() -> dict[str, float]:
    """Time 100,000 points against SciPy, then build the lists of 1,000,000."""
    points = np.random.default_rng(0).random((100_000, 2))
    radius = radius_for(points, NUM_NEIGHBOURS)
    times = alternate(
        {
            "scipy": lambda: cKDTree(points).query_pairs(radius, output_type="ndarray"),
            "gola": lambda: radius_neighbourhood(points, radius),
        },
        repeats=9,
    )
    million = np.random.default_rng(1).random((1_000_000, 2))
    million_radius = radius_for(million, NUM_NEIGHBOURS)
    million_seconds = seconds(lambda: radius_neighbourhood(million, million_radius))
    return {
        "graph_ratio_to_kdtree": times["gola"] / times["scipy"],
        "graph_seconds_100k": times["gola"],
        "graph_seconds_1m": million_seconds,
        "graph_peak_gib_1m": peak_gib(),
    }
