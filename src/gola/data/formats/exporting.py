"""Write a sample for other programs: as a mesh that ParaView opens, a NumPy archive or a table."""

import contextlib
import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from jaxtyping import Float

from gola.data.sample import Channel, Sample
from gola.extras import require
from gola.files import replacing
from gola.registry import WRITERS

_CELL_KINDS = {1: "vertex", 2: "line", 3: "triangle", 4: "tetra"}
_Columns = Mapping[str, Float[np.ndarray, "*point"]]
Band = tuple[Float[np.ndarray, "*time point target_channel"], Float[np.ndarray, "*time point target_channel"]]
"""Lower and upper end of a band around predictions."""
# What names of targets are extended by.
_ADDED = ("predicted", "error", "lower", "upper")
Writer = Callable[[Path, Sample, _Columns, Mapping[str, str]], None]
"""Writes a sample to a path: its columns by name, where a parameter is an array without axes and what changes with time
has an axis for it, and their units."""
_OF_ALL_TIMES = (".npz", ".pvd")
"""Files that hold a trajectory; others hold one time."""
_COLLECTION = """<?xml version="1.0"?>
<VTKFile type="Collection" version="0.1" byte_order="LittleEndian">
  <Collection>
{entries}  </Collection>
</VTKFile>
"""


def export_sample(
    sample: Sample,
    path: str | Path,
    *,
    inputs: Sequence[Channel],
    targets: Sequence[Channel] = (),
    parameters: Sequence[Channel] = (),
    predictions: Float[np.ndarray, "*time point target_channel"] | None = None,
    band: Band | None = None,
    further: Mapping[str, float | Float[np.ndarray, " point"]] | None = None,
) -> None:
    """Write the points and values of a sample to a ``.vtu``, ``.vtk``, ``.npz`` or ``.csv`` file.

    A trajectory is written to a ``.npz`` file, or to a ``.pvd`` file that lists one ``.vtu`` file for each time, in a
    folder of the same name beside it.

    A target that has the name of an input gets ``_target`` added. Predictions of a target ``T`` are written as
    ``T_predicted``, with ``T_error = predicted − target`` where the target is known, and a band around them as
    ``T_lower`` and ``T_upper``. In meshes, channels ``U_x`` and
    ``U_y`` (and ``U_z``) are joined to the vector ``U``, and points without cells become single vertices. Archives keep
    cells too, and tables units; ``gola import`` reads all of them. Parameters are field data in ``.vtu``, numbers in
    archives, both called ``name [unit]`` where there is a unit; elsewhere columns with the same number in every row.

    Args:
        sample: What to write.
        path: The file; one that exists is replaced as a whole.
        inputs: Channels of the inputs, for their names.
        targets: Channels of the targets; of the predictions too.
        parameters: Names of the parameters.
        predictions: Values that an operator gave for the targets.
        band: Lower and upper end of a band around them.
        further: What else is known of the sample, by name: numbers, written like parameters, or values at its points.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in WRITERS:
        *most, last = WRITERS
        raise ValueError(f"Cannot export to {path}; the name must end in {', '.join(most)} or {last}.")
    if sample.has_time and suffix not in _OF_ALL_TIMES:
        raise ValueError(f"{path} can hold one time, and the sample is a trajectory; name a .pvd or an .npz file.")
    if not sample.has_time and suffix == ".pvd":
        raise ValueError(f"{path} is for trajectories, and the sample has no time; name a .vtu file.")
    write: Writer = WRITERS[suffix]
    columns = named_columns(sample, inputs, targets, predictions, band)
    given = _columns([channel.name for channel in parameters], sample.parameters[None], "parameter")
    others = {name: np.asarray(values) for name, values in (further or {}).items()}
    every = {**columns, **{name: number[0] for name, number in given.items()}, **others}
    units = _units([*inputs, *parameters], targets)
    if suffix == ".pvd":  # the files that it lists are named after it, so it has no temporary name
        write(path, sample, every, units)
        return
    with replacing(path) as temporary:
        write(temporary, sample, every, units)


def write_collection(path: Path, sample: Sample, columns: _Columns, units: Mapping[str, str]) -> None:
    """Write a trajectory: a mesh for each time, and the collection by which ParaView knows their times."""
    assert sample.times is not None
    folder = path.with_suffix("")
    folder.mkdir(exist_ok=True)
    entries = []
    for place, time in enumerate(sample.times.tolist()):
        file = folder / f"{path.stem}_{place:04d}.vtu"
        now = {name: column[place] if column.ndim == 2 else column for name, column in columns.items()}
        with replacing(file) as temporary:
            write_mesh(temporary, sample, now, units)
        listed = _in_xml(f"{folder.name}/{file.name}")
        entries.append(f'    <DataSet timestep="{time!r}" group="" part="0" file="{listed}"/>\n')
    # Last, so that it lists no file that is not there.
    with replacing(path) as temporary:
        temporary.write_text(_COLLECTION.format(entries="".join(entries)), encoding="utf-8")


def write_mesh(path: Path, sample: Sample, columns: _Columns, units: Mapping[str, str]) -> None:
    """Write a mesh that ParaView opens; points without cells become single vertices."""
    meshio = require("meshio", extra="mesh", what="Writing meshes")
    cells = np.arange(sample.num_points)[:, None] if sample.cells is None else sample.cells
    numbers: dict[str, float] = {}
    if path.suffix.lower() == ".vtu":
        numbers = {_with_unit(name, units): float(number) for name, number in columns.items() if number.ndim == 0}
        arrays = _with_vectors({name: column for name, column in columns.items() if column.ndim})
        # meshio writes names into XML as they are.
        arrays = {_in_xml(name): array for name, array in arrays.items()}
    else:
        arrays = _with_vectors(_at_points(columns, sample))
        _require_no_spaces(arrays, path)
    mesh = meshio.Mesh(
        np.pad(sample.points, ((0, 0), (0, 3 - sample.dim))),
        [(_CELL_KINDS[cells.shape[1]], cells)],
        point_data=arrays,
    )
    # meshio prints notes about what it fills in, which belong to nobody's output.
    with contextlib.redirect_stderr(io.StringIO()):
        mesh.write(path)
    if numbers:
        _add_field_data(path, numbers)


def _add_field_data(path: Path, numbers: Mapping[str, float]) -> None:
    """Add numbers of the whole mesh to a .vtu file, which meshio reads and does not write."""
    arrays = "".join(
        f'<DataArray type="Float64" Name="{_in_xml(name)}" NumberOfTuples="1" format="ascii">{number!r}</DataArray>'
        for name, number in numbers.items()
    )
    start, grid, rest = path.read_bytes().partition(b"<UnstructuredGrid>")
    path.write_bytes(start + grid + f"<FieldData>{arrays}</FieldData>".encode() + rest)


def _in_xml(name: str) -> str:
    return escape(name, {'"': "&quot;"})


def write_npz(path: Path, sample: Sample, columns: _Columns, units: Mapping[str, str]) -> None:
    """Write a NumPy archive."""
    known = {name: getattr(sample, name) for name in ("points", "cells", "boundary", "weights", "times")}
    # The last two are names of NumPy's own arguments.
    if taken := sorted(set(columns) & {*known, "file", "allow_pickle"}):
        raise ValueError(f"An archive cannot hold a channel named {taken[0]!r}; rename it, or write .vtu or .csv.")
    arrays: dict[str, Any] = {name: array for name, array in known.items() if array is not None}
    named = {name if column.ndim else _with_unit(name, units): column for name, column in columns.items()}
    np.savez(path, **arrays, **dict[str, Any](named))


def write_table(path: Path, sample: Sample, columns: _Columns, units: Mapping[str, str]) -> None:
    """Write a table with one row per point."""
    axes = ["x", "y", "z"][: sample.dim]
    if taken := sorted(name for name in columns if name.lower() in ("x", "y", "z")):
        raise ValueError(f"A table cannot hold a channel named {taken[0]!r}, a coordinate; rename it, or write .vtu.")
    header = [*axes, *(_with_unit(name, units) for name in columns)]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerow(header)
        table = np.column_stack([sample.points, *_at_points(columns, sample).values()])
        np.savetxt(file, table, delimiter=",", fmt="%.17g")


def _with_unit(name: str, units: Mapping[str, str]) -> str:
    return str(Channel(name=name, unit=units.get(name, "")))


def _at_points(columns: _Columns, sample: Sample) -> dict[str, Float[np.ndarray, " point"]]:
    """Return columns with parameters as constants."""
    return {name: np.broadcast_to(column, sample.num_points) for name, column in columns.items()}


def named_columns(
    sample: Sample,
    inputs: Sequence[Channel],
    targets: Sequence[Channel],
    predictions: Float[np.ndarray, "*time point target_channel"] | None,
    band: Band | None = None,
) -> dict[str, Float[np.ndarray, "*_time point"]]:
    """Return all that is known at the points of a sample, under the names that files use."""
    columns = _columns([channel.name for channel in inputs], sample.inputs, "input")
    taken = set(columns)
    names = [f"{channel.name}_target" if channel.name in taken else channel.name for channel in targets]
    known = sample.targets.shape[-1] > 0
    if known:
        columns |= _columns(names, sample.targets, "target")
    if predictions is not None:
        columns |= _columns([_suffixed(channel.name, "predicted") for channel in targets], predictions, "predicted")
        if known:
            errors = predictions - sample.targets
            columns |= _columns([_suffixed(channel.name, "error") for channel in targets], errors, "error")
    for end, values in zip(("lower", "upper"), band or (), strict=False):
        columns |= _columns([_suffixed(channel.name, end) for channel in targets], values, end)
    return columns


def _units(inputs: Sequence[Channel], targets: Sequence[Channel]) -> dict[str, str]:
    units = {channel.name: channel.unit for channel in inputs}
    for channel in targets:
        for name in (channel.name, *(_suffixed(channel.name, what) for what in _ADDED)):
            units.setdefault(name, channel.unit)
        units.setdefault(f"{channel.name}_target", channel.unit)
    return units


def _columns(
    names: Sequence[str], values: Float[np.ndarray, "*time point channel"], role: str
) -> dict[str, Float[np.ndarray, "*time point"]]:
    if values.shape[-1] != len(names):
        raise ValueError(f"There are {values.shape[-1]} {role} channels and {len(names)} names; they must agree.")
    return dict(zip(names, np.moveaxis(values, -1, 0), strict=True))


def _suffixed(name: str, suffix: str) -> str:
    """Add to a name, before the component: U_x becomes U_predicted_x, so that vectors stay together."""
    stem, separator, axis = name.rpartition("_")
    return f"{stem}_{suffix}_{axis}" if separator and axis in ("x", "y", "z") else f"{name}_{suffix}"


def _require_no_spaces(names: Iterable[str], path: Path) -> None:
    spaced = next((name for name in names if any(map(str.isspace, name))), None)
    if spaced is not None:
        raise ValueError(f"{path.suffix} files cannot hold a channel named {spaced!r}, with a space; write .vtu.")


def _with_vectors(
    columns: Mapping[str, Float[np.ndarray, " point"]],
) -> dict[str, Float[np.ndarray, "point *component"]]:
    """Join columns that differ in their last letter, x, y, z, to vectors with three components."""
    arrays: dict[str, np.ndarray] = {}
    for name, column in columns.items():
        stem = name.removesuffix("_x").removesuffix("_y").removesuffix("_z")
        if stem == name or not {f"{stem}_x", f"{stem}_y"} <= set(columns) or stem in columns:
            arrays[name] = np.ascontiguousarray(column)
        elif stem not in arrays:
            parts = [columns.get(f"{stem}_{axis}", np.zeros_like(column)) for axis in "xyz"]
            arrays[stem] = np.stack(parts, axis=1)
    return arrays
