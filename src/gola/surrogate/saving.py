"""The parts of a surrogate in its file, and from there."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from gola.data.sample import Channel
from gola.data.trajectories import TimeAxis
from gola.files import replacing
from gola.operators.scaling import Scaling
from gola.surrogate.building import built_operator
from gola.surrogate.coverage import Coverage
from gola.surrogate.file import read_tensors, write_tensors
from gola.surrogate.uncertainty.calibration import Calibration

if TYPE_CHECKING:
    from gola.surrogate.surrogate import Surrogate

# Name of the training points among the tensors of a file.
_COVERED = "coverage.points"
# What names of tensors that bands are drawn from begin with.
_CALIBRATION = "calibration."


def write_surrogate(path: str | Path, surrogate: "Surrogate") -> None:
    """Write one file, which appears whole or not at all."""
    about = {
        "operator": surrogate.operator.name,
        "config": surrogate.operator.config.to_dict(),
        "scaling": surrogate.scaling.to_dict(),
        "inputs": [asdict(channel) for channel in surrogate.inputs],
        "targets": [asdict(channel) for channel in surrogate.targets],
        "parameters": [asdict(channel) for channel in surrogate.parameters],
        "correspondence": surrogate.correspondence,
        "scores": surrogate.scores,
        "provenance": surrogate.provenance,
    }
    tensors = surrogate.operator.state_dict()
    if surrogate.time_axis is not None:
        about["time_axis"] = surrogate.time_axis.to_dict()
    if surrogate.coverage is not None:
        about["coverage"] = surrogate.coverage.to_dict()
        tensors[_COVERED] = torch.from_numpy(surrogate.coverage.points)
    if surrogate.calibration is not None:
        about["calibration"] = surrogate.calibration.to_dict()
        arrays = surrogate.calibration.to_arrays()
        tensors |= {_CALIBRATION + name: torch.from_numpy(array) for name, array in arrays.items()}
    with replacing(path) as temporary:
        write_tensors(temporary, tensors, about)


def read_surrogate(path: Path) -> dict[str, Any]:
    """Read what :func:`write_surrogate` wrote: what a surrogate is made of, by the names of its attributes.

    Raises:
        ValueError: If the file is missing, damaged, foreign or of a newer format.
    """
    about, tensors = read_tensors(path)
    covered = tensors.pop(_COVERED, None)
    calibrated = [name for name in tensors if name.startswith(_CALIBRATION)]
    arrays = {name.removeprefix(_CALIBRATION): tensors.pop(name).numpy() for name in calibrated}
    try:
        return {
            "operator": built_operator(about["operator"], about["config"], tensors).eval(),
            "scaling": Scaling.from_dict(about["scaling"]),
            "inputs": tuple(Channel(**channel) for channel in about["inputs"]),
            "targets": tuple(Channel(**channel) for channel in about["targets"]),
            # Version 2 knows neither.
            "parameters": tuple(Channel(**channel) for channel in about.get("parameters", ())),
            "correspondence": about.get("correspondence", "none"),
            "time_axis": TimeAxis.from_dict(about["time_axis"]) if "time_axis" in about else None,
            "coverage": None if covered is None else Coverage.from_dict(about["coverage"], covered.numpy()),
            "calibration": Calibration.from_dict(about["calibration"], arrays) if arrays else None,
            "scores": {str(name): float(score) for name, score in about["scores"].items()},
            "provenance": dict(about["provenance"]),
        }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = str(error).rstrip(".") if isinstance(error, ValueError) else repr(error)
        raise ValueError(f"{path} is not a whole surrogate: {reason}. Fit and save it again.") from error
