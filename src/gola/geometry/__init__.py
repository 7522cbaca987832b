"""Domains and their symmetries, point sets in them, and quadrature weights."""

from gola.geometry.domains import Box, Domain, ImplicitDomain, Polygon
from gola.geometry.points import (
    draw_rows,
    lattice_points,
    quasi_random_points,
    random_lattice_points,
    spatial_order,
    uniform_points,
)
from gola.geometry.quadrature import equal_weights, voronoi_weights
from gola.geometry.symmetry import Symmetry

__all__ = [
    "Box",
    "Domain",
    "ImplicitDomain",
    "Polygon",
    "Symmetry",
    "draw_rows",
    "equal_weights",
    "lattice_points",
    "quasi_random_points",
    "random_lattice_points",
    "spatial_order",
    "uniform_points",
    "voronoi_weights",
]
