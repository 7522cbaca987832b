"""The user's choice among all that simulations in files offer: which arrays are inputs, targets and parameters."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float

from gola.data.formats.case import FIRST, Case
from gola.data.formats.cases import CaseTable
from gola.data.formats.distance import distance_to
from gola.data.formats.regions import same_parts
from gola.data.sample import Channel, Sample
from gola.data.validation import checked_sample
from gola.registry import unknown

# Relative to the largest coordinate; files in single precision keep seven digits.
_ROUNDING = 1e-7
_DISTANCE = "_distance"
BOUNDARY = "boundary"
"""What distances are measured to, unless it is a labelled part."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Column:
    """One chosen channel; ``implied`` if the user named the vector and not this component."""

    channel: Channel
    values: Float[np.ndarray, "*time point"]
    implied: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Chosen:
    """A case with the channels and parameters that the user wants, and no others."""

    case: Case
    points: Float[np.ndarray, "point dim"]
    inputs: list[Column] = field(default_factory=list)
    targets: list[Column] = field(default_factory=list)
    parameters: dict[Channel, float] = field(default_factory=dict)


def choose(
    case: Case, inputs: Sequence[str | Channel], targets: Sequence[str | Channel], *, keep_fields: bool = False
) -> Chosen:
    """Take channels by name; a name among the inputs may also stand for a number of the simulation, a parameter.

    Args:
        case: What there is.
        inputs: Names of the inputs.
        targets: Names of the targets.
        keep_fields: Whether numbers are to be input channels, constant over the points.
    """
    case = case.with_names_of([*inputs, *targets])
    columns: list[Column] = []
    parameters: dict[Channel, float] = {}
    for wanted in inputs:
        name = wanted if isinstance(wanted, str) else wanted.name
        numbers = {} if keep_fields or name in case.arrays else case.numbers(name)
        parameters |= {_channel(case, wanted, part): number for part, number in numbers.items()}
        columns += [] if numbers else _columns(case, wanted)
    return Chosen(
        case=case,
        points=case.points,
        inputs=columns,
        targets=[column for wanted in targets for column in _columns(case, wanted)],
        parameters=parameters,
    )


def offers(case: Case, names: Sequence[str | Channel]) -> bool:
    """Whether a case has all of these channels."""
    case = case.with_names_of(names)
    try:
        return all(case.columns(name if isinstance(name, str) else name.name) for name in names)
    except ValueError:
        return False


def with_regions(chosen: Sequence[Chosen], names: Sequence[str]) -> list[Chosen]:
    """Add the indicator functions of labelled parts as inputs, the same parts for all simulations."""
    for name in names:
        parts = same_parts([one.case.indicators(name) for one in chosen], [len(one.points) for one in chosen])
        chosen = [_with_inputs(one, own) for one, own in zip(chosen, parts, strict=True)]
    return list(chosen)


def with_distances(chosen: Sequence[Chosen], parts: Sequence[str]) -> list[Chosen]:
    """Add the distance to the boundary, or to labelled parts like ``MaterialIds=3``, as inputs."""
    return [_with_inputs(one, {f"{part}{_DISTANCE}": _distance(one.case, part) for part in parts}) for one in chosen]


def computed(case: Case, name: str) -> dict[str, Float[np.ndarray, " point"]]:
    """Compute an input that a file does not have: the indicator of a part, or the distance to one; none otherwise.

    Where a part has the name of one that other simulations have, and this one does not, its indicator is 0.
    """
    if name.endswith(_DISTANCE):
        return {name: _distance(case, name.removesuffix(_DISTANCE))}
    labels, separator, _ = name.partition("=")
    labels = labels.removesuffix(":boundary")
    if not separator or not (labels in case.labels or labels in case.arrays):
        return {}
    return {name: case.indicators(labels).get(name, np.zeros(len(case.points)))}


def with_table(chosen: Sequence[Chosen], table: CaseTable, files: Sequence[str]) -> list[Chosen]:
    """Add the parameters of a table.

    Args:
        chosen: The simulations.
        table: Their parameters.
        files: The file of each simulation.
    """
    rows = table.values[table.rows_for(files)].tolist()
    return [
        replace(one, parameters={**one.parameters, **dict(zip(table.channels, row, strict=True))})
        for one, row in zip(chosen, rows, strict=True)
    ]


def require_same_channels(chosen: Sequence[Chosen]) -> None:
    """Check that all simulations have the same channels and parameters."""
    first = chosen[0]
    expected = _names(first)
    for other in chosen[1:]:
        got = _names(other)
        if got != expected:
            raise ValueError(
                f"{other.case.label} gives the channels {', '.join(map(str, got))}, but {first.case.label} "
                f"{', '.join(map(str, expected))}; all files must agree."
            )


def without_flat_axes(chosen: Sequence[Chosen]) -> list[Chosen]:
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

    def remaining(columns: list[Column]) -> list[Column]:
        names = [column.channel.name for column in columns]
        kept = [name in needed or not name.removesuffix(FIRST).endswith(dropped) for name in names]
        return [column for column, keep in zip(columns, kept, strict=True) if keep]

    return [
        replace(one, points=one.points[:, :dim], inputs=remaining(one.inputs), targets=remaining(one.targets))
        for one in chosen
    ]


def samples_of(chosen: Sequence[Chosen]) -> Iterator[Sample]:
    """Build the samples; what only some files have (cells, boundary, weights) is left out."""
    cases = [one.case for one in chosen]
    widths = {None if case.cells is None else case.cells.shape[1] for case in cases}
    keep_boundary = all(case.boundary is not None for case in cases)
    keep_weights = all(case.weights is not None for case in cases)
    for one in chosen:
        yield checked_sample(
            one.points,
            _table(one.inputs, (len(one.points),)),
            _table(one.targets, _target_shape(one)),
            boundary=one.case.boundary if keep_boundary else None,
            cells=one.case.cells if len(widths) == 1 else None,
            weights=one.case.weights if keep_weights else None,
            parameter_values=list(one.parameters.values()),
            inputs=[column.channel for column in one.inputs],
            targets=[column.channel for column in one.targets],
            parameters=list(one.parameters),
            times=one.case.times,
            label=one.case.label,
        )


def _columns(case: Case, wanted: str | Channel) -> list[Column]:
    name = wanted if isinstance(wanted, str) else wanted.name
    return [
        Column(channel=_channel(case, wanted, part), values=values, implied=part != name)
        for part, values in case.columns(name).items()
    ]


def _channel(case: Case, wanted: str | Channel, part: str) -> Channel:
    name, unit = (wanted, "") if isinstance(wanted, str) else (wanted.name, wanted.unit)
    return Channel(name=part, unit=unit or case.units.get(name, ""))


def _with_inputs(chosen: Chosen, further: dict[str, Float[np.ndarray, " point"]]) -> Chosen:
    columns = [Column(channel=Channel(name=name), values=values) for name, values in further.items()]
    return replace(chosen, inputs=[*chosen.inputs, *columns])


def _distance(case: Case, part: str) -> Float[np.ndarray, " point"]:
    if part == BOUNDARY:
        if case.boundary is None or not case.boundary.any():
            raise ValueError(
                f"{case.label} does not tell which points lie on the boundary; there is no distance to it."
            )
        return distance_to(case.points, case.boundary, case.cells, outer=True)
    name = part.partition("=")[0].removesuffix(":boundary")
    indicators = case.indicators(name)
    if part not in indicators:
        raise ValueError(unknown(f"part of {case.label} called", part, [BOUNDARY, *indicators]))
    return distance_to(case.points, indicators[part] > 0.0, case.cells)


def _names(chosen: Chosen) -> list[Channel]:
    return [*(column.channel for column in chosen.inputs + chosen.targets), *chosen.parameters]


def _is_flat(points: Sequence[Float[np.ndarray, "_point dim"]], axis: int) -> bool:
    lowest = min(float(one[:, axis].min()) for one in points)
    highest = max(float(one[:, axis].max()) for one in points)
    largest = max(float(np.abs(one).max()) for one in points)
    return highest - lowest <= _ROUNDING * largest


def _warn_of_planes(chosen: Sequence[Chosen]) -> None:
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


def _target_shape(chosen: Chosen) -> tuple[int, ...]:
    """Return the shape of a target channel; in a trajectory even what is constant has a value at each time."""
    return (len(chosen.points),) if chosen.case.times is None else (len(chosen.case.times), len(chosen.points))


def _table(columns: Sequence[Column], shape: tuple[int, ...]) -> Float[np.ndarray, "*time point channel"]:
    """Return columns side by side, at every time if one of them changes with time."""
    shape = np.broadcast_shapes(shape, *(column.values.shape for column in columns))
    values = [np.broadcast_to(column.values, shape) for column in columns]
    return np.stack(values, axis=-1) if values else np.empty((*shape, 0))
