r"""Fourier transforms of domains: the mean over the domain of :math:`e^{2 \pi i \langle q / L, x \rangle}`.

They are what integrals of products of waves are made of: exact for boxes and polygons, by a fine lattice for others.
"""

from collections.abc import Sequence
from functools import reduce

import numpy as np
from jaxtyping import Complex, Float

from gola.geometry import Box, Domain, Polygon

# Lattice cells along the longest side of a domain that is neither a box nor a polygon, by dimension.
_RESOLUTION = {1: 4096, 2: 512, 3: 96}


def domain_transform(domain: Domain, sides: Sequence[float], largest: int) -> Complex[np.ndarray, "*axes"]:
    """Return the transform for all q with whole entries from −largest to largest.

    Args:
        domain: Where to take the mean.
        sides: Sides L of the box that the waves are periodic on.
        largest: Largest entry of q.
    """
    axis = 2.0 * np.pi * np.arange(-largest, largest + 1)
    frequencies = [axis / side for side in sides]
    if isinstance(domain, Box):
        return _of_box(domain, frequencies)
    if isinstance(domain, Polygon):
        return _of_polygon(domain, frequencies)
    return _of_lattice(domain, frequencies)


def _of_box(domain: Box, frequencies: list[Float[np.ndarray, " _"]]) -> Complex[np.ndarray, "*axes"]:
    r"""Multiply the transforms of the axes: :math:`e^{i \omega m} \sin(a) / a` with :math:`a = \omega s / 2`.

    Here m is the centre of the box along the axis, and s its side.
    """
    factors = [
        np.exp(0.5j * frequency * (low + high)) * np.sinc(frequency * (high - low) / (2.0 * np.pi))
        for frequency, low, high in zip(frequencies, domain.lower, domain.upper, strict=True)
    ]
    return reduce(np.multiply.outer, factors)


def _of_polygon(domain: Polygon, frequencies: list[Float[np.ndarray, " _"]]) -> Complex[np.ndarray, "first second"]:
    r"""Integrate along the edges, by the divergence theorem.

    :math:`\int e^{i \langle \omega, x \rangle} dx = \frac{1}{i |\omega|^2} \sum_e \langle \omega, n_e \rangle |e|
    \int_0^1 e^{i \langle \omega, x_e(t) \rangle} dt` with outward normals n.
    """
    omega = np.stack(np.meshgrid(*frequencies, indexing="ij"), axis=-1)
    squared = (omega**2).sum(axis=-1)
    total = np.zeros(squared.shape, dtype=complex)
    for ring, orientation in ((domain.exterior, 1.0), *((hole, -1.0) for hole in domain.holes)):
        following = np.roll(ring, -1, axis=0)
        turn = orientation * np.sign(_signed_area(ring))
        for start, end in zip(ring, following, strict=True):
            edge = end - start
            flux = turn * (omega[..., 0] * edge[1] - omega[..., 1] * edge[0])
            along = np.exp(0.5j * (omega @ (start + end))) * np.sinc(omega @ edge / (2.0 * np.pi))
            total += flux * along
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(squared > 0.0, total / (1j * squared * domain.measure), 1.0)


def _signed_area(ring: Float[np.ndarray, "corner 2"]) -> float:
    """Twice the area of a ring, positive if its corners go round against the clock."""
    following = np.roll(ring, -1, axis=0)
    return float((ring[:, 0] * following[:, 1] - ring[:, 1] * following[:, 0]).sum())


def _of_lattice(domain: Domain, frequencies: list[Float[np.ndarray, " _"]]) -> Complex[np.ndarray, "*axes"]:
    """Sum over a fine lattice, in which cells at the boundary count by the part of them that is inside."""
    extent = domain.upper - domain.lower
    spacing = float(extent.max()) / _RESOLUTION[domain.dim]
    counts = np.maximum(1, np.round(extent / spacing)).astype(int)
    axes = [
        low + (np.arange(count) + 0.5) * size / count
        for low, size, count in zip(domain.lower, extent, counts, strict=True)
    ]
    centres = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    shares = np.clip(0.5 - domain.signed_distance(centres) / spacing, 0.0, 1.0)
    table = (shares / shares.sum()).reshape(counts).astype(complex)
    for frequency, axis in zip(frequencies, axes, strict=True):
        # Each axis in turn is summed over and comes back, last, as an axis of frequencies.
        table = np.tensordot(table, np.exp(1j * axis[:, None] * frequency), axes=(0, 0))
    return table
