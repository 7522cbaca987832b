"""Read samples from an HDF5 file when they are asked for, and no earlier."""

import json
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast, get_args

import h5py
import numpy as np
from jaxtyping import Float, Int, Shaped

from gola.data.correspondence import Correspondence, correspondence_of
from gola.data.periods import Periods
from gola.data.sample import Channel, Sample
from gola.data.storage import layout
from gola.data.storage.checksums import header_checksum, rows_checksum, texts
from gola.data.storage.layout import Header
from gola.data.times import checked_times

_Arrays = dict[str, h5py.Dataset]
_Geometry = dict[str, np.ndarray | None]

# Number of axes of every array of numbers.
_NUM_AXES = {
    layout.GEOMETRY_OFFSETS: 1, layout.POINTS: 2, layout.BOUNDARY: 1, layout.WEIGHTS: 1, layout.CELLS: 2,
    layout.CELL_OFFSETS: 1, layout.SAMPLE_GEOMETRY: 1, layout.INPUTS: 2, layout.TARGETS: 2,
    layout.PARAMETERS: 2, layout.TIMES: 1, layout.TIME_OFFSETS: 1,
    layout.GEOMETRY_CHECKSUMS: 1, layout.SAMPLE_CHECKSUMS: 1,
}  # fmt: skip
_REQUIRED = (layout.GEOMETRY_OFFSETS, layout.POINTS)
# The deflate algorithm shrinks nothing by more than a factor of 1032.
_LARGEST_COMPRESSION = 1032


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredSamples:
    """Samples of a file, or a selection of them.

    No file handle is kept: the file is opened for each access (0.2 ms). So an object of this class can be sent to other
    processes, survives a fork, and never holds a file open that the user wants to move or replace.

    Attributes:
        path: The file.
        stamp: Its size and time of change when it was first read; a file that changed since is refused.
        dim: Number of coordinates of a point.
        geometries: Which geometry each selected sample lies on.
        starts: The first row of each selected sample among the targets.
        input_starts: The same among the inputs, which in trajectories may be constant.
        offsets: Geometry g has the rows ``offsets[g]`` to ``offsets[g + 1]`` of the points.
        cell_offsets: The same for the cells.
        checksums: Of the values of each selected sample; None in files that have none.
        geometry_checksums: Of each geometry.
        parameters: Of each selected sample, as they are stored; read at once, since they are few.
        times: Of each selected sample, as they are stored; None where samples are no trajectories.
        inputs_per_time: Whether trajectories have inputs for each time.
    """

    path: Path
    stamp: tuple[int, int]
    dim: int
    geometries: Int[np.ndarray, " sample"]
    starts: Int[np.ndarray, " sample"]
    input_starts: Int[np.ndarray, " sample"]
    offsets: Int[np.ndarray, " geometry_plus_one"]
    cell_offsets: Int[np.ndarray, " geometry_plus_one"] | None
    checksums: Int[np.ndarray, " sample"] | None = None
    geometry_checksums: Int[np.ndarray, " geometry"] | None = None
    parameters: Shaped[np.ndarray, "sample parameter"] | None = None
    times: tuple[Float[np.ndarray, " _"], ...] | None = None
    inputs_per_time: bool = False

    @property
    def num_points(self) -> Int[np.ndarray, " sample"]:
        """Number of points of each sample."""
        counts: np.ndarray = np.diff(self.offsets)[self.geometries]
        return counts

    def select(self, indices: Sequence[int]) -> "StoredSamples":
        """Return these samples, in this order."""
        chosen = np.asarray(indices, dtype=np.int64)
        return replace(
            self,
            geometries=self.geometries[chosen],
            starts=self.starts[chosen],
            input_starts=self.input_starts[chosen],
            checksums=None if self.checksums is None else self.checksums[chosen],
            parameters=None if self.parameters is None else self.parameters[chosen],
            times=None if self.times is None else tuple(self.times[row] for row in chosen.tolist()),
        )

    def one_per_geometry(self) -> "StoredSamples":
        """Return the first sample of each geometry: all the points there are, without repetition."""
        return self.select(np.sort(np.unique(self.geometries, return_index=True)[1]).tolist())

    def __len__(self) -> int:
        return len(self.geometries)

    def __getitem__(self, index: int) -> Sample:
        position = range(len(self))[index]
        with self._arrays() as arrays:
            return self._read_sample(arrays, position, self._read_geometry(arrays, position))

    def __iter__(self) -> Iterator[Sample]:
        """Read the samples in turn; neighbours on the same geometry share its arrays."""
        with self._arrays() as arrays:
            geometry: _Geometry = {}
            for position in range(len(self)):
                if position == 0 or self.geometries[position] != self.geometries[position - 1]:
                    geometry = self._read_geometry(arrays, position)
                yield self._read_sample(arrays, position, geometry)

    @contextmanager
    def _arrays(self) -> Iterator[_Arrays]:
        """Open the file; looking its arrays up once makes reading many small samples several times faster."""
        with _opened(self.path) as file:
            if _stamp(self.path) != self.stamp:
                raise ValueError(f"{self.path} was changed after it was loaded; load it again.")
            yield {name: file[name] for name in layout.ARRAYS if name in file}

    def _read_geometry(self, arrays: _Arrays, position: int) -> _Geometry:
        geometry = self.geometries[position]
        rows = slice(*self.offsets[geometry : geometry + 2])
        stored = {name: _rows(arrays, name, rows) for name in (layout.POINTS, layout.BOUNDARY, layout.WEIGHTS)}
        if self.cell_offsets is not None:
            stored[layout.CELLS] = _rows(arrays, layout.CELLS, slice(*self.cell_offsets[geometry : geometry + 2]))
        if self.geometry_checksums is not None:
            self._require_sound(stored, int(self.geometry_checksums[geometry]))
        return {
            "points": _as(stored[layout.POINTS], np.float64),
            "boundary": _as(stored[layout.BOUNDARY], np.bool_),
            "weights": _as(stored[layout.WEIGHTS], np.float64),
            "cells": _as(stored.get(layout.CELLS), np.int64),
        }

    def _read_sample(self, arrays: _Arrays, position: int, geometry: _Geometry) -> Sample:
        num_points = len(geometry["points"])  # type: ignore[arg-type]  # points are never None
        times = None if self.times is None else self.times[position]
        targets_shape = (num_points,) if times is None else (len(times), num_points)
        shapes = {
            layout.INPUTS: (self.input_starts[position], targets_shape if self.inputs_per_time else (num_points,)),
            layout.TARGETS: (self.starts[position], targets_shape),
        }
        stored = {
            name: _rows(arrays, name, slice(start, start + math.prod(shape))) for name, (start, shape) in shapes.items()
        }
        if self.parameters is not None:
            stored[layout.PARAMETERS] = self.parameters[position]
        stored[layout.TIMES] = times
        if self.checksums is not None:
            self._require_sound(stored, int(self.checksums[position]))
        inputs, targets = (_tables(stored[name], shape) for name, (_, shape) in shapes.items())
        parameters = _as(stored.get(layout.PARAMETERS), np.float64)
        return Sample(
            inputs=inputs,
            targets=targets,
            parameters=np.empty(0) if parameters is None else parameters,
            times=_as(times, np.float64),
            **geometry,  # type: ignore[arg-type]
        )

    def _require_sound(self, stored: _Geometry, checksum: int) -> None:
        if rows_checksum(stored.values()) != checksum:
            raise ValueError(
                f"{self.path} is damaged: the checksum of a sample does not fit; copy or generate it again."
            )


def read_dataset(path: str | Path) -> tuple[Header, StoredSamples]:
    """Read what a file says about itself, check that it is whole, and leave the samples for later."""
    path = Path(path).absolute()
    with _opened(path) as file:
        _require_format(file, path)
        _require_datasets(file, path)
        _require_checksum(file, path)
        inputs, targets, parameters = (_channels(file, name, path) if name in file else () for name in layout.CHANNELS)
        provenance, correspondence, periods = _provenance(file, path), _correspondence(file, path), _periods(file, path)
        samples = _index(file, path)
    header = Header(
        inputs=inputs,
        targets=targets,
        parameters=parameters,
        # In files that do not say it, it is found.
        correspondence=correspondence or correspondence_of(samples.one_per_geometry()),
        periods=periods,
        provenance=provenance,
    )
    return header, samples


@contextmanager
def _opened(path: Path) -> Iterator[h5py.File]:
    if not path.is_file():
        raise ValueError(f"{path} is not a file; check the name, or make it with `gola generate` or `gola import`.")
    try:
        # Files are replaced as a whole, never changed in place, so locks protect nothing; and they fail on many
        # network disks.
        with h5py.File(path, "r", locking=False) as file:
            yield file
    except Exception as error:  # what the library raises depends on where a file is damaged
        if isinstance(error, ValueError) and str(path) in str(error):
            raise
        raise ValueError(f"{path} cannot be read: {_diagnosis(path, error)}.") from error


def _diagnosis(path: Path, error: Exception) -> str:
    if not os.access(path, os.R_OK):
        return "permission denied"
    if not h5py.is_hdf5(path):
        return "it is not an HDF5 file; bring other formats in with `gola import`"
    if "truncated" in str(error):
        return "it is truncated, perhaps by an interrupted copy; copy or generate it again"
    return f"it is damaged ({' '.join(str(error).split())}); copy or generate it again"


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _require_format(file: h5py.File, path: Path) -> None:
    if texts(file, "format") != [layout.FORMAT]:
        raise ValueError(
            f"{path} is an HDF5 file, but not a gola data set (its attribute `format` is not {layout.FORMAT!r}); "
            "see docs/data-format.md for how to write one."
        )
    version = file.attrs.get("version")
    if not isinstance(version, int | np.integer) or version < 1:
        raise ValueError(f"{path} has no valid attribute `version`; write the whole number {layout.VERSION} there.")
    if version > layout.VERSION:
        raise ValueError(
            f"{path} has format version {version}, and this gola reads up to {layout.VERSION}; upgrade gola to read it."
        )


def _require_checksum(file: h5py.File, path: Path) -> None:
    """Check what the file says about itself, before any of it is used."""
    stored = texts(file, layout.CHECKSUM)
    if not stored and file.attrs["version"] == 1:
        return  # written by hand, or before there were checksums
    if stored != [header_checksum(file)]:
        raise ValueError(f"{path} is damaged: the checksum of its header does not fit; copy or generate it again.")


def _require_datasets(file: h5py.File, path: Path) -> None:
    for name, ndim in _NUM_AXES.items():
        array = file.get(name)
        if array is None:
            if name in _REQUIRED:
                raise ValueError(f"{path} lacks the array {name!r}; see docs/data-format.md, or generate it again.")
            continue
        if not (isinstance(array, h5py.Dataset) and array.ndim == ndim):
            raise ValueError(f"{path}: {name!r} must be an array with {ndim} axes; see docs/data-format.md.")
        if array.dtype.kind not in "fuib":
            raise ValueError(f"{path}: {name!r} must hold numbers; it holds {array.dtype}.")
        most = path.stat().st_size * (_LARGEST_COMPRESSION if array.compression else 1)
        if array.nbytes > most:
            raise ValueError(
                f"{path}: {name!r} claims {len(array)} rows, more than the file can hold; copy or generate it again."
            )
    if file[layout.POINTS].shape[1] not in (1, 2, 3):
        raise ValueError(
            f"{path}: {layout.POINTS!r} must have 1, 2 or 3 columns; it has {file[layout.POINTS].shape[1]}."
        )


def _channels(file: h5py.File, name: str, path: Path) -> tuple[Channel, ...]:
    array = file[name]
    names = texts(array, "names")
    units = texts(array, "units") if "units" in array.attrs else [""] * len(names)
    if not len(names) == len(units) == array.shape[1]:
        raise ValueError(
            f"{path}: {name!r} has {array.shape[1]} columns, {len(names)} names and {len(units)} units; its attributes "
            "`names` and `units` need one text per column."
        )
    return tuple(Channel(name=name, unit=unit) for name, unit in zip(names, units, strict=True))


def _provenance(file: h5py.File, path: Path) -> dict[str, Any]:
    if layout.PROVENANCE not in file:
        return {}
    try:
        provenance = json.loads(file[layout.PROVENANCE].asstr()[()])
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: `provenance` must be a text in JSON ({error}).") from error
    if not isinstance(provenance, dict):
        raise ValueError(f"{path}: `provenance` must be a JSON object; got {type(provenance).__name__}.")
    return provenance


def _correspondence(file: h5py.File, path: Path) -> Correspondence | None:
    found = texts(file, layout.CORRESPONDENCE)
    if not found:
        return None
    for known in get_args(Correspondence):
        if found == [known]:
            return cast("Correspondence", known)
    known = ", ".join(get_args(Correspondence))
    raise ValueError(f"{path}: the attribute `correspondence` must be one of {known}; got {found[0]!r}.")


def _periods(file: h5py.File, path: Path) -> Periods | None:
    if layout.PERIODS not in file.attrs:
        return None
    numbers = np.atleast_1d(file.attrs[layout.PERIODS])
    dim = file[layout.POINTS].shape[1]
    if numbers.dtype.kind not in "fui" or numbers.shape != (dim,) or (numbers <= 0).any() or np.isinf(numbers).any():
        raise ValueError(f"{path}: the attribute `periods` must hold {dim} positive numbers or NaN; got {numbers}.")
    return tuple(None if np.isnan(number) else float(number) for number in numbers)


def _index(file: h5py.File, path: Path) -> StoredSamples:
    """Work out where each sample lies, and check that the arrays have the lengths that this needs."""
    offsets = _offsets(file, layout.GEOMETRY_OFFSETS, len(file[layout.POINTS]), path)
    lengths = np.diff(offsets)
    if not (lengths > 0).all():
        raise ValueError(f"{path}: geometry {int(np.argmin(lengths))} has no points; leave it out.")
    geometries = _geometries(file, lengths, path)
    times = _times(file, len(geometries), path)
    num_targets = lengths[geometries]
    if times is not None:
        num_targets = num_targets * np.array([len(one) for one in times])
    per_time = times is not None and layout.INPUTS in file and texts(file[layout.INPUTS], layout.PER_TIME) == ["1"]
    num_inputs = num_targets if per_time else lengths[geometries]
    if layout.PARAMETERS in file and len(file[layout.PARAMETERS]) != len(geometries):
        raise ValueError(
            f"{path}: {layout.PARAMETERS!r} has {len(file[layout.PARAMETERS])} rows where there are {len(geometries)}"
            " samples."
        )
    needed = {layout.INPUTS: int(num_inputs.sum()), layout.TARGETS: int(num_targets.sum())}
    needed |= {layout.BOUNDARY: int(offsets[-1]), layout.WEIGHTS: int(offsets[-1])}
    for name, rows in needed.items():
        if name in file and len(file[name]) != rows:
            raise ValueError(f"{path}: {name!r} has {len(file[name])} rows where the points ask for {rows}.")
    cell_offsets = None
    if layout.CELLS in file:
        cell_offsets = _offsets(file, layout.CELL_OFFSETS, len(file[layout.CELLS]), path)
        if len(cell_offsets) != len(offsets):
            raise ValueError(f"{path}: {layout.CELL_OFFSETS!r} must be as long as {layout.GEOMETRY_OFFSETS!r}.")
    return StoredSamples(
        path=path,
        stamp=_stamp(path),
        dim=file[layout.POINTS].shape[1],
        geometries=geometries,
        starts=np.cumsum(num_targets) - num_targets,
        input_starts=np.cumsum(num_inputs) - num_inputs,
        offsets=offsets,
        cell_offsets=cell_offsets,
        checksums=_checksums(file, layout.SAMPLE_CHECKSUMS, len(geometries), path),
        geometry_checksums=_checksums(file, layout.GEOMETRY_CHECKSUMS, len(lengths), path),
        parameters=file[layout.PARAMETERS][()] if layout.PARAMETERS in file else None,
        times=times,
        inputs_per_time=per_time,
    )


def _times(file: h5py.File, num_samples: int, path: Path) -> tuple[np.ndarray, ...] | None:
    """Return the times of each trajectory; None where samples have no time."""
    if layout.TIMES not in file:
        return None
    stored = file[layout.TIMES][()]
    if layout.TIME_OFFSETS not in file:
        checked_times(stored, str(path))
        return (stored,) * num_samples
    offsets = _offsets(file, layout.TIME_OFFSETS, len(stored), path)
    if len(offsets) != num_samples + 1:
        raise ValueError(
            f"{path}: {layout.TIME_OFFSETS!r} has {len(offsets)} entries and should have {num_samples + 1}."
        )
    times = tuple(np.split(stored, offsets[1:-1]))
    for number, one in enumerate(times):
        checked_times(one, f"{path}, sample {number}")
    return times


def _checksums(file: h5py.File, name: str, count: int, path: Path) -> Int[np.ndarray, " entry"] | None:
    if name not in file:
        return None
    checksums = np.asarray(file[name][()], dtype=np.int64)
    if len(checksums) != count:
        raise ValueError(f"{path}: {name!r} has {len(checksums)} entries and should have {count}.")
    return checksums


def _offsets(file: h5py.File, name: str, end: int, path: Path) -> Int[np.ndarray, " geometry_plus_one"]:
    if name not in file:
        raise ValueError(f"{path} lacks the array {name!r}; see docs/data-format.md.")
    offsets = np.asarray(file[name][()], dtype=np.int64)
    if len(offsets) < 2 or offsets[0] != 0 or offsets[-1] != end or (np.diff(offsets) < 0).any():
        raise ValueError(f"{path}: {name!r} must rise from 0 to {end}, the number of rows it divides.")
    return offsets


def _geometries(file: h5py.File, lengths: Int[np.ndarray, " geometry"], path: Path) -> Int[np.ndarray, " sample"]:
    """Return the geometry of each sample: as stored, or one for all, or one each."""
    if layout.SAMPLE_GEOMETRY in file:
        geometries = np.asarray(file[layout.SAMPLE_GEOMETRY][()], dtype=np.int64)
        if len(geometries) == 0 or geometries.min() < 0 or geometries.max() >= len(lengths):
            raise ValueError(f"{path}: {layout.SAMPLE_GEOMETRY!r} must hold numbers from 0 to {len(lengths) - 1}.")
        return geometries
    if len(lengths) == 1:
        shared_times = len(file[layout.TIMES]) if layout.TIMES in file else 1
        tables = {layout.INPUTS: 1, layout.TARGETS: shared_times}
        counts = [len(file[layout.TIME_OFFSETS]) - 1] if layout.TIME_OFFSETS in file else []
        counts += [len(file[layout.PARAMETERS])] if layout.PARAMETERS in file else []
        counts += [len(file[name]) // max(1, int(lengths[0]) * n) for name, n in tables.items() if name in file]
        return np.zeros(max(1, counts[0] if counts else 1), dtype=np.int64)
    return np.arange(len(lengths))


def _rows(arrays: _Arrays, name: str, rows: slice) -> np.ndarray | None:
    """Return rows of an array as they are stored, or None where the file does not have it."""
    return arrays[name][rows] if name in arrays else None


def _tables(rows: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray:
    """Return rows as one table, or as one per time; without columns where there are none."""
    return np.empty((*shape, 0)) if rows is None else rows.astype(np.float64, copy=False).reshape(*shape, rows.shape[1])


def _as(rows: np.ndarray | None, dtype: type) -> np.ndarray | None:
    return None if rows is None else rows.astype(dtype, copy=False)
