"""A hash of what a data set contains, wherever it is kept."""

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gola.data.dataset import Dataset


def fingerprint_of(data: "Dataset") -> str:
    """Return a hash of channels and samples: equal for equal content. Reads all samples."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr((data.inputs, data.targets, len(data))).encode())
    if data.parameters:
        digest.update(repr(data.parameters).encode())
        digest.update(np.ascontiguousarray(data.parameter_values).data)
    for times in data.times:
        digest.update(repr(times.shape).encode())
        digest.update(np.ascontiguousarray(times).data)
    if data.periods is not None:
        digest.update(repr(data.periods).encode())
    if data.low_fidelity:
        digest.update(repr(sorted(data.low_fidelity.items())).encode())
    for sample in data:
        arrays = (sample.points, sample.inputs, sample.targets, sample.boundary, sample.cells, sample.weights)
        for array in arrays:
            digest.update(b"none" if array is None else repr((array.shape, array.dtype.str)).encode())
            digest.update(b"" if array is None else np.ascontiguousarray(array).data)
    return digest.hexdigest()
