"""Names in the file, and what a file says about itself. ``docs/data-format.md`` describes them for readers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np

from gola.data.correspondence import Correspondence
from gola.data.periods import Periods
from gola.data.sample import Channel

FORMAT = "gola-dataset"
VERSION = 3
"""Files of version 1 have no checksums, those of version 2 no parameters and no times; both load too."""
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
PARAMETERS = "samples/parameters"
TIMES = "samples/times"
TIME_OFFSETS = "samples/time_offsets"
PER_TIME = "per_time"
"""An attribute of the inputs: 1 where trajectories have input functions for each time, else 0."""
ARRAYS = (POINTS, BOUNDARY, WEIGHTS, CELLS, INPUTS, TARGETS)
CHANNELS = (INPUTS, TARGETS, PARAMETERS)
INDICES = (GEOMETRY_OFFSETS, CELL_OFFSETS, SAMPLE_GEOMETRY)
GEOMETRY_CHECKSUMS = "geometry/checksums"
SAMPLE_CHECKSUMS = "samples/checksums"
CHECKSUMS = (GEOMETRY_CHECKSUMS, SAMPLE_CHECKSUMS)
PROVENANCE = "provenance"
CORRESPONDENCE = "correspondence"
PERIODS = "periods"
LOW_FIDELITY = "low_fidelity"


@dataclass(frozen=True, kw_only=True)
class Header:
    """What a data set says about all of its samples.

    Attributes:
        inputs: Channels of the inputs; empty where parameters or the points alone make the difference.
        targets: Channels of the targets; empty for a set of inputs without solutions.
        parameters: Name and unit of each parameter.
        correspondence: How the points of one sample correspond to those of another; None where it is not known yet.
        periods: The period along each axis, None for an axis that is not periodic; None where none is.
        low_fidelity: By name of a target the name of the input channel that approximates it.
        provenance: Where the samples came from; anything that JSON can hold.
    """

    inputs: tuple[Channel, ...]
    targets: tuple[Channel, ...]
    parameters: tuple[Channel, ...] = ()
    correspondence: Correspondence | None = None
    periods: Periods | None = None
    low_fidelity: Mapping[str, str] = field(default_factory=dict)
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
