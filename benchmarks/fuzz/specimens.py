"""Small valid files of every kind, and how users load them."""

import hashlib
import io
import json
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gola.data.dataset import Dataset
from gola.data.formats import export_sample, import_files
from gola.extras import require
from gola.fitting.configs import config_for
from gola.protocol import Session, TrainingConfig
from gola.runs import RunConfig
from gola.runs.folder import RunFolder
from gola.surrogate.fit import fit
from gola.surrogate.surrogate import Surrogate

_TINY = {"width": 8, "num_modes": 8, "num_blocks": 1, "num_heads": 1}
_TRAINING = TrainingConfig(num_epochs=2, batch_size=3)


@dataclass(frozen=True, kw_only=True)
class Specimen:
    """A kind of file.

    Attributes:
        kind: What the table calls it.
        path: The valid file, or one of those in a folder.
        read: Loads a copy of it in another folder, and returns a hash of all that it holds.
        ours: Whether the format is ours, so that no damage may pass unnoticed.
    """

    kind: str
    path: Path
    read: Callable[[Path], str]
    ours: bool


def make_specimens(folder: Path) -> list[Specimen]:
    """Write valid files of every kind into a folder."""
    data = _samples()
    data.save(folder / "plain.h5")
    data.save(folder / "packed.h5", compress=True)
    fitted = {name: fit(data, name, progress=False) for name in ("mean", "nearest", "kernel")}
    fitted["network"] = _trained(folder, resume=False)
    for name, surrogate in fitted.items():
        surrogate.save(folder / f"{name}.gola")
    _make_run(folder / "run", folder / "plain.h5")
    foreign = [_write_foreign(folder / f"case{suffix}", data) for suffix in (".npz", ".csv", ".vtu", ".vtk", ".xdmf")]
    return [
        *(Specimen(kind="h5", path=folder / name, read=_read_dataset, ours=True) for name in ("plain.h5", "packed.h5")),
        *(Specimen(kind="gola", path=folder / f"{name}.gola", read=_read_surrogate, ours=True) for name in fitted),
        Specimen(kind="checkpoint", path=folder / "checkpoint.pt", read=_read_checkpoint, ours=True),
        *(
            Specimen(kind="run", path=folder / "run" / name, read=_read_run, ours=True)
            for name in ("run.json", "evaluation.json")
        ),
        *(Specimen(kind=path.suffix[1:], path=path, read=_read_foreign, ours=False) for path in foreign),
    ]


def _samples() -> Dataset:
    rng = np.random.default_rng(0)
    axis = np.linspace(0.0, 1.0, 4)
    points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    corner = (np.arange(3)[:, None] * 4 + np.arange(3)).ravel()
    cells = np.concatenate([corner[:, None] + [0, 1, 5], corner[:, None] + [0, 5, 4]])
    values = rng.random((4, len(points), 1))
    return Dataset.from_arrays(
        points, values, 2 * values**2, input_channels=["f"], target_channels=["u"], cells=cells,
        weights=np.full(len(points), 1 / 16), boundary=((points == 0) | (points == 1)).any(axis=1),
        provenance={"problem": "fuzz", "seed": 0, "size": [4, 4]},
    )  # fmt: skip


def _trained(folder: Path, *, resume: bool) -> Surrogate:
    data = _samples()
    session = Session(folder=folder, resume=resume, accelerator="cpu")
    return fit(data, config_for(data, "gola", **_TINY), training=_TRAINING, session=session, progress=False)


def _make_run(folder: Path, data: Path) -> None:
    config = RunConfig(data=str(data), operator="mean", num_train=3)
    run = RunFolder(folder)
    run.begin(config, resume=False, overwrite=False)
    run.fit(config, config.samples()[0], Session())
    run.keep_evaluation({"data": str(data), "seed": 0, "evaluations": [{"num_points": None, "errors": [0.25]}]})


def _write_foreign(path: Path, data: Dataset) -> Path:
    if path.suffix == ".xdmf":
        export_sample(data[0], path.with_name("source.vtu"), inputs=data.inputs, targets=data.targets)
        meshio = require("meshio", extra="mesh", what="The fuzzer")
        meshio.xdmf.write(path, meshio.read(path.with_name("source.vtu")), data_format="XML")
    else:
        export_sample(data[0], path, inputs=data.inputs, targets=data.targets)
    return path


def _read_dataset(path: Path) -> str:
    data = Dataset.load(path)
    return data.fingerprint() + _hash(data.provenance)


def _read_foreign(path: Path) -> str:
    return import_files(path, inputs=["f"], targets=["u"]).fingerprint()


def _read_surrogate(path: Path) -> str:
    surrogate = Surrogate.load(path)
    about = [str(surrogate), surrogate.scores, surrogate.provenance, surrogate.scaling.to_dict()]
    return _hash(about) + _predictions(surrogate)


def _read_checkpoint(path: Path) -> str:
    return _predictions(_trained(path.parent, resume=True))


def _read_run(path: Path) -> str:
    folder = RunFolder(path.parent)
    return _hash([RunConfig.load(path.parent).to_dict(), folder.evaluation()])


def _predictions(surrogate: Surrogate) -> str:
    sample = _samples()[0]
    with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        predictions = surrogate.predict(sample.points, sample.inputs)
    return hashlib.blake2b(predictions.tobytes()).hexdigest()


def _hash(values: Any) -> str:
    return hashlib.blake2b(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()
