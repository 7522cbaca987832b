"""A fitted surrogate on fixed points as a program of its own, for torch without this package or for ONNX."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gola.extras import require
from gola.files import replacing
from gola.surrogate.surrogate import Surrogate
from gola.surrogate.tracing import traced, with_common_operations

# An exported program has to agree with the surrogate to this share of the largest prediction,
_AGREEMENT = 1e-3
# for inputs and parameters that were changed by this share of their size.
_CHANGE = 0.01


def export(
    surrogate: Surrogate,
    path: str | Path,
    points: Any,
    inputs: Any = None,
    *,
    parameters: Any = None,
    at: Any = None,
    times: Any = None,
) -> None:
    """Write a program that predicts at the same places of the same points, see :meth:`Surrogate.export`."""
    path = Path(path)
    if path.suffix not in (".pt2", ".onnx"):
        raise ValueError(f"An exported program is called *.pt2 (torch.export) or *.onnx; got {path.name}.")
    module = surrogate.differentiable()
    fixed = {"at": at, "times": times}
    places = {name: None if value is None else _tensor(value) for name, value in fixed.items()}
    given = {"inputs": inputs, "parameters": parameters}
    examples = {name: _tensor(value) for name, value in given.items() if value is not None}
    if not examples:
        raise ValueError("The program needs an example of what it reads: inputs, parameters, or both.")
    if "inputs" in examples and examples["inputs"].ndim == 1:
        examples["inputs"] = examples["inputs"][:, None]

    def predicted(*values: Tensor) -> Float[Tensor, "*time row channel"]:
        return module(_tensor(points), **dict(zip(examples, values, strict=True)), **places)

    arguments = tuple(examples.values())
    graph = traced(predicted, *arguments)
    if path.suffix == ".onnx":
        graph = with_common_operations(graph)
    program = torch.export.export(graph, arguments)
    others = tuple((1.0 + _CHANGE) * value for value in arguments)
    _require_agreement(program.module()(*others), predicted(*others))
    with replacing(path) as temporary:
        if path.suffix == ".pt2":
            with temporary.open("wb") as file, warnings.catch_warnings():
                # Constants without numbers are not "complete", which matters on other devices alone.
                warnings.filterwarnings("ignore", message="No complete tensor found")
                torch.export.save(program, file)
        else:
            _write_onnx(program, temporary, list(examples))


def _write_onnx(program: Any, path: Path, names: list[str]) -> None:
    require("onnxscript", extra="onnx", what="Export to ONNX")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecations within the exporter
        made = torch.onnx.export(
            program, dynamo=True, verbose=False, input_names=names, output_names=["prediction"], external_data=False
        )
    assert made is not None
    made.save(str(path))


def _require_agreement(found: Tensor, expected: Tensor) -> None:
    gap, size = float((found - expected).abs().max()), float(expected.abs().max())
    if not gap <= _AGREEMENT * size:
        raise ValueError(
            f"The exported program differs from the surrogate by {gap:.2g} where predictions are up to {size:.2g}: the"
            " operator chooses by the values of its inputs, which a program of fixed operations cannot."
        )


def _tensor(values: Any) -> Tensor:
    return torch.from_numpy(np.asarray(values, dtype=np.float64))
