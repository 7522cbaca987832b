"""Cut bodies by planes, to see what is inside."""

import numpy as np
from jaxtyping import Float, Int

from gola.data.sample import Sample
from gola.plotting.raster import fill, raster

# Edges of a tetrahedron whose corners above the plane come first, in the order around the polygon that it is cut in,
# by the number of corners above.
_CROSSED = {1: ((0, 1), (0, 2), (0, 3)), 2: ((0, 2), (0, 3), (1, 3), (1, 2)), 3: ((0, 3), (1, 3), (2, 3))}
# Along the longer side of a cut through scattered points; each pixel is drawn as a polygon.
_NUM_PIXELS = 48

Polygons = list[tuple[Float[np.ndarray, "corner 3"], float]]
"""Polygons in space, each with its value."""


def middle_cuts(sample: Sample, values: Float[np.ndarray, " point"]) -> Polygons:
    """Cut a sample in 3D by the three planes through its middle that are orthogonal to the axes."""
    middle = (sample.points.min(axis=0) + sample.points.max(axis=0)) / 2
    polygons: Polygons = []
    for axis, level in enumerate(middle.tolist()):
        if sample.cells is None:
            polygons += _cut_points(sample.points, values, axis, level)
        else:
            polygons += cut_cells(sample.points, sample.cells, values, axis, level)
    return polygons


def cut_cells(
    points: Float[np.ndarray, "point 3"],
    cells: Int[np.ndarray, "cell 4"],
    values: Float[np.ndarray, " point"],
    axis: int,
    level: float,
) -> Polygons:
    """Cut tetrahedra by the plane where a coordinate has a value; a triangle or quadrilateral for each one cut."""
    above = points[cells, axis] > level
    order = np.argsort(~above, axis=1, kind="stable")
    sorted_cells = np.take_along_axis(cells, order, axis=1)
    polygons: Polygons = []
    for num_above, edges in _CROSSED.items():
        cut = sorted_cells[above.sum(axis=1) == num_above]
        ends = np.stack([cut[:, list(edge)] for edge in edges], axis=1)
        heights = points[ends, axis] - level
        share = heights[..., 0] / (heights[..., 0] - heights[..., 1])
        first, last = points[ends[..., 0]], points[ends[..., 1]]
        corners = first + share[..., None] * (last - first)
        found = values[ends[..., 0]] + share * (values[ends[..., 1]] - values[ends[..., 0]])
        polygons += zip(corners, found.mean(axis=1).tolist(), strict=True)
    return polygons


def _cut_points(
    points: Float[np.ndarray, "point 3"], values: Float[np.ndarray, " point"], axis: int, level: float
) -> Polygons:
    """Interpolate scattered points to the pixels of a plane, and return those in the domain as squares."""
    across = [other for other in range(3) if other != axis]
    lower, upper = points[:, across].min(axis=0), points[:, across].max(axis=0)
    if not (upper > lower).all():
        return []
    plane = raster(lower, upper, _NUM_PIXELS)
    places = np.full((*plane.shape[:2], 3), level)
    places[..., across] = plane
    filled = fill(points, values, places)
    inside = ~np.isnan(filled)
    half = (upper - lower) / (2 * np.array([plane.shape[1], plane.shape[0]]))
    corners = np.repeat(places[inside][:, None], 4, axis=1)
    corners[..., across] += half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    return list(zip(corners, filled[inside].tolist(), strict=True))
