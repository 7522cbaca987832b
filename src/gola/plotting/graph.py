"""Draw points and the edges between them."""

import numpy as np
from jaxtyping import Float
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from gola.graph import Neighbourhood
from gola.plotting.style import frame, house_style, new_figure


def draw_graph(
    points: Float[np.ndarray, "point 2"],
    neighbourhood: Neighbourhood,
    weights: Float[np.ndarray, " point"],
    *,
    title: str,
) -> Figure:
    """Draw the edges beside the quadrature weight of every point.

    Args:
        points: Coordinates in the plane.
        neighbourhood: The edges; each is drawn once.
        weights: Quadrature weight of each point.
        title: What the picture shows.
    """
    with house_style():
        figure = new_figure(2, panel=4.4)
        left, right = figure.axes
        receivers, senders = neighbourhood.receivers.numpy(), neighbourhood.senders.numpy()
        once = receivers < senders
        segments = points[np.stack([receivers[once], senders[once]], axis=1)]
        left.add_collection(LineCollection(list(segments), colors="0.6", linewidths=0.4, zorder=1))
        degrees = neighbourhood.degrees.numpy()
        for axes, values, label in (
            (left, degrees, "neighbours"),
            (right, weights * 1e3, "quadrature weight × 1000"),
        ):
            dots = axes.scatter(points[:, 0], points[:, 1], c=values, s=9, zorder=2)
            figure.colorbar(dots, ax=axes, label=label, shrink=0.8)
        frame(left, f"{title}: {len(points)} points, {neighbourhood.num_edges // 2} edges")
        frame(right, "quadrature weights")
        return figure
