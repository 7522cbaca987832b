"""Neighbour graphs of point sets, and reductions over neighbours."""

from gola.geometry.tree import radius_for
from gola.graph.neighbourhood import Neighbourhood
from gola.graph.search import (
    nearest_neighbourhood,
    nearest_neighbourhood_between,
    radius_neighbourhood,
    radius_neighbourhood_between,
)

__all__ = [
    "Neighbourhood",
    "nearest_neighbourhood",
    "nearest_neighbourhood_between",
    "radius_for",
    "radius_neighbourhood",
    "radius_neighbourhood_between",
]
