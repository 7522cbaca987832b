"""Choose among operators by how well they predict training samples that they have not seen."""

from gola.choosing.choice import Choice, choose

__all__ = ["Choice", "choose"]
