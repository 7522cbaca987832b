"""Checksums of a data set's file, so that nothing in it changes unnoticed."""

import hashlib
import json
import zlib
from collections.abc import Iterable

import h5py
import numpy as np

from gola.data.storage import layout


def rows_checksum(arrays: Iterable[np.ndarray | None]) -> int:
    """Return the CRC-32 of the bytes of arrays, one after the other."""
    checksum = 0
    for array in arrays:
        if array is not None:
            checksum = zlib.crc32(np.ascontiguousarray(array).tobytes(), checksum)
    return checksum


def header_checksum(file: h5py.File) -> str:
    """Return a checksum of all that a file holds besides its rows, which have checksums of their own.

    It covers format, version, names and units of channels, types and shapes of arrays, the provenance, and every array
    of whole numbers that says where samples lie.
    """
    about = {name: texts(file, name) for name in ("format", "version", "writer")}
    shapes = {name: (file[name].dtype.str, file[name].shape) for name in layout.ARRAYS if name in file}
    channels = [texts(file[name], what) for name in layout.CHANNELS if name in file for what in _NAMING]
    # Files of version 2 have none of these, and their checksum knows nothing of them.
    for name in (layout.PARAMETERS, layout.TIMES):
        if name in file:
            shapes[name] = (file[name].dtype.str, file[name].shape)
    if layout.INPUTS in file and layout.PER_TIME in file[layout.INPUTS].attrs:
        about[layout.PER_TIME] = texts(file[layout.INPUTS], layout.PER_TIME)
    if layout.CORRESPONDENCE in file.attrs:
        about[layout.CORRESPONDENCE] = texts(file, layout.CORRESPONDENCE)
    if layout.PERIODS in file.attrs:
        about[layout.PERIODS] = [str(number) for number in np.atleast_1d(file.attrs[layout.PERIODS]).tolist()]
    provenance = file[layout.PROVENANCE].asstr()[()] if layout.PROVENANCE in file else None
    digest = hashlib.blake2b(json.dumps([about, shapes, channels, provenance]).encode(), digest_size=16)
    times = [layout.TIME_OFFSETS] if layout.TIME_OFFSETS in file else []
    for name in (*layout.INDICES, *layout.CHECKSUMS, *times):
        digest.update(name.encode() if name in file else b"")
        digest.update(np.asarray(file[name][()]).astype("<i8").tobytes() if name in file else b"")
    return digest.hexdigest()


def texts(owner: h5py.HLObject, name: str) -> list[str]:
    """Return the texts of an attribute; empty where there is none."""
    found = np.atleast_1d(owner.attrs.get(name, []))
    return [text.decode() if isinstance(text, bytes) else str(text) for text in found.tolist()]


_NAMING = ("names", "units")
