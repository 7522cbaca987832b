"""An evolution equation on a periodic line, with coefficients fitted to its states before and after."""

from gola.operators.fitted_evolution.fitted_evolution import FittedEvolution, FittedEvolutionConfig

__all__ = ["FittedEvolution", "FittedEvolutionConfig"]
