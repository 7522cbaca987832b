"""Write a sample as a mesh that ParaView opens."""

import contextlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import meshio
import numpy as np
from jaxtyping import Float

from gola.data.sample import Channel, Sample
from gola.data.storage import replacing

_CELL_KINDS = {1: "vertex", 2: "line", 3: "triangle", 4: "tetra"}
_FORMATS = (".vtu", ".vtk")


def export_sample(
    sample: Sample,
    path: str | Path,
    *,
    inputs: Sequence[Channel],
    targets: Sequence[Channel] = (),
    predictions: Float[np.ndarray, "point target_channel"] | None = None,
) -> None:
    """Write the points, cells and values of a sample to a ``.vtu`` or ``.vtk`` file.

    Channels ``U_x`` and ``U_y`` (and ``U_z``) are joined to the vector ``U``. A target that has the name of an
    input gets ``_target`` added. Predictions of a target ``T`` are written as ``T_predicted``, with
    ``T_error = predicted − target`` where the target is known. Points without cells become single vertices.

    Args:
        sample: What to write.
        path: The file; one that exists is replaced as a whole.
        inputs: Channels of the inputs, for their names.
        targets: Channels of the targets; of the predictions too.
        predictions: Values that an operator gave for the targets.
    """
    path = Path(path)
    if path.suffix.lower() not in _FORMATS:
        raise ValueError(f"Cannot export to {path}; the name must end in {' or '.join(_FORMATS)}.")
    named = _named_columns(sample, inputs, targets, predictions)
    cells = np.arange(sample.num_points)[:, None] if sample.cells is None else sample.cells
    mesh = meshio.Mesh(
        np.pad(sample.points, ((0, 0), (0, 3 - sample.dim))),
        [(_CELL_KINDS[cells.shape[1]], cells)],
        point_data=_with_vectors(named),
    )
    # meshio prints notes about what it fills in, which belong to nobody's output.
    with replacing(path) as temporary, contextlib.redirect_stderr(io.StringIO()):
        mesh.write(temporary)


def _named_columns(
    sample: Sample,
    inputs: Sequence[Channel],
    targets: Sequence[Channel],
    predictions: Float[np.ndarray, "point target_channel"] | None,
) -> dict[str, Float[np.ndarray, " point"]]:
    columns = _columns([channel.name for channel in inputs], sample.inputs, "input")
    taken = set(columns)
    names = [f"{channel.name}_target" if channel.name in taken else channel.name for channel in targets]
    known = sample.targets.shape[1] > 0
    if known:
        columns |= _columns(names, sample.targets, "target")
    if predictions is not None:
        columns |= _columns([_suffixed(channel.name, "predicted") for channel in targets], predictions, "predicted")
        if known:
            errors = predictions - sample.targets
            columns |= _columns([_suffixed(channel.name, "error") for channel in targets], errors, "error")
    return columns


def _columns(
    names: Sequence[str], values: Float[np.ndarray, "point channel"], role: str
) -> dict[str, Float[np.ndarray, " point"]]:
    if values.shape[1] != len(names):
        raise ValueError(f"There are {values.shape[1]} {role} channels and {len(names)} names; they must agree.")
    return dict(zip(names, values.T, strict=True))


def _suffixed(name: str, suffix: str) -> str:
    """Add to a name, before the component: U_x becomes U_predicted_x, so that vectors stay together."""
    stem, separator, axis = name.rpartition("_")
    return f"{stem}_{suffix}_{axis}" if separator and axis in ("x", "y", "z") else f"{name}_{suffix}"


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
