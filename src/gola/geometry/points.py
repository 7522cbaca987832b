"""Point sets in a domain: lattices, and random points of three kinds."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import KDTree

from gola.geometry.domains import Box, Domain

# Cells along each axis that order points along a curve, as a power of two; three axes must fit into 63 bits.
_CURVE_BITS = 16


def lattice_points(domain: Domain, resolution: int) -> Float[np.ndarray, "point dim"]:
    """Return the points of a regular lattice over the bounding box that lie in the domain.

    The lattice has ``resolution`` points along every axis, end points included, in row-major order: the last
    coordinate varies fastest.

    >>> len(lattice_points(Box.unit(2), 128))
    16384
    """
    if resolution < 2:
        raise ValueError(f"A lattice needs at least 2 points along each axis; got resolution={resolution}.")
    axes = [np.linspace(low, high, resolution) for low, high in zip(domain.lower, domain.upper, strict=True)]
    points = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    return points if isinstance(domain, Box) else points[domain.contains(points)]


def draw_rows(num_rows: int, num_points: int, rng: np.random.Generator) -> Int[np.ndarray, " point"]:
    """Draw ``num_points`` different row numbers out of ``num_rows``, in ascending order."""
    if not 1 <= num_points <= num_rows:
        raise ValueError(f"Cannot draw {num_points} different points from {num_rows}; ask for 1 to {num_rows} points.")
    return np.sort(rng.choice(num_rows, size=num_points, replace=False))


def random_lattice_points(
    domain: Domain, num_points: int, resolution: int, rng: np.random.Generator
) -> Float[np.ndarray, "point dim"]:
    """Draw points without replacement from a regular lattice, as the paper does (section 5)."""
    lattice = lattice_points(domain, resolution)
    return lattice[draw_rows(len(lattice), num_points, rng)]


def uniform_points(domain: Domain, num_points: int, rng: np.random.Generator) -> Float[np.ndarray, "point dim"]:
    """Draw independent points, uniform over the domain."""
    return _accept(domain, num_points, lambda count: rng.random((count, domain.dim)))


def quasi_random_points(domain: Domain, num_points: int, rng: np.random.Generator) -> Float[np.ndarray, "point dim"]:
    """Draw points of a scrambled Halton sequence: random, but far more evenly spread than uniform ones."""
    from scipy.stats import qmc  # takes half a second to import

    return _accept(domain, num_points, qmc.Halton(domain.dim, rng=rng).random)


def spatial_order(points: Float[np.ndarray, "point dim"]) -> Int[np.ndarray, " point"]:
    """Return the order of the points along a Z-shaped curve that fills space (Morton order).

    Points that follow each other lie close together, and so do the values of a point's neighbours in memory: sums over
    neighbours of many points run twice as fast in this order as in a random one.

    >>> spatial_order(np.array([[0.9, 0.9], [0.1, 0.1], [0.9, 0.8], [0.1, 0.2]])).tolist()
    [1, 3, 2, 0]
    """
    extent = np.ptp(points, axis=0)
    shares = (points - points.min(axis=0)) / np.where(extent > 0, extent, 1.0)
    cells = (shares * (2**_CURVE_BITS - 1)).astype(np.int64)
    dim = points.shape[1]
    places = np.zeros(len(points), dtype=np.int64)
    for bit in range(_CURVE_BITS):
        for axis in range(dim):
            places |= ((cells[:, axis] >> bit) & 1) << (bit * dim + axis)
    return np.argsort(places, kind="stable")


def fill_same_domain(
    points: Float[np.ndarray, "point dim"], others: Float[np.ndarray, "other dim"], spacings: float
) -> bool:
    """Whether no point of either set is farther from the other set than so many typical spacings of the sparser one.

    >>> line = np.linspace(0.0, 1.0, 11)[:, None]
    >>> fill_same_domain(line, line[::2], 1.0), fill_same_domain(line, line[:6], 1.0)
    (True, False)
    """
    if min(len(points), len(others)) < 2:
        return False
    trees = KDTree(points), KDTree(others)
    spacing = max(float(np.median(np.asarray(tree.query(tree.data, k=2)[0])[:, 1])) for tree in trees)
    farthest = max(float(np.max(tree.query(other.data)[0])) for tree, other in (trees, trees[::-1]))
    return farthest <= spacings * spacing


def _accept(
    domain: Domain, num_points: int, draw: Callable[[int], Float[np.ndarray, "candidate dim"]]
) -> Float[np.ndarray, "point dim"]:
    """Keep drawing from the bounding box until ``num_points`` points fell into the domain."""
    if num_points < 1:
        raise ValueError(f"Ask for at least one point; got num_points={num_points}.")
    share = domain.measure / Box(lower=domain.lower, upper=domain.upper).measure
    if share <= 0.0:
        raise ValueError("The domain is empty: no point of its bounding box lies inside it.")
    kept: list[Float[np.ndarray, "accepted dim"]] = []
    missing = num_points
    while missing > 0:
        candidates = domain.lower + draw(int(missing / share) + 16) * (domain.upper - domain.lower)
        accepted = candidates[domain.contains(candidates)][:missing]
        kept.append(accepted)
        missing -= len(accepted)
    return np.concatenate(kept)
