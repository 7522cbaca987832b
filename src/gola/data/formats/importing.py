"""Make a data set of simulations in foreign files: meshes, NumPy archives, tables."""

import glob
import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
from jaxtyping import Float

from gola.data.dataset import Dataset
from gola.data.formats.case import Case
from gola.data.formats.mesh import read_mesh
from gola.data.sample import Channel, Sample
from gola.data.validation import checked_sample
from gola.registry import READERS

_OBJECTS = (
    "it may hold code, which gola never runs. Load it in Python, and pass arrays to gola.Dataset.from_arrays, or write"
    " them with numpy.savez(name, points=..., and an array per channel)"
)
_NO_SIMULATIONS = {
    ".npy": "it is a single array, without points or names. Write an archive with numpy.savez(name, points=..., and an"
    " array per channel), or pass arrays to gola.Dataset.from_arrays",
    ".mat": "write its arrays as an archive, with scipy.io.loadmat and numpy.savez, or pass them to"
    " gola.Dataset.from_arrays",
    ".gola": "it is a fitted surrogate, not a simulation",
    **dict.fromkeys((".pt", ".pth", ".pkl", ".pickle", ".joblib"), _OBJECTS),
}
"""Files that users try, and what to do instead."""
# Relative to the largest coordinate; files in single precision keep seven digits.
_ROUNDING = 1e-7


def import_files(
    patterns: str | Path | Sequence[str | Path],
    *,
    inputs: Sequence[str | Channel],
    targets: Sequence[str | Channel] = (),
) -> Dataset:
    """Read simulations from files, one or more per file, and choose their channels.

    A name stands for an array at the points or cells, or for one component of it. A vector gives one channel
    per component: ``U`` becomes ``U_x``, ``U_y`` and ``U_z``. Where all meshes are flat (z is the same everywhere), z
    is dropped from points and vectors.

    Args:
        patterns: Files, or patterns such as ``"case_*.vtu"``; matches are taken in natural order, 2 before 10.
        inputs: Names of the inputs, or channels with units.
        targets: Names of the targets; none for inputs without solutions.

    Raises:
        ValueError: If nothing matches, a file cannot be read, a channel is missing or a value is not a finite number.
    """
    paths = _paths(patterns)
    cases = [case for path in paths for case in _read(path)]
    return _dataset(paths, [_choose(case, inputs, targets) for case in cases])


def import_inputs(
    patterns: str | Path | Sequence[str | Path],
    *,
    inputs: Sequence[str | Channel],
    targets: Sequence[str | Channel],
) -> Dataset:
    """Read simulations like :func:`import_files`, where the solution need not be known.

    Args:
        patterns: Files, or patterns.
        inputs: Names of the inputs, or channels with units.
        targets: Names of the targets, which are read if every simulation has them all.
    """
    paths = _paths(patterns)
    cases = [case for path in paths for case in _read(path)]
    known = targets if all(_offers(case, targets) for case in cases) else ()
    return _dataset(paths, [_choose(case, inputs, known) for case in cases])


def read_points(path: str | Path) -> Sample:
    """Read points, and cells if there are any, from a file with one simulation; what is known there is left out."""
    cases = _read(_paths(path)[0])
    if len(cases) != 1:
        raise ValueError(f"{path} holds the points of {len(cases)} samples; it must be one.")
    only = _without_flat_axes([_choose(cases[0], (), ())])[0]
    nothing = np.empty((len(only.points), 0))
    return Sample(
        points=only.points, inputs=nothing, targets=nothing, boundary=only.case.boundary, cells=only.case.cells
    )


def find_files(patterns: Sequence[str | Path]) -> list[Path]:
    """Return the files that match, each once, those of one pattern in natural order."""
    found: dict[Path, None] = {}
    for pattern in patterns:
        text = os.path.expanduser(str(pattern))
        matches = [text] if os.path.exists(text) else glob.glob(text, recursive=True)
        files = sorted((Path(match) for match in matches if os.path.isfile(match)), key=_natural_order)
        if not files:
            hint = f"; it is a folder, so try {str(Path(text) / '*.vtu')!r}" if os.path.isdir(text) else ""
            raise ValueError(f"No file matches {str(pattern)!r} in {Path.cwd()}{hint}.")
        found.update(dict.fromkeys(files))
    return list(found)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Column:
    """One chosen channel; ``implied`` if the user named the vector and not this component."""

    channel: Channel
    values: Float[np.ndarray, " point"]
    implied: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class _Chosen:
    """A case with the channels that the user wants, and no others."""

    case: Case
    points: Float[np.ndarray, "point dim"]
    inputs: list[_Column]
    targets: list[_Column]


def _paths(patterns: str | Path | Sequence[str | Path]) -> list[Path]:
    return find_files([patterns] if isinstance(patterns, str | Path) else patterns)


def _dataset(paths: Sequence[Path], chosen: Sequence[_Chosen]) -> Dataset:
    _require_same_channels(chosen)
    chosen = _without_flat_axes(chosen)
    provenance = {"source": "files", "files": [str(path) for path in paths], "version": version("gola")}
    first = chosen[0]
    named = [column.channel for column in first.inputs], [column.channel for column in first.targets]
    labels = [one.case.label for one in chosen]
    return Dataset.from_samples(
        _samples(chosen), inputs=named[0], targets=named[1], provenance=provenance, labels=labels
    )


def _offers(case: Case, names: Sequence[str | Channel]) -> bool:
    try:
        return all(case.columns(name if isinstance(name, str) else name.name) for name in names)
    except ValueError:
        return False


def _read(path: Path) -> list[Case]:
    """Read a file by the reader for its ending; everything else is meshio's."""
    suffix = path.suffix.lower()
    if suffix in _NO_SIMULATIONS and suffix not in READERS:
        raise ValueError(f"{path} cannot be imported: {_NO_SIMULATIONS[suffix]}.")
    read: Callable[[Path], list[Case]] = READERS.get(suffix, read_mesh)
    return read(path)


def _choose(case: Case, inputs: Sequence[str | Channel], targets: Sequence[str | Channel]) -> _Chosen:
    return _Chosen(
        case=replace(case, arrays={}),  # lets go of what nobody asked for
        points=case.points,
        inputs=[column for wanted in inputs for column in _columns(case, wanted)],
        targets=[column for wanted in targets for column in _columns(case, wanted)],
    )


def _columns(case: Case, wanted: str | Channel) -> Iterator[_Column]:
    name, unit = (wanted, "") if isinstance(wanted, str) else (wanted.name, wanted.unit)
    unit = unit or case.units.get(name, "")
    for part, values in case.columns(name).items():
        yield _Column(channel=Channel(name=part, unit=unit), values=values, implied=part != name)


def _require_same_channels(chosen: Sequence[_Chosen]) -> None:
    first = chosen[0]
    expected = [column.channel for column in first.inputs + first.targets]
    for other in chosen[1:]:
        got = [column.channel for column in other.inputs + other.targets]
        if got != expected:
            raise ValueError(
                f"{other.case.label} gives the channels {', '.join(map(str, got))}, but {first.case.label} "
                f"{', '.join(map(str, expected))}; all files must agree."
            )


def _without_flat_axes(chosen: Sequence[_Chosen]) -> list[_Chosen]:
    """Drop z, or y and z, where it is the same in all files: most formats know three coordinates only."""
    dim = 3
    if any(one.points.shape[1] != 3 for one in chosen):
        return list(chosen)
    while dim > 1 and _is_flat([one.points for one in chosen], dim - 1):
        dim -= 1
    if dim == 3:
        _warn_of_planes(chosen)
    dropped = tuple(f"_{axis}" for axis in "xyz"[dim:])
    columns = [column for one in chosen for column in one.inputs + one.targets]
    needed = {column.channel.name for column in columns if not column.implied or column.values.any()}

    def remaining(columns: list[_Column]) -> list[_Column]:
        names = [column.channel.name for column in columns]
        return [c for c, name in zip(columns, names, strict=True) if name in needed or not name.endswith(dropped)]

    return [
        replace(one, points=one.points[:, :dim], inputs=remaining(one.inputs), targets=remaining(one.targets))
        for one in chosen
    ]


def _is_flat(points: Sequence[Float[np.ndarray, "_point dim"]], axis: int) -> bool:
    lowest = min(float(one[:, axis].min()) for one in points)
    highest = max(float(one[:, axis].max()) for one in points)
    largest = max(float(np.abs(one).max()) for one in points)
    return highest - lowest <= _ROUNDING * largest


def _warn_of_planes(chosen: Sequence[_Chosen]) -> None:
    """Warn of points in a plane that is not z = const: operators would see a volume with nothing in it."""
    if all(_lies_in_plane(one.points) for one in chosen):
        warnings.warn(
            f"All points of {chosen[0].case.label} lie in a plane which is not parallel to x and y; operators take"
            " them for points of a volume. Rotate the meshes until z is the same everywhere, and import them again.",
            stacklevel=5,
        )


def _lies_in_plane(points: Float[np.ndarray, "point dim"]) -> bool:
    if len(points) < 4 or not np.isfinite(points).all():
        return False
    centred = points - points.mean(axis=0)
    spread = np.linalg.svd(centred, compute_uv=False, full_matrices=False)
    return bool(spread[2] <= _ROUNDING * np.abs(points).max() * np.sqrt(len(points)))


def _samples(chosen: Sequence[_Chosen]) -> Iterator[Sample]:
    """Build the samples; what only some files have (cells, boundary, weights) is left out."""
    cases = [one.case for one in chosen]
    widths = {None if case.cells is None else case.cells.shape[1] for case in cases}
    keep_boundary = all(case.boundary is not None for case in cases)
    keep_weights = all(case.weights is not None for case in cases)
    for one in chosen:
        yield checked_sample(
            one.points,
            _table(one.inputs, len(one.points)),
            _table(one.targets, len(one.points)),
            boundary=one.case.boundary if keep_boundary else None,
            cells=one.case.cells if len(widths) == 1 else None,
            weights=one.case.weights if keep_weights else None,
            inputs=[column.channel for column in one.inputs],
            targets=[column.channel for column in one.targets],
            label=one.case.label,
        )


def _table(columns: Sequence[_Column], num_points: int) -> Float[np.ndarray, "point channel"]:
    return np.stack([column.values for column in columns], axis=1) if columns else np.empty((num_points, 0))


def _natural_order(path: Path) -> list[tuple[int, int, str]]:
    """Sort numbers inside names by value: case_2 before case_10."""
    parts = re.split(r"(\d+)", str(path))
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]
