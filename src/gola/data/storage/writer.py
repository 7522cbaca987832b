"""Write samples into one HDF5 file, one after another, so that a set may be larger than memory."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from gola.data.correspondence import CorrespondenceSearch
from gola.data.sample import Channel, Sample, as_rows
from gola.data.storage import layout
from gola.data.storage.checksums import header_checksum, rows_checksum
from gola.data.storage.hdf5 import creating_hdf5
from gola.data.storage.layout import Header
from gola.data.validation import checked_samples
from gola.files import replacing

# Small enough that reading one sample decompresses little else, large enough that the index stays short.
_CHUNK_BYTES = 1 << 16
# Appending row by row would be slow for sets of many small samples.
_BUFFER_BYTES = 1 << 20


def write_samples(path: str | Path, samples: Iterable[Sample], header: Header, *, compress: bool = False) -> None:
    """Write a data set to one file, which appears whole or not at all.

    Args:
        path: The file; one that exists is replaced at the end, and kept if anything goes wrong.
        samples: Read once, one at a time; each is checked.
        header: Channels and provenance; the correspondence of the points is found, unless it says so.
        compress: Shrink the file, by a fifth for rough fields and more for smooth ones; writing takes about six
            times as long, reading twice.
    """
    with replacing(path) as temporary, creating_hdf5(temporary) as (file, sink):
        writer = _Writer(file, compress)
        for sample in checked_samples(samples, header.inputs, header.targets, header.parameters):
            writer.append(sample)
            sink.require_success()
        writer.finish(header)


class _Column:
    """A growing array in the file; rows are collected and written together."""

    def __init__(self, group: h5py.Group, name: str, width: int | None, dtype: str, compress: bool) -> None:
        tail = () if width is None else (width,)
        rows = max(1, _CHUNK_BYTES // (np.dtype(dtype).itemsize * (width or 1)))
        filters: dict[str, Any] = {"compression": "gzip", "compression_opts": 1, "shuffle": True} if compress else {}
        self._array = group.create_dataset(
            name, (0, *tail), maxshape=(None, *tail), chunks=(rows, *tail), dtype=dtype, fletcher32=True, **filters
        )
        self._pending: list[np.ndarray] = []
        self._pending_bytes = 0

    def append(self, rows: np.ndarray) -> None:
        self._pending.append(rows)
        self._pending_bytes += rows.nbytes
        if self._pending_bytes >= _BUFFER_BYTES:
            self.flush()

    def flush(self) -> None:
        if not self._pending:
            return
        rows = np.concatenate(self._pending)
        start = len(self._array)
        self._array.resize(start + len(rows), axis=0)
        self._array[start:] = rows
        self._pending, self._pending_bytes = [], 0


class _Writer:
    """Appends samples; points that several samples share are stored once."""

    def __init__(self, file: h5py.File, compress: bool) -> None:
        self._file = file
        self._compress = compress
        self._columns: dict[str, _Column] = {}
        self._geometries: dict[bytes, int] = {}
        self._offsets = [0]
        self._cell_offsets = [0]
        self._geometry_of_sample: list[int] = []
        self._geometry_checksums: list[int] = []
        self._sample_checksums: list[int] = []
        self._time_offsets = [0]
        self._per_time = False
        self._correspondence = CorrespondenceSearch()

    def append(self, sample: Sample) -> None:
        digest = _geometry_digest(sample)
        if digest not in self._geometries:
            self._geometries[digest] = len(self._geometries)
            self._append_geometry(sample)
        self._geometry_of_sample.append(self._geometries[digest])
        self._correspondence.add(sample)
        # Tables of a trajectory lie one after the other.
        columns = {
            layout.INPUTS: as_rows(sample.inputs) if sample.inputs.size else None,
            layout.TARGETS: as_rows(sample.targets) if sample.targets.size else None,
            layout.PARAMETERS: sample.parameters[None] if sample.parameters.size else None,
            layout.TIMES: sample.times,
        }
        written = [self._append(name, rows, "<f8") for name, rows in columns.items() if rows is not None]
        if sample.times is not None:
            self._time_offsets.append(self._time_offsets[-1] + len(sample.times))
            self._per_time = sample.has_inputs_per_time
        self._sample_checksums.append(rows_checksum(written))

    def finish(self, header: Header) -> None:
        if not self._geometry_of_sample:
            raise ValueError("A data set needs at least one sample; got none.")
        for column in self._columns.values():
            column.flush()
        self._store_integers(layout.GEOMETRY_OFFSETS, self._offsets)
        self._store_integers(layout.SAMPLE_GEOMETRY, self._geometry_of_sample)
        if layout.CELLS in self._columns:
            self._store_integers(layout.CELL_OFFSETS, self._cell_offsets)
        if layout.TIMES in self._columns:
            self._store_integers(layout.TIME_OFFSETS, self._time_offsets)
        if self._per_time:
            self._file[layout.INPUTS].attrs[layout.PER_TIME] = 1
        self._store_integers(layout.GEOMETRY_CHECKSUMS, self._geometry_checksums)
        self._store_integers(layout.SAMPLE_CHECKSUMS, self._sample_checksums)
        self._describe(header)

    def _append_geometry(self, sample: Sample) -> None:
        written = [self._append(layout.POINTS, sample.points, "<f8")]
        self._offsets.append(self._offsets[-1] + sample.num_points)
        if sample.boundary is not None:
            written.append(self._append(layout.BOUNDARY, sample.boundary, "u1"))
        if sample.weights is not None:
            written.append(self._append(layout.WEIGHTS, sample.weights, "<f8"))
        if sample.cells is not None:
            written.append(self._append(layout.CELLS, sample.cells, "<i4"))
            self._cell_offsets.append(self._cell_offsets[-1] + len(sample.cells))
        self._geometry_checksums.append(rows_checksum(written))

    def _append(self, name: str, rows: np.ndarray, dtype: str) -> np.ndarray:
        """Add rows to an array, and return them as they will be stored."""
        if name not in self._columns:
            width = rows.shape[1] if rows.ndim == 2 else None
            self._columns[name] = _Column(self._file, name, width, dtype, self._compress)
        stored = rows.astype(dtype, copy=False)
        self._columns[name].append(stored)
        return stored

    def _store_integers(self, name: str, numbers: list[int]) -> None:
        self._file.create_dataset(name, data=np.asarray(numbers, dtype="<i8"), fletcher32=True)

    def _describe(self, header: Header) -> None:
        _store_texts(self._file, "format", layout.FORMAT)
        self._file.attrs["version"] = layout.VERSION
        _store_texts(self._file, "writer", layout.writer_name())
        _store_texts(self._file, layout.CORRESPONDENCE, header.correspondence or self._correspondence.found)
        if header.periods is not None:
            self._file.attrs[layout.PERIODS] = [np.nan if one is None else one for one in header.periods]
        if header.low_fidelity:
            pairs = [text for pair in header.low_fidelity.items() for text in pair]
            _store_texts(self._file, layout.LOW_FIDELITY, pairs)
        named = zip(layout.CHANNELS, (header.inputs, header.targets, header.parameters), strict=True)
        for name, channels in named:
            if channels:
                _name_channels(self._file[name], channels)
        # A dataset, not an attribute: an attribute cannot exceed 64 KiB.
        self._file[layout.PROVENANCE] = np.bytes_(json.dumps(header.provenance).encode("ascii"))
        _store_texts(self._file, layout.CHECKSUM, header_checksum(self._file))


def _name_channels(array: h5py.Dataset, channels: Sequence[Channel]) -> None:
    _store_texts(array, "names", [channel.name for channel in channels])
    _store_texts(array, "units", [channel.unit for channel in channels])


def _store_texts(owner: h5py.HLObject, name: str, texts: str | Sequence[str]) -> None:
    """Write an attribute of texts of fixed length: HDF5 keeps other texts in a heap that has no checksum."""
    encoded = np.array(texts.encode() if isinstance(texts, str) else [text.encode() for text in texts], dtype=np.bytes_)
    owner.attrs.create(name, encoded, dtype=h5py.string_dtype("utf-8", max(1, encoded.dtype.itemsize)))


def _geometry_digest(sample: Sample) -> bytes:
    """Return a hash of everything that samples on the same points share."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (sample.points, sample.boundary, sample.weights, sample.cells):
        if array is not None:
            digest.update(repr(array.shape).encode())
            digest.update(np.ascontiguousarray(array).data)
    return digest.digest()
