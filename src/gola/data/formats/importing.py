"""Make a data set of simulations in foreign files: meshes, NumPy archives, tables."""

import glob
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np

from gola.data.constant_inputs import as_parameters, constant_inputs
from gola.data.dataset import Dataset
from gola.data.formats.case import Case
from gola.data.formats.cases import CaseTable, read_cases
from gola.data.formats.choosing import (
    Chosen,
    choose,
    computed,
    offers,
    require_same_channels,
    samples_of,
    with_distances,
    with_regions,
    with_table,
    without_flat_axes,
)
from gola.data.formats.mesh import read_mesh
from gola.data.formats.series import one_time_each
from gola.data.formats.time_steps import given_times, grouped, joined
from gola.data.low_fidelity import by_component
from gola.data.periods import from_axes
from gola.data.sample import Channel, Sample
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


def import_files(
    patterns: str | Path | Sequence[str | Path],
    *,
    inputs: Sequence[str | Channel] = (),
    targets: Sequence[str | Channel] = (),
    parameters: str | Path | None = None,
    regions: Sequence[str] = (),
    distances: Sequence[str] = (),
    periods: Mapping[str, float] | None = None,
    keep_fields: bool = False,
    series: bool = False,
    times: str | Path | Sequence[float] | None = None,
    low_fidelity: Mapping[str, str] | None = None,
) -> Dataset:
    """Read simulations from files, one or more per file, and choose their channels.

    A name stands for an array at the points or cells, or for one component of it. A vector gives one channel
    per component: ``U`` becomes ``U_x``, ``U_y`` and ``U_z``. Where all meshes are flat (z is the same everywhere), z
    is dropped from points and vectors. What is one number per simulation becomes a parameter: field data of meshes,
    single numbers in archives, and channels that are the same at all points.

    Files with several times (``.pvd``, ``.series``, XDMF time series, archives with an array ``times``) give
    trajectories; so do numbered files of one time each, if ``series`` says so. There ``T(0)`` stands for what T is at
    the first time.

    Args:
        patterns: Files, or patterns such as ``"case_*.vtu"``; matches are taken in natural order, 2 before 10.
        inputs: Names of the inputs, or channels with units. If neither inputs nor a table of parameters is given, all
            numbers in the files that differ between simulations are parameters.
        targets: Names of the targets; none for inputs without solutions.
        parameters: A table with a row of parameters for each simulation, by the name of its file or in their order.
        regions: Arrays of labels (``"MaterialIds"``) that become indicator functions, one for each labelled part.
        distances: What to add the distance to as an input: ``"boundary"``, or a labelled part (``"MaterialIds=3"``).
        periods: Lengths of periodic axes by name, ``{"x": 1.0}``.
        keep_fields: Whether channels that are one number per simulation stay input channels.
        series: Whether files whose paths differ in their last number only, ``case_1/T_*.vtu``, are the times of one
            trajectory.
        times: The times of such files: a list for every trajectory, a file with such a list, or a table with columns
            ``file`` and ``time``; by default the numbers in the names.
        low_fidelity: By name of a target the name of the array that approximates it, ``{"U": "U_coarse"}``; it becomes
            an input if it is none yet.

    Raises:
        ValueError: If nothing matches, a file cannot be read, a channel is missing or a value is not a finite number.
    """
    files, cases = _read_series(patterns, times) if series else _read_all(patterns)
    if times is not None and not series:
        raise ValueError("times belong to numbered files, one for each time; say that they are a series.")
    if not inputs and not targets:
        _warn_of_no_targets(cases[0], regions)
    if not (inputs or regions or distances) and parameters is None:
        _warn_of_unusable(cases[0], targets)
        inputs = _differing_numbers(cases)
    approximations = low_fidelity or {}
    inputs = [*inputs, *(name for name in approximations.values() if name not in map(_name, inputs))]
    chosen = [choose(case, inputs, targets, keep_fields=keep_fields) for case in cases]
    chosen = with_distances(with_regions(chosen, regions), distances)
    if parameters is not None:
        names = [re.sub(r"[-_.]?\*", "", str(file)) for file in files]
        chosen = with_table(chosen, read_cases(parameters), names)
    dataset = _dataset(files, chosen, periods=periods)
    dataset = dataset if keep_fields else as_parameters(dataset, constant_inputs(dataset))
    return dataset.with_low_fidelity(by_component(approximations, dataset.inputs, dataset.targets))


def import_inputs(
    patterns: str | Path | Sequence[str | Path],
    *,
    inputs: Sequence[str | Channel],
    targets: Sequence[str | Channel],
    parameters: Sequence[Channel] = (),
    table: CaseTable | None = None,
) -> Dataset:
    """Read simulations like :func:`import_files`, where the solution need not be known.

    Args:
        patterns: Files, or patterns.
        inputs: Names of the inputs, or channels with units. Indicators of regions (``"MaterialIds=3"``) and distances
            (``"boundary_distance"``) are computed where files do not have them.
        targets: Names of the targets, which are read if every simulation has them all.
        parameters: The parameters to look for: those that files have, as numbers or as channels that are the same at
            all points, are read.
        table: Further parameters of each simulation, if there are several.
    """
    files, cases = _read_all(patterns)
    cases = [_with_computed(case, inputs) for case in cases]
    known = targets if all(offers(case, targets) for case in cases) else ()
    found = [one for one in parameters if all(offers(case, [one]) for case in cases)]
    if table is not None and len(cases) > 1:
        found = [one for one in found if one.name not in {channel.name for channel in table.channels}]
    chosen = [choose(case, [*inputs, *found], known) for case in cases]
    if table is not None and len(cases) > 1:
        chosen = with_table(chosen, table, [str(file) for file in files])
    dataset = _dataset(files, chosen)
    constant = constant_inputs(dataset, kinds=("parameter", "constant"))
    names = [channel.name for channel in found]
    return as_parameters(dataset, [column for column in constant if dataset.inputs[column].name in names])


def read_points(path: str | Path) -> Sample:
    """Read points, and cells if there are any, from a file with one simulation; what is known there is left out."""
    cases = _read_all(path)[1]
    if len(cases) != 1:
        raise ValueError(f"{path} holds the points of {len(cases)} samples; it must be one.")
    only = without_flat_axes([choose(cases[0], (), ())])[0]
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


def _read_all(patterns: str | Path | Sequence[str | Path]) -> tuple[list[Path], list[Case]]:
    """Return all simulations, and the file of each."""
    paths = find_files([patterns] if isinstance(patterns, str | Path) else patterns)
    pairs = [(path, case) for path in paths for case in _read(path)]
    return [path for path, _ in pairs], [case for _, case in pairs]


def _read_series(
    patterns: str | Path | Sequence[str | Path], times: str | Path | Sequence[float] | None
) -> tuple[list[Path], list[Case]]:
    """Return trajectories of numbered files, and the pattern of the files of each."""
    paths = find_files([patterns] if isinstance(patterns, str | Path) else patterns)
    cases = []
    for numbered in grouped(paths):
        for path in numbered.paths:
            _require_simulations(path)
        steps = one_time_each(numbered.paths, numbered.pattern)
        asked = given_times(Path(times), numbered.paths) if isinstance(times, str | Path) else times
        cases.append(joined(steps, numbered.numbers if asked is None else asked, str(numbered.pattern)))
    return [Path(case.label) for case in cases], cases


def _differing_numbers(cases: Sequence[Case]) -> list[Channel]:
    """Return the numbers that all simulations have and that differ between them, with the units in their names."""
    names = [name for name in cases[0].parameters if all(name in case.parameters for case in cases)]
    return [Channel.parse(name) for name in names if len({case.parameters[name] for case in cases}) > 1]


def _warn_of_unusable(case: Case, targets: Sequence[str | Channel]) -> None:
    """Say which arrays fit neither samples nor points, where nobody said what the parameters are."""
    wanted = {name if isinstance(name, str) else name.name for name in targets}
    for name, why in case.unusable.items():
        if name not in wanted:
            warnings.warn(f"{case.label}: {name!r} is left out: {why}.", stacklevel=3)


def _name(channel: str | Channel) -> str:
    return channel if isinstance(channel, str) else channel.name


def _warn_of_no_targets(case: Case, regions: Sequence[str]) -> None:
    """Say which arrays may have been meant as targets, where nobody said that only inputs are wanted."""
    others = [name for name in case.arrays if name not in regions]
    if others:
        warnings.warn(
            f"No targets were named, so nothing can be fitted to this data set. {case.label} also has"
            f" {', '.join(others)}; name what to predict by --targets or targets=….",
            stacklevel=3,
        )


def _with_computed(case: Case, inputs: Sequence[str | Channel]) -> Case:
    """Add indicators of regions and distances that inputs ask for and the file does not have."""
    further: dict[str, np.ndarray] = {}
    for wanted in inputs:
        if not offers(case, [wanted]):
            further |= computed(case, wanted if isinstance(wanted, str) else wanted.name)
    return replace(case, arrays={**case.arrays, **further})


def _dataset(files: Sequence[Path], chosen: Sequence[Chosen], *, periods: Mapping[str, float] | None = None) -> Dataset:
    require_same_channels(chosen)
    chosen = without_flat_axes(chosen)
    first = chosen[0]
    return Dataset.from_samples(
        samples_of(chosen),
        inputs=[column.channel for column in first.inputs],
        targets=[column.channel for column in first.targets],
        parameters=list(first.parameters),
        periods=from_axes(periods or {}, first.points.shape[1]),
        provenance={
            "source": "files",
            "files": [str(path) for path in dict.fromkeys(files)],
            "version": version("gola"),
        },
        labels=[one.case.label for one in chosen],
    )


def _read(path: Path) -> list[Case]:
    """Read a file by the reader for its ending; everything else is meshio's."""
    _require_simulations(path)
    read: Callable[[Path], list[Case]] = READERS.get(path.suffix.lower(), read_mesh)
    return read(path)


def _require_simulations(path: Path) -> None:
    suffix = path.suffix.lower()
    if suffix in _NO_SIMULATIONS and suffix not in READERS:
        raise ValueError(f"{path} cannot be imported: {_NO_SIMULATIONS[suffix]}.")


def _natural_order(path: Path) -> list[tuple[int, int, str]]:
    """Sort numbers inside names by value: case_2 before case_10."""
    parts = re.split(r"(\d+)", str(path))
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]
