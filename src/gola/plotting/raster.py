"""From scattered points to a raster that covers their domain, and leaves holes and notches empty."""

import numpy as np
from jaxtyping import Bool, Float
from scipy.interpolate import LinearNDInterpolator
from scipy.ndimage import distance_transform_edt
from scipy.spatial import Delaunay, KDTree, QhullError

from gola.geometry.interpolation import interpolation_weights

# A pixel belongs to the domain if the nearest point is at most this many times as far as points are apart there, which
# is the mean distance to this many nearest points. Of 24 clouds of 300 to 3000 random points without holes, 3 got a
# false one at 2.2, 7 at 2.0 and 17 at 1.8.
_REACH = 2.2
_NUM_NEAREST = 6
# The domain then begins this share of that reach beyond the outermost points.
_RIM = 0.25


def fill(
    points: Float[np.ndarray, "point dim"],
    values: Float[np.ndarray, " point"],
    places: Float[np.ndarray, "row column dim"],
) -> Float[np.ndarray, "row column"]:
    """Interpolate to the places of a raster, linearly between points; NaN outside the domain that they lie in.

    Between the outermost points and the edge of the domain the values are continued smoothly, within their range.

    Args:
        points: The scattered points.
        values: One number per point.
        places: A regular raster in their plane, or in a plane that cuts them in 3D.
    """
    filled = np.full(places.shape[:2], np.nan)
    inside = domain_mask(points, places)
    wanted = places[inside]
    try:
        found = LinearNDInterpolator(Delaunay(points), values)(wanted)
    except (QhullError, ValueError):  # too few points for a triangle, or all on one line
        found = np.full(len(wanted), np.nan)
    beyond = np.isnan(found)
    if beyond.any():
        rows, weights = interpolation_weights(points, wanted[beyond])
        found[beyond] = (weights * values[rows]).sum(axis=1).clip(values.min(), values.max())
    filled[inside] = found
    return filled


def domain_mask(
    points: Float[np.ndarray, "point dim"], places: Float[np.ndarray, "row column dim"]
) -> Bool[np.ndarray, "row column"]:
    """Tell which places of a raster lie in the domain of scattered points.

    The discs around all points are joined, and what they reach beyond the points is taken away again (a morphological
    closing): gaps between points are closed, holes wider than a disc stay as wide as they are. The raster ends where
    the points do, so nothing is taken away there.
    """
    sites = np.unique(points, axis=0)
    num_nearest = min(_NUM_NEAREST, len(sites) - 1)
    if num_nearest < 1:
        return np.zeros(places.shape[:2], dtype=bool)
    tree = KDTree(sites)
    spacing = np.asarray(tree.query(sites, k=list(range(2, num_nearest + 2)))[0]).mean(axis=1)
    found, rows = tree.query(places.reshape(-1, points.shape[1]), k=list(range(1, num_nearest + 1)))
    nearest = np.asarray(found)[:, 0].reshape(places.shape[:2])
    reach = (_REACH * spacing[rows].mean(axis=1)).reshape(places.shape[:2])
    joined = np.asarray(nearest <= reach)
    if joined.all():
        return joined
    pixel = [float(np.linalg.norm(places[1, 0] - places[0, 0])), float(np.linalg.norm(places[0, 1] - places[0, 0]))]
    return joined & (distance_transform_edt(joined, sampling=pixel) > (1.0 - _RIM) * reach)


def raster(
    lower: Float[np.ndarray, " axis"], upper: Float[np.ndarray, " axis"], num_pixels: int
) -> Float[np.ndarray, "row column 2"]:
    """Return the centres of the pixels of a rectangle, rows along its second axis, so many along the longer one.

    >>> raster(np.zeros(2), np.array([2.0, 1.0]), 4).shape
    (2, 4, 2)
    """
    sides = upper - lower
    counts = np.maximum(2, np.round(num_pixels * sides / sides.max()).astype(int))
    x, y = (
        low + side * (np.arange(count) + 0.5) / count for low, side, count in zip(lower, sides, counts, strict=True)
    )
    return np.stack(np.meshgrid(x, y), axis=-1)
