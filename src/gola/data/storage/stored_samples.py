"""Samples of an HDF5 file, read when they are asked for and no earlier."""

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import h5py
import numpy as np
from jaxtyping import Float, Int, Shaped

from gola.data.sample import Sample
from gola.data.storage import layout
from gola.data.storage.checksums import rows_checksum

_Arrays = dict[str, h5py.Dataset]
_Geometry = dict[str, np.ndarray | None]


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
        with opened(self.path) as file:
            if stamp(self.path) != self.stamp:
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


@contextmanager
def opened(path: Path) -> Iterator[h5py.File]:
    """Open a file to read, and name it in every error."""
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


def stamp(path: Path) -> tuple[int, int]:
    """Return what changes when a file does: its size and time of change."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _rows(arrays: _Arrays, name: str, rows: slice) -> np.ndarray | None:
    """Return rows of an array as they are stored, or None where the file does not have it."""
    return arrays[name][rows] if name in arrays else None


def _tables(rows: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray:
    """Return rows as one table, or as one per time; without columns where there are none."""
    return np.empty((*shape, 0)) if rows is None else rows.astype(np.float64, copy=False).reshape(*shape, rows.shape[1])


def _as(rows: np.ndarray | None, dtype: type) -> np.ndarray | None:
    return None if rows is None else rows.astype(dtype, copy=False)
