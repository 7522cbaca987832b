"""Read point clouds without cells: NumPy archives and tables of text."""

import csv
import math
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped

from gola.data.formats.archive_series import read_trajectories
from gola.data.formats.case import Case
from gola.data.sample import Channel

_COORDINATES = (("x", "y", "z"), ("points:0", "points:1", "points:2"), ("points_0", "points_1", "points_2"))
"""How tables name coordinates, in small letters; the last two are ParaView's."""
_RESERVED = ("points", "cells", "boundary", "weights")
# The deflate algorithm shrinks nothing by more than a factor of 1032.
_LARGEST_COMPRESSION = 1032
_LONGEST_LINE = 100_000
_MOST_EMPTY_LINES = 100


def read_npz(path: Path) -> list[Case]:
    """Read a NumPy archive with the array ``points`` and one array per channel.

    Points have shape (points, dim) or, for S samples with points of their own, (S, points, dim). Other arrays
    are (points,) or (points, components), the same for all samples; (S, points) or (S, points, components). A single
    number and S numbers, one per sample, are parameters; so are the columns of an array ``parameters``, (S, number of
    parameters), whose names may be in ``parameter_names``. ``cells``, ``boundary`` and ``weights`` are optional. With
    an array ``times`` the samples are trajectories.
    """
    stored = _load_npz(path)
    if "points" not in stored or stored["points"].ndim not in (2, 3):
        raise ValueError(
            f"{path} needs an array `points` of shape (points, dim) or (samples, points, dim); "
            f"it has {', '.join(f'{name} {array.shape}' for name, array in stored.items()) or 'nothing'}."
        )
    points = stored["points"]
    if points.dtype.kind not in "fuib" or 0 in points.shape:
        raise ValueError(f"{path}: `points` must be numbers, at least one; it is {points.dtype} of {points.shape}.")
    return read_trajectories(stored, path, _cases) if "times" in stored else _cases(stored, path)


def _cases(stored: dict[str, np.ndarray], path: Path) -> list[Case]:
    """Return the samples of an archive, none of whose arrays has an axis for the time."""
    points = stored["points"]
    num_points = points.shape[-2]
    num_samples = _num_samples(stored, num_points)
    if num_samples == 0:
        raise ValueError(f"{path} holds arrays for 0 samples; it needs at least one.")
    _require_cells(stored.get("cells"), num_samples, num_points, path)
    numbers = _numbers(stored, num_samples, num_points, path)
    spread, unusable = {}, {}
    for name, array in stored.items():
        if name not in ("points", "cells", "parameters", "parameter_names", *numbers):
            try:
                spread[name] = _spread(array, num_samples, num_points)
            except ValueError as error:
                unusable[name] = str(error)
    if broken := unusable.keys() & _RESERVED:
        raise ValueError(f"{path}: {broken.pop()!r} {unusable.popitem()[1]}.")
    return [
        Case(
            label=str(path) if num_samples == 1 else f"{path}[{sample}]",
            points=np.asarray(points if points.ndim == 2 else points[sample], dtype=np.float64),
            arrays={name: array[sample].astype(np.float64) for name, array in spread.items() if name not in _RESERVED},
            parameters={Channel.parse(name).name: float(values[sample]) for name, values in numbers.items()},
            units={channel.name: channel.unit for channel in map(Channel.parse, numbers)},
            unusable=unusable,
            boundary=spread["boundary"][sample].astype(bool) if "boundary" in spread else None,
            cells=_cells(stored.get("cells"), sample),
            weights=spread["weights"][sample].astype(np.float64) if "weights" in spread else None,
        )
        for sample in range(num_samples)
    ]


def read_table(path: Path) -> list[Case]:
    """Read a table with one row per point, a first line that names the columns, and coordinates x, y, z."""
    names, delimiter, skipped = _table_header(path)
    body = _table_body(path, delimiter, skipped)
    if body.shape[1] != len(names):
        raise ValueError(f"{path} names {len(names)} columns in its first line and has {body.shape[1]} below.")
    channels = [Channel.parse(name) for name in names]
    names = [channel.name for channel in channels]
    columns = dict(zip(names, body.T, strict=True))
    if len(columns) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{path} has two columns named {repeated!r}; rename one.")
    coordinates = _coordinate_columns(names, path)
    return [
        Case(
            label=str(path),
            points=np.stack([columns.pop(name) for name in coordinates], axis=1),
            arrays=columns,
            units={channel.name: channel.unit for channel in channels},
        )
    ]


def _load_npz(path: Path) -> dict[str, np.ndarray]:
    try:
        # Opened here, because NumPy forgets to close a file that turns out to be broken.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            for member in archive.zip.infolist():
                _require_fitting_header(archive.zip, member, path)
            return {name: archive[name] for name in archive.files}
    except Exception as error:  # what NumPy raises depends on where an archive is damaged
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{path} is not a NumPy archive of plain arrays ({reason}).") from error


def _require_fitting_header(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> None:
    """Compare the size that an array claims with that of its file, before memory is set aside for it."""
    if member.file_size > _LARGEST_COMPRESSION * path.stat().st_size:
        raise ValueError(f"{member.filename} claims {member.file_size} bytes, more than the archive can hold")
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read_header(file)
        if dtype.hasobject:
            raise ValueError(f"{member.filename} holds Python objects, which are not read")
        if math.prod(shape) * dtype.itemsize > member.file_size:
            raise ValueError(f"{member.filename} claims the shape {shape}, more than the archive holds")


def _num_samples(stored: dict[str, np.ndarray], num_points: int) -> int:
    """Return how many samples the arrays stack: from the points, else from any array that leaves no doubt."""
    if stored["points"].ndim == 3:
        return len(stored["points"])
    for name, array in stored.items():
        three_axes = array.ndim == 3 and array.shape[1] == num_points and name != "cells"
        two_axes = (
            array.ndim == 2 and array.shape[1] == num_points != array.shape[0] and name not in ("points", "cells")
        )
        if three_axes or two_axes:
            return len(array)
    if "parameters" in stored and stored["parameters"].ndim == 2:
        return len(stored["parameters"])
    # One mesh and lists of numbers: as many samples as there are numbers in each.
    lengths = {len(array) for name, array in stored.items() if array.ndim == 1 and name != "parameter_names"}
    return lengths.pop() if len(lengths) == 1 and num_points not in lengths else 1


def _numbers(
    stored: dict[str, np.ndarray], num_samples: int, num_points: int, path: Path
) -> dict[str, Shaped[np.ndarray, " sample"]]:
    """Return what is one number per sample, by name."""
    found = {}
    for name, array in stored.items():
        per_sample = array.shape == (num_samples,) and (num_samples != num_points or num_samples == 1)
        if name not in _RESERVED and array.dtype.kind in "fuib" and (array.ndim == 0 or per_sample):
            found[name] = np.broadcast_to(array, (num_samples,))
    if "parameters" in stored:
        found.pop("parameters", None)
        found |= _named_parameters(stored, num_samples, path)
    return found


def _named_parameters(
    stored: dict[str, np.ndarray], num_samples: int, path: Path
) -> dict[str, Shaped[np.ndarray, " sample"]]:
    table = stored["parameters"]
    if table.ndim < 2:
        table = table.reshape((num_samples, 1) if table.shape == (num_samples,) else (1, -1))
    if table.dtype.kind not in "fuib" or table.ndim != 2 or len(table) != num_samples:
        raise ValueError(
            f"{path}: `parameters` must be numbers of the shape ({num_samples}, parameters); it is {table.dtype} of"
            f" {stored['parameters'].shape}."
        )
    count = table.shape[1]
    names = [str(name) for name in stored.get("parameter_names", np.array(_numbered(count))).ravel()]
    if len(names) != count or len(set(names)) != count:
        raise ValueError(f"{path}: `parameter_names` must name {count} parameters, each once; it has {names}.")
    return dict(zip(names, table.T, strict=True))


def _numbered(count: int) -> list[str]:
    return ["parameter"] if count == 1 else [f"parameter_{number}" for number in range(count)]


def _spread(array: np.ndarray, num_samples: int, num_points: int) -> np.ndarray:
    """Return an array with a leading sample axis and a point axis."""
    if array.dtype.kind not in "fuib":
        raise ValueError(f"it holds {array.dtype}, not numbers")
    full = (num_samples, num_points)
    readings = []
    if array.shape[:2] == full and array.ndim <= 3:
        readings.append(array)
    if array.shape[:1] == (num_points,) and array.ndim <= 2:
        readings.append(np.broadcast_to(array, (num_samples, *array.shape)))
    if array.shape == (num_samples,):
        readings.append(np.broadcast_to(array.reshape(-1, 1), full))
    if len(readings) != 1 and not (num_samples == 1 and readings):
        why = "fits in more than one way" if readings else "does not fit"
        raise ValueError(
            f"its shape {array.shape} {why} {num_samples} samples of {num_points} points; "
            "give it the shape (samples, points, components)"
        )
    return readings[0]


def _require_cells(stored: np.ndarray | None, num_samples: int, num_points: int, path: Path) -> None:
    if stored is None:
        return
    stacked = stored.ndim == 3 and len(stored) == num_samples
    if stored.dtype.kind not in "ui" or not (stored.ndim == 2 or stacked):
        raise ValueError(
            f"{path}: `cells` must be whole numbers of shape (cells, vertices) or ({num_samples}, cells, vertices);"
            f" it is {stored.dtype} of {stored.shape}."
        )
    unknown = stored[(stored < 0) | (stored >= num_points)]
    if len(unknown):
        raise ValueError(
            f"{path}: `cells` refers to point {unknown[0]}, but the points are numbered 0 to {num_points - 1}."
        )


def _cells(stored: np.ndarray | None, sample: int) -> Any:
    return stored if stored is None or stored.ndim == 2 else stored[sample]


def _table_header(path: Path) -> tuple[list[str], str, int]:
    """Return the names of the columns, what separates them, and where the rows begin."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            lines = [file.readline(_LONGEST_LINE + 1) for _ in range(_MOST_EMPTY_LINES)]
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as text ({error}).") from error
    if any(len(line) > _LONGEST_LINE for line in lines):
        raise ValueError(f"{path} is no table: it has a line of more than {_LONGEST_LINE} characters.")
    place = next((number for number, line in enumerate(lines) if line.strip()), None)
    if place is None:
        raise ValueError(f"{path} is empty; it needs a first line that names the columns, for instance `x,y,k,T`.")
    line = lines[place].strip().removeprefix("#")  # NumPy's savetxt writes its header as a comment
    delimiter = max(",;\t", key=line.count)
    try:
        fields = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error as error:
        raise ValueError(f"{path}: its first line does not name columns ({error}).") from error
    names = [name.strip() for name in fields]
    if all(_is_number(name) for name in names):
        raise ValueError(f"{path} begins with numbers; it needs a first line that names the columns, like `x,y,k,T`.")
    return names, delimiter, place + 1


def _table_body(path: Path, delimiter: str, skipped: int) -> Float[np.ndarray, "row column"]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # "no data", which is reported below
            body: np.ndarray = np.loadtxt(
                path, delimiter=delimiter, skiprows=skipped, ndmin=2, encoding="utf-8-sig", quotechar='"'
            )
    except (ValueError, OSError, TypeError, OverflowError, IndexError, RuntimeError, MemoryError) as error:
        raise ValueError(f"{path} is not a table of numbers ({' '.join(str(error).split())}).") from error
    if body.size == 0:
        raise ValueError(f"{path} names its columns but has no rows.")
    return body


def _coordinate_columns(names: list[str], path: Path) -> list[str]:
    by_small_letters = {name.lower(): name for name in names}
    for axes in _COORDINATES:
        if axes[0] in by_small_letters:
            count = next((k for k, axis in enumerate(axes) if axis not in by_small_letters), 3)
            return [by_small_letters[axis] for axis in axes[:count]]
    raise ValueError(f"{path} needs coordinate columns x, y (and z in 3D); it has {', '.join(names)}.")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
