"""Simulations of other programs: in from meshes, NumPy archives and tables, out to ParaView."""

from gola.data.formats.exporting import export_sample
from gola.data.formats.importing import find_files, import_files

__all__ = ["export_sample", "find_files", "import_files"]
