"""To and from the ``Data`` objects of PyTorch Geometric, where that package is installed."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from gola.data.sample import Channel, Sample
from gola.data.validation import checked_sample
from gola.extras import require


def to_pyg(sample: Sample) -> Any:
    """Return a ``torch_geometric.data.Data`` with points as ``pos``, inputs as ``x`` and targets as ``y``.

    Numbers become float32, which networks compute in. Triangles become ``face`` and other cells ``cell_index``, both
    (vertices, cells), so that PyTorch Geometric renumbers them in a batch. ``boundary`` and ``weights`` keep their
    names. There are no edges; its transforms, such as ``RadiusGraph``, add them.
    """
    optional = {"boundary": sample.boundary, "weights": sample.weights}
    tensors = {name: _tensor(array) for name, array in optional.items() if array is not None}
    if sample.cells is not None:
        name = "face" if sample.cells.shape[1] == 3 else "cell_index"
        tensors[name] = torch.tensor(sample.cells.T)
    data_class = _data_class()
    return data_class(x=_tensor(sample.inputs), y=_tensor(sample.targets), pos=_tensor(sample.points), **tensors)


def from_pyg(data: Any) -> Sample:
    """Undo ``to_pyg``; any ``Data`` object with ``pos`` and ``x`` at its nodes will do, with or without ``y``."""
    found = {name: _array(data, name) for name in ("pos", "x", "y", "face", "cell_index", "boundary", "weights")}
    missing = [name for name in ("pos", "x") if found[name] is None]
    if missing:
        raise ValueError(f"The Data object needs points `pos` and inputs `x`; it lacks {' and '.join(missing)}.")
    points, inputs, targets = found["pos"], _columns(found["x"]), _columns(found["y"])
    cells = found["face"] if found["face"] is not None else found["cell_index"]
    return checked_sample(
        points,
        inputs,
        np.empty((len(inputs), 0)) if targets is None else targets,
        boundary=found["boundary"],
        cells=None if cells is None else cells.T,
        weights=found["weights"],
        inputs=_numbered("x", inputs),
        targets=_numbered("y", targets),
        label="The Data object",
    )


def _data_class() -> Any:
    return require("torch_geometric.data", extra="baselines", what="A Data object").Data


def _tensor(array: np.ndarray) -> Tensor:
    """Copy, so that changes to the tensor leave the data set alone."""
    return torch.tensor(array, dtype=torch.bool if array.dtype == bool else torch.float32)


def _array(data: Any, name: str) -> np.ndarray | None:
    tensor = getattr(data, name, None)
    return None if tensor is None else tensor.detach().cpu().numpy()


def _columns(values: np.ndarray | None) -> Any:
    return values[:, None] if values is not None and values.ndim == 1 else values


def _numbered(name: str, values: np.ndarray | None) -> tuple[Channel, ...]:
    return tuple(Channel(name=f"{name}_{column}") for column in range(0 if values is None else values.shape[1]))
