"""``gola demo``: from scattered points to a picture of their graph."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.table import Table

from gola.cli.console import output
from gola.geometry import ImplicitDomain, uniform_points, voronoi_weights


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("demo"),
    num_points: Annotated[int, typer.Option(help="How many points to scatter.", min=20)] = 1000,
    num_neighbours: Annotated[float, typer.Option(help="Wanted mean number of neighbours.", min=1)] = 12,
    seed: Annotated[int, typer.Option(help="Seed of the random points.", min=0)] = 0,
) -> None:
    """Scatter points in a plate with two holes, connect neighbours, and draw the graph."""
    from gola.graph import radius_for, radius_neighbourhood  # PyTorch and Matplotlib take their time to import
    from gola.plotting.graph import draw_graph
    from gola.plotting.style import write

    domain = plate_with_holes()
    points = uniform_points(domain, num_points, np.random.default_rng(seed))
    radius = radius_for(points, num_neighbours)
    neighbourhood = radius_neighbourhood(points, radius)
    weights = voronoi_weights(points, domain)
    picture = write(draw_graph(points, neighbourhood, weights, title="radius graph"), out / "graph.png")

    table = Table(title="Scattered points in a plate with two holes", show_header=False)
    degrees = neighbourhood.degrees
    for name, value in {
        "points": f"{num_points}",
        "radius": f"{radius:.4f}",
        "edges": f"{neighbourhood.num_edges // 2}",
        "neighbours (min / mean / max)": f"{degrees.min()} / {degrees.double().mean():.1f} / {degrees.max()}",
        "area of the plate": f"{domain.measure:.5f}",
        "sum of the quadrature weights": f"{weights.sum():.5f}",
        "largest / smallest weight": f"{weights.max() / weights.min():.0f}",
        "picture": str(picture),
    }.items():
        table.add_row(name, value)
    output.print(table)


def plate_with_holes() -> ImplicitDomain:
    """Return the unit square less two round holes."""

    def distance(points: np.ndarray) -> np.ndarray:
        square = np.abs(points - 0.5).max(axis=1) - 0.5
        left = 0.15 - np.linalg.norm(points - np.array([0.3, 0.65]), axis=1)
        right = 0.1 - np.linalg.norm(points - np.array([0.7, 0.3]), axis=1)
        return np.maximum.reduce([square, left, right])

    return ImplicitDomain(distance=distance, lower=np.zeros(2), upper=np.ones(2))
