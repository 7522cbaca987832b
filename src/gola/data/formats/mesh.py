"""Read meshes of any format that meshio knows: point data as it is, cell data averaged onto the points."""

import contextlib
import io
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse

from gola.data.formats.case import Case, components
from gola.data.formats.regions import LabelledCells, Labels
from gola.data.formats.simplices import boundary_points, cut, measures
from gola.extras import require

_Block = tuple[str, Int[np.ndarray, "_cell _vertex"]]
_UNUSABLE = "it holds no numbers, or is known on cells whose size we cannot tell"


def read_mesh(path: Path) -> list[Case]:
    """Read one mesh from a file."""
    meshio = require("meshio", extra="mesh", what="Reading meshes")
    return [case_of(quietly(lambda: meshio.read(path), path), path)]


def case_of(mesh: Any, path: Path) -> Case:
    """Return what a mesh of meshio offers.

    Points that no cell uses are dropped: mesh generators leave construction points behind. Cells are kept,
    cut into simplices, if these reach all points.
    """
    points = np.asarray(mesh.points)
    if points.ndim != 2 or len(points) == 0 or points.shape[1] not in (1, 2, 3) or not _is_numeric(points):
        raise ValueError(f"{path} cannot be read as a mesh (its points have the shape {points.shape}).")
    blocks = _blocks(mesh)
    _require_known_points(blocks, len(mesh.points), path)
    used = _used_points(mesh, list(blocks.values()))
    filling = _filling(mesh, blocks)
    arrays = _cell_arrays(mesh, filling) | _point_arrays(mesh)
    row_of_point = np.cumsum(used) - 1
    simplices = _simplices(list(filling.values()), used)
    boundary = None
    if simplices is not None:
        simplices = row_of_point[simplices]
        boundary = boundary_points(list(filling.values()), len(used))[used]
    return Case(
        label=str(path),
        points=points.astype(np.float64)[used],
        arrays={name: array[used] for name, array in arrays.items()},
        parameters=_numbers(mesh),
        labels=_labels(mesh, blocks, filling, row_of_point),
        unusable=_unusable(mesh, arrays),
        boundary=boundary,
        cells=simplices,
    )


def read_steps(paths: Sequence[Path]) -> list[Case]:
    """Read the meshes of a trajectory, one for each time."""
    meshio = require("meshio", extra="mesh", what="Reading meshes")
    return steps_of([quietly(lambda path=path: meshio.read(path), path) for path in paths], paths)  # type: ignore[misc]


def steps_of(meshes: Sequence[Any], paths: Sequence[Path]) -> list[Case]:
    """Return what the meshes of a trajectory offer; what follows from points and cells is computed for the first."""
    first = case_of(meshes[0], paths[0])
    blocks = _blocks(meshes[0])
    filling = _filling(meshes[0], blocks)
    used = _used_points(meshes[0], list(blocks.values()))
    average = _averaging(np.asarray(meshes[0].points, dtype=np.float64), filling) if meshes[0].cell_data else None
    cases = [first]
    for mesh, path in zip(meshes[1:], paths[1:], strict=True):
        if not _is_same_mesh(mesh, meshes[0]):
            cases.append(case_of(mesh, path))
            continue
        arrays = _cell_arrays(mesh, filling, average) | _point_arrays(mesh)
        cases.append(
            replace(
                first,
                label=str(path),
                arrays={name: array[used] for name, array in arrays.items()},
                parameters=_numbers(mesh),
                unusable=_unusable(mesh, arrays),
            )
        )
    return cases


def _is_same_mesh(mesh: Any, other: Any) -> bool:
    return (
        np.array_equal(mesh.points, other.points)
        and [block.type for block in mesh.cells] == [block.type for block in other.cells]
        and all(np.array_equal(one.data, two.data) for one, two in zip(mesh.cells, other.cells, strict=True))
    )


def _unusable(mesh: Any, arrays: Mapping[str, np.ndarray]) -> dict[str, str]:
    return dict.fromkeys({*mesh.point_data, *mesh.cell_data} - set(arrays), _UNUSABLE)


def quietly(read: Callable[[], Any], path: Path) -> Any:
    """Let meshio read, which prints what went wrong and may exit the interpreter."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read()
    except (Exception, SystemExit) as error:  # its readers raise whatever a broken file leads them to
        said = printed.getvalue() if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"
        reason = re.sub(r"\s+", " ", said).strip() or "unknown error"
        raise ValueError(f"{path} cannot be read as a mesh ({reason}).") from error


def _require_known_points(blocks: dict[int, _Block], num_points: int, path: Path) -> None:
    for kind, cells in blocks.values():
        unknown = np.argwhere((cells < 0) | (cells >= num_points))
        if len(unknown):
            cell, vertex = unknown[0]
            raise ValueError(
                f"{path}: cell {cell} of its {kind} cells refers to point {cells[cell, vertex]}, but the points are"
                f" numbered 0 to {num_points - 1}; write the mesh again."
            )


def _blocks(mesh: Any) -> dict[int, _Block]:
    """Return the cells by their place in the file, without single vertices; none if there are polyhedra."""
    if any(block.type.startswith("polyhedron") for block in mesh.cells):
        return {}
    return {
        place: (block.type, np.asarray(block.data, dtype=np.int64))
        for place, block in enumerate(mesh.cells)
        if block.dim > 0 and len(block.data)
    }


def _filling(mesh: Any, blocks: dict[int, _Block]) -> dict[int, _Block]:
    """Keep the cells of the highest dimension; meshes often hold the edges of their boundary besides."""
    highest = max((mesh.cells[place].dim for place in blocks), default=0)
    return {place: block for place, block in blocks.items() if mesh.cells[place].dim == highest}


def _used_points(mesh: Any, blocks: Sequence[_Block]) -> Bool[np.ndarray, " point"]:
    used = np.full(len(mesh.points), not blocks)
    for _, cells in blocks:
        used[cells] = True
    return used


def _simplices(blocks: Sequence[_Block], used: Bool[np.ndarray, " point"]) -> Int[np.ndarray, "simplex corner"] | None:
    pieces = [cut(kind, cells) for kind, cells in blocks]
    known = [piece.reshape(-1, piece.shape[-1]) for piece in pieces if piece is not None]
    if not known or len(known) < len(blocks):
        return None
    simplices = np.concatenate(known)
    reached = np.zeros(len(used), dtype=bool)
    reached[simplices] = True
    return simplices if (reached == used).all() else None


def _point_arrays(mesh: Any) -> dict[str, Float[np.ndarray, "point *component"]]:
    return {name: _in_a_row(array) for name, array in mesh.point_data.items() if _is_numeric(array)}


def _cell_arrays(
    mesh: Any, filling: dict[int, _Block], average: sparse.csr_array | None = None
) -> dict[str, Float[np.ndarray, "point *component"]]:
    if not mesh.cell_data or not filling:
        return {}
    if average is None:
        average = _averaging(np.asarray(mesh.points, dtype=np.float64), filling)
    assert average is not None
    untouched = np.diff(average.indptr) == 0
    arrays = {}
    for name, parts in mesh.cell_data.items():
        ours = [np.asarray(parts[place]) for place in filling]
        if all(map(_is_numeric, ours)):
            arrays[name] = average @ _in_a_row(np.concatenate(ours))
            arrays[name][untouched] = np.nan  # reported if the channel is chosen
    return arrays


def _numbers(mesh: Any) -> dict[str, float]:
    """Return the field data that are numbers or short vectors; pairs of whole numbers are Gmsh's names of labels."""
    found: dict[str, float] = {}
    for name, array in mesh.field_data.items():
        numbers = np.asarray(array)
        if _is_numeric(numbers) and 1 <= numbers.size <= 3 and not _is_title(numbers):
            parts = components(name, numbers.reshape(1, -1).astype(np.float64))
            found |= {part: float(values[0]) for part, values in parts.items()}
    return found


def _is_title(numbers: np.ndarray) -> bool:
    return numbers.dtype.kind in "ui" and numbers.size == 2


def _labels(
    mesh: Any, blocks: dict[int, _Block], filling: dict[int, _Block], row_of_point: Int[np.ndarray, " point"]
) -> dict[str, Labels]:
    """Return the arrays of whole numbers on cells, those of the boundary among them."""
    titles = {
        (int(dim), int(number)): name
        for name, (number, dim) in (
            (name, np.ravel(pair)) for name, pair in mesh.field_data.items() if _is_title(np.asarray(pair))
        )
    }
    points = np.asarray(mesh.points, dtype=np.float64)
    found = {}
    for name, parts in mesh.cell_data.items():
        if not all(_are_labels(np.asarray(parts[place])) for place in blocks):
            continue
        labelled = [
            LabelledCells(
                cells=row_of_point[cells],
                labels=np.asarray(parts[place]).ravel().astype(np.int64),
                sizes=_sizes(points, kind, cells),
                fills=place in filling,
                dim=mesh.cells[place].dim,
            )
            for place, (kind, cells) in blocks.items()
        ]
        # Gmsh numbers geometry and names the physical groups only.
        found[name] = Labels(name=name, parts=labelled, titles={} if name == "gmsh:geometrical" else titles)
    return found


def _are_labels(array: np.ndarray) -> bool:
    if array.dtype.kind not in "uif" or array.size != len(array):
        return False
    return array.dtype.kind in "ui" or bool((np.isfinite(array) & (array == np.round(array))).all())


def _sizes(points: Float[np.ndarray, "point dim"], kind: str, cells: Int[np.ndarray, "cell vertex"]) -> np.ndarray:
    simplices = cut(kind, cells)
    return np.zeros(len(cells)) if simplices is None else measures(points, simplices).sum(axis=1)


def _averaging(points: Float[np.ndarray, "point dim"], filling: dict[int, _Block]) -> sparse.csr_array | None:
    r"""Return the matrix that moves cell data to points, :math:`v_i = \sum_{c \ni i} |c| v_c / \sum_{c \ni i} |c|`.

    The row of a point of no measurable cell is empty. There is no matrix without cells.
    """
    if not filling:
        return None
    receivers, senders, sizes = [], [], []
    start = 0
    for kind, cells in filling.values():
        size = _sizes(points, kind, cells)
        receivers.append(cells.ravel())
        senders.append(np.repeat(np.arange(start, start + len(cells)), cells.shape[1]))
        sizes.append(np.repeat(size, cells.shape[1]))
        start += len(cells)
    indices = np.concatenate(receivers), np.concatenate(senders)
    matrix = sparse.csr_array((np.concatenate(sizes), indices), shape=(len(points), start))
    matrix.eliminate_zeros()
    totals = matrix.sum(axis=1)
    return sparse.csr_array(sparse.diags_array(1.0 / np.where(totals > 0, totals, 1.0)) @ matrix)


def _is_numeric(array: np.ndarray) -> bool:
    return array.dtype.kind in "fuib"


def _in_a_row(array: np.ndarray) -> Float[np.ndarray, "entry *component"]:
    """Return floats, with the components of tensors side by side."""
    floats = array.astype(np.float64)
    return floats if floats.ndim <= 2 else floats.reshape(len(floats), -1)
