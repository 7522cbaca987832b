"""The paper's operator, one file for each section."""

from gola.operators.gola.gola import Gola, GolaConfig

__all__ = ["Gola", "GolaConfig"]
