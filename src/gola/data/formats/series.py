"""Read files that hold, or list, the times of a trajectory: ParaView's collections and series, and XDMF."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gola.data.formats.case import Case
from gola.data.formats.mesh import quietly, read_mesh, read_steps, steps_of
from gola.data.formats.time_steps import joined
from gola.data.formats.xml import xml_elements
from gola.extras import require
from gola.registry import READERS

_LISTS = (".pvd", ".series")
"""Files that list others, and could list themselves."""


def read_pvd(path: Path) -> list[Case]:
    """Read a ParaView collection: a list of files, each with its time."""
    listed = [attributes for name, attributes in xml_elements(path) if name == "DataSet"]
    if not listed:
        raise ValueError(f"{path} lists no files; a ParaView collection has elements <DataSet timestep=... file=...>.")
    entries = []
    for place, attributes in enumerate(listed):
        try:
            entries.append((float(attributes.get("timestep", place)), attributes["file"]))
        except (KeyError, ValueError) as error:
            raise ValueError(
                f"{path}: entry {place} needs a file and a time that is a number; got {attributes}."
            ) from error
    return [_listed(entries, path)]


def read_series(path: Path) -> list[Case]:
    """Read a file series of ParaView, ``T.vtu.series``: a list of files with their times, in JSON."""
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))["files"]
        entries = [(float(entry["time"]), str(entry["name"])) for entry in listed]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(
            f'{path} is not a file series: it needs {{"files": [{{"name": ..., "time": ...}}]}}.'
        ) from error
    return [_listed(entries, path)]


def read_xdmf(path: Path) -> list[Case]:
    """Read an XDMF file: a trajectory if it is a time series, else one mesh."""
    grids = [attributes for name, attributes in xml_elements(path) if name == "Grid"]
    if not any(_is_temporal(attributes) for attributes in grids):
        return read_mesh(path)
    meshio = require("meshio", extra="mesh", what="Reading meshes")
    steps = quietly(lambda: _xdmf_steps(meshio, path), path)
    if not steps:
        raise ValueError(f"{path} is a time series without any time.")
    times = sorted(steps)
    return [joined(steps_of([steps[time] for time in times], [path] * len(times)), times, str(path))]


def _is_temporal(attributes: Any) -> bool:
    return attributes.get("GridType") == "Collection" and attributes.get("CollectionType") == "Temporal"


def _xdmf_steps(meshio: Any, path: Path) -> dict[float, Any]:
    """Return the mesh at each time; several collections, one for each field, are put together."""
    steps: dict[float, Any] = {}
    with meshio.xdmf.TimeSeriesReader(path) as reader:
        points, cells = reader.read_points_cells()
        for collection in [list(grid) for grid in reader.domain if _is_temporal(grid)]:
            reader.collection = collection
            for place in range(len(collection)):
                time, point_data, cell_data = reader.read_data(place)
                step = steps.setdefault(time, meshio.Mesh(points, cells))
                step.point_data.update(point_data)
                step.cell_data.update(cell_data)
    return steps


def _listed(entries: Sequence[tuple[float, str]], path: Path) -> Case:
    """Read the files of a list, in the order of their times."""
    if not entries:
        raise ValueError(f"{path} lists no files.")
    times = [time for time, _ in entries]
    repeated = next((time for time in times if times.count(time) > 1), None)
    if repeated is not None:
        raise ValueError(
            f"{path} lists {times.count(repeated)} files for the time {repeated:g}; join the parts of a mesh to one"
            " file, for instance with ParaView's filter Merge Blocks, and write one file for each time."
        )
    in_order = sorted(entries, key=lambda entry: entry[0])
    files = [path.parent / name for _, name in in_order]
    for file in files:
        if not file.is_file():
            raise ValueError(f"{path} lists {file}, which is not a file; keep them together.")
    return joined(one_time_each(files, path), [time for time, _ in in_order], str(path))


def one_time_each(files: Sequence[Path], of: Path) -> list[Case]:
    """Read files that hold one time of a simulation each.

    Args:
        files: The files.
        of: What lists them, for messages.
    """
    if not any(file.suffix.lower() in READERS for file in files):
        return read_steps(files)
    cases = []
    for file in files:
        suffix = file.suffix.lower()
        read: Callable[[Path], list[Case]] = READERS.get(suffix, read_mesh)
        found = [] if suffix in _LISTS else read(file)
        if len(found) != 1 or found[0].times is not None:
            raise ValueError(f"{file} of {of} does not hold one time of one simulation.")
        cases += found
    return cases
