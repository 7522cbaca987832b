"""What an HDF5 file says about itself and its samples, checked before any of it is used."""

import json
from pathlib import Path
from typing import Any, cast, get_args

import h5py
import numpy as np

from gola.data.correspondence import Correspondence, correspondence_of
from gola.data.periods import Periods
from gola.data.sample import Channel
from gola.data.storage import layout
from gola.data.storage.checksums import header_checksum, texts
from gola.data.storage.index import index_samples
from gola.data.storage.layout import Header
from gola.data.storage.stored_samples import StoredSamples, opened

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


def read_dataset(path: str | Path) -> tuple[Header, StoredSamples]:
    """Read what a file says about itself, check that it is whole, and leave the samples for later."""
    path = Path(path).absolute()
    with opened(path) as file:
        _require_format(file, path)
        _require_datasets(file, path)
        _require_checksum(file, path)
        inputs, targets, parameters = (_channels(file, name, path) if name in file else () for name in layout.CHANNELS)
        provenance, correspondence, periods = _provenance(file, path), _correspondence(file, path), _periods(file, path)
        low_fidelity = _low_fidelity(file, path)
        samples = index_samples(file, path)
    header = Header(
        inputs=inputs,
        targets=targets,
        parameters=parameters,
        # In files that do not say it, it is found.
        correspondence=correspondence or correspondence_of(samples.one_per_geometry()),
        periods=periods,
        low_fidelity=low_fidelity,
        provenance=provenance,
    )
    return header, samples


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


def _low_fidelity(file: h5py.File, path: Path) -> dict[str, str]:
    found = texts(file, layout.LOW_FIDELITY)
    if len(found) % 2:
        raise ValueError(
            f"{path}: the attribute `low_fidelity` must hold names in pairs, a target and the input that approximates"
            f" it; got {len(found)}."
        )
    return dict(zip(found[::2], found[1::2], strict=True))


def _periods(file: h5py.File, path: Path) -> Periods | None:
    if layout.PERIODS not in file.attrs:
        return None
    numbers = np.atleast_1d(file.attrs[layout.PERIODS])
    dim = file[layout.POINTS].shape[1]
    if numbers.dtype.kind not in "fui" or numbers.shape != (dim,) or (numbers <= 0).any() or np.isinf(numbers).any():
        raise ValueError(f"{path}: the attribute `periods` must hold {dim} positive numbers or NaN; got {numbers}.")
    return tuple(None if np.isnan(number) else float(number) for number in numbers)
