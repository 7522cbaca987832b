"""Scatter points in a plate with two holes, compute quadrature weights, connect neighbours, and draw the graph.

Run it with ``python examples/scattered_plate.py``; the picture is ``scattered_plate.png``.
"""

import sys
from pathlib import Path

import numpy as np

from gola.geometry import ImplicitDomain, uniform_points, voronoi_weights
from gola.graph import radius_for, radius_neighbourhood
from gola.plotting.graph import draw_graph
from gola.plotting.style import write


def plate_with_holes() -> ImplicitDomain:
    """Return the unit square without two round holes."""

    def distance(points: np.ndarray) -> np.ndarray:
        square = np.abs(points - 0.5).max(axis=1) - 0.5
        left = 0.15 - np.linalg.norm(points - np.array([0.3, 0.65]), axis=1)
        right = 0.1 - np.linalg.norm(points - np.array([0.7, 0.3]), axis=1)
        return np.maximum.reduce([square, left, right])

    return ImplicitDomain(distance=distance, lower=np.zeros(2), upper=np.ones(2))


def main(picture: Path) -> None:
    """Draw the picture, and print the sum of the weights and the mean number of neighbours."""
    plate = plate_with_holes()
    points = uniform_points(plate, 1000, np.random.default_rng(0))
    weights = voronoi_weights(points, plate)
    neighbourhood = radius_neighbourhood(points, radius_for(points, 12))

    print(f"area {plate.measure:.4f}, sum of the quadrature weights {weights.sum():.4f}")
    print(f"neighbours {neighbourhood.degrees.double().mean():.1f} on average")
    print(write(draw_graph(points, neighbourhood, weights, title="radius graph"), picture))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("scattered_plate.png"))
