"""Simulations of other programs: in from meshes, NumPy archives and tables, and out to the same."""

from gola.data.formats.case import Case
from gola.data.formats.cases import CaseTable, parse_numbers, read_cases
from gola.data.formats.exporting import Band, export_sample, named_columns
from gola.data.formats.importing import find_files, import_files, import_inputs, read_points

__all__ = [
    "Band",
    "Case",
    "CaseTable",
    "export_sample",
    "find_files",
    "import_files",
    "import_inputs",
    "named_columns",
    "parse_numbers",
    "read_cases",
    "read_points",
]
