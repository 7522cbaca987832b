"""Finite elements with fitted coefficients: the family of equations, its discretisation, and how it is fitted."""

from gola.operators.fitted_pde.fitted_pde import FittedPde, FittedPdeConfig

__all__ = ["FittedPde", "FittedPdeConfig"]
