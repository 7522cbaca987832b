"""Data sets on disk: one HDF5 file each, described in ``docs/data-format.md``."""

from gola.data.storage.layout import Header, as_provenance
from gola.data.storage.parts import Parts
from gola.data.storage.reader import read_dataset
from gola.data.storage.stored_samples import StoredSamples
from gola.data.storage.writer import write_samples

__all__ = [
    "Header",
    "Parts",
    "StoredSamples",
    "as_provenance",
    "read_dataset",
    "write_samples",
]
