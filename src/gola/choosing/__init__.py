"""Choose among operators by how well they predict training samples that they have not seen."""

from gola.choosing.candidates import Choice
from gola.choosing.choice import choose

__all__ = ["Choice", "choose"]
