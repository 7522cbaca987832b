"""Where each sample of an HDF5 file lies, and whether its arrays have the lengths that this needs."""

from pathlib import Path

import h5py
import numpy as np
from jaxtyping import Int

from gola.data.storage import layout
from gola.data.storage.checksums import texts
from gola.data.storage.stored_samples import StoredSamples, stamp
from gola.data.times import checked_times


def index_samples(file: h5py.File, path: Path) -> StoredSamples:
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
        stamp=stamp(path),
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
