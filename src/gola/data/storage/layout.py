"""Names in the file, and what a file says about itself. ``docs/data-format.md`` describes them for readers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np

from gola.data.sample import Channel

FORMAT = "gola-dataset"
VERSION = 2
"""Files of version 1 have no checksums, and load too."""
CHECKSUM = "checksum"

GEOMETRY_OFFSETS = "geometry/offsets"
POINTS = "geometry/points"
BOUNDARY = "geometry/boundary"
WEIGHTS = "geometry/weights"
CELLS = "geometry/cells"
CELL_OFFSETS = "geometry/cell_offsets"
SAMPLE_GEOMETRY = "samples/geometry"
INPUTS = "samples/inputs"
TARGETS = "samples/targets"
ARRAYS = (POINTS, BOUNDARY, WEIGHTS, CELLS, INPUTS, TARGETS)
INDICES = (GEOMETRY_OFFSETS, CELL_OFFSETS, SAMPLE_GEOMETRY)
GEOMETRY_CHECKSUMS = "geometry/checksums"
SAMPLE_CHECKSUMS = "samples/checksums"
CHECKSUMS = (GEOMETRY_CHECKSUMS, SAMPLE_CHECKSUMS)
PROVENANCE = "provenance"


@dataclass(frozen=True, kw_only=True)
class Header:
    """What a data set says about all of its samples.

    Attributes:
        inputs: Channels of the inputs.
        targets: Channels of the targets; empty for a set of inputs without solutions.
        provenance: Where the samples came from; anything that JSON can hold.
    """

    inputs: tuple[Channel, ...]
    targets: tuple[Channel, ...]
    provenance: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "provenance", as_provenance(self.provenance))


def as_provenance(provenance: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a deep copy as it will read after a journey through a file (tuples and arrays become lists).

    >>> as_provenance({"problem": "darcy", "size": (128, 128), "seed": np.int64(3)})
    {'problem': 'darcy', 'size': [128, 128], 'seed': 3}
    """
    try:
        copied: dict[str, Any] = json.loads(json.dumps(dict(provenance or {}), allow_nan=False, default=_plain))
    except (TypeError, ValueError) as error:
        raise ValueError(f"Provenance must consist of what JSON can hold: {error}.") from error
    return copied


def _plain(value: Any) -> Any:
    """Turn what NumPy computed into plain numbers."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} is a {type(value).__name__}")


def writer_name() -> str:
    """Return what this program signs its files with."""
    return f"gola {version('gola')}"
