"""``gola predict``: the solution of new inputs, from file to file."""

import json
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from gola.cli.console import output, progress_bar, warn
from gola.cli.data import sample_index
from gola.cli.options import AsJson
from gola.cli.surrogates import load_surrogate
from gola.data.dataset import Dataset
from gola.data.formats import export_sample, import_inputs, named_columns, read_points
from gola.data.sample import Channel, Sample
from gola.registry import WRITERS

if TYPE_CHECKING:
    from gola.surrogate.surrogate import Surrogate


def predict(
    source: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run, or a .gola file.")],
    file: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
            help="A data set, or any file that `gola import` reads, with the input channels of the surrogate.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(help="A .vtu, .npz or .csv file for one sample; a .h5 file, or a folder of .vtu, for several."),
    ],
    sample: Annotated[
        list[int] | None,
        typer.Option(
            help="Which samples of the input, from 0; by default the first, or all where --out can hold them."
            " May be repeated."
        ),
    ] = None,
    at: Annotated[
        Path | None, typer.Option(help="Predict at the points of this file, not at those of the input.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Predict the solution for inputs in a file, and write it to another.

    The prediction of a target T is named T_predicted. Where the input file knows T, it is written too, with
    T_error = T_predicted − T.
    """
    _require_writable(out, at)
    surrogate = load_surrogate(source)
    inputs = _read(file, surrogate)
    chosen = _chosen(inputs.data, sample, out)
    places = None if at is None else _points(at, surrogate)
    with _one_line_per_warning(), progress_bar() as progress:
        task = progress.add_task("Predicting", total=len(chosen))
        predictions = []
        for index in chosen:
            predictions.append(_predicted(surrogate, inputs, index, places))
            progress.advance(task)
    _write(predictions, out, surrogate)
    _report(predictions, out, len(inputs.data), as_json=as_json)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Inputs:
    """Samples in a file, and which of their columns the surrogate reads and predicts."""

    data: Dataset
    inputs: list[int]
    targets: list[int]

    def sample(self, index: int) -> Sample:
        """Return a sample with its channels in the order of the surrogate, without others."""
        one = self.data[index]
        return replace(one, inputs=one.inputs[:, self.inputs], targets=one.targets[:, self.targets])


@dataclass(frozen=True, kw_only=True, eq=False)
class _Prediction:
    """What was predicted for a sample, with the error where the truth is known."""

    index: int
    sample: Sample
    values: np.ndarray
    seconds: float
    error: float | None


def _require_writable(out: Path, at: Path | None) -> None:
    suffix = out.suffix.lower()
    if suffix not in ("", ".h5", *WRITERS):
        raise ValueError(f"Cannot write {out}; its name must end in {', '.join(WRITERS)} or .h5, or be a folder's.")
    if suffix == ".h5" and at is not None:
        raise ValueError("A data set needs inputs at its points, and --at has none; write .vtu, .npz or .csv.")


def _read(file: Path, surrogate: "Surrogate") -> _Inputs:
    if file.suffix.lower() in (".h5", ".hdf5"):
        data = Dataset.load(file)
    else:
        names = [[channel.name for channel in channels] for channels in (surrogate.inputs, surrogate.targets)]
        data = import_inputs(file, inputs=names[0], targets=names[1])
    if data.dim != surrogate.dim:
        raise ValueError(f"{file} has points in {data.dim}D, and the surrogate was fitted in {surrogate.dim}D.")
    places = {channel.name: place for place, channel in enumerate(data.inputs)}
    missing = [channel.name for channel in surrogate.inputs if channel.name not in places]
    if missing:
        raise ValueError(f"The surrogate needs the input channel {missing[0]!r}; {file} has {', '.join(places)}.")
    inputs = [places[channel.name] for channel in surrogate.inputs]
    _warn_of_units([data.inputs[place] for place in inputs], surrogate.inputs, file)
    places = {channel.name: place for place, channel in enumerate(data.targets)}
    known = all(channel.name in places for channel in surrogate.targets)
    return _Inputs(
        data=data, inputs=inputs, targets=[places[channel.name] for channel in surrogate.targets] if known else []
    )


def _warn_of_units(given: Sequence[Channel], wanted: Sequence[Channel], file: Path) -> None:
    for one, other in zip(given, wanted, strict=True):
        if one.unit and other.unit and one.unit != other.unit:
            warn(f"{file} has {one}, and the surrogate was fitted to {other}; values are taken as they are.")


def _chosen(data: Dataset, numbers: list[int] | None, out: Path) -> list[int]:
    holds_many = out.suffix.lower() in ("", ".h5")
    if numbers is None:
        return list(range(len(data) if holds_many else 1))
    if len(numbers) > 1 and not holds_many:
        raise ValueError(f"{out} can hold one sample, not {len(numbers)}; name a .h5 file or a folder.")
    return [sample_index(data, number) for number in numbers]


def _points(at: Path, surrogate: "Surrogate") -> Sample:
    """Read where to predict: points, with cells if there are any, and nothing known there."""
    if at.suffix.lower() in (".h5", ".hdf5"):
        first = Dataset.load(at)[0]
        nothing = np.empty((first.num_points, 0))
        places = replace(first, inputs=nothing, targets=nothing)
    else:
        places = read_points(at)
    if places.dim != surrogate.dim:
        raise ValueError(f"{at} has points in {places.dim}D, and the surrogate was fitted in {surrogate.dim}D.")
    return places


def _predicted(surrogate: "Surrogate", inputs: _Inputs, index: int, places: Sample | None) -> _Prediction:
    sample = inputs.sample(index)
    start = time.perf_counter()
    values = surrogate.predict(sample.points, sample.inputs, at=None if places is None else places.points)
    seconds = time.perf_counter() - start
    known = places is None and bool(inputs.targets)
    return _Prediction(
        index=index,
        sample=sample if places is None else places,
        values=values,
        seconds=seconds,
        error=_error(surrogate, values, sample.targets) if known else None,
    )


def _error(surrogate: "Surrogate", values: np.ndarray, targets: np.ndarray) -> float:
    import torch

    from gola.metrics import relative_l2_errors

    scale = surrogate.scaling.targets.scale
    return float(relative_l2_errors(torch.from_numpy(values), torch.from_numpy(targets), [len(values)], scale))


@contextmanager
def _one_line_per_warning() -> Iterator[None]:
    """Print warnings when all is done, each text once, without the place in the code that Python would add."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for message, count in Counter(str(warning.message) for warning in caught).items():
        warn(message if count == 1 else f"{message} ({count} times)")


def _write(predictions: Sequence[_Prediction], out: Path, surrogate: "Surrogate") -> None:
    if out.suffix.lower() == ".h5":
        _write_dataset(predictions, out, surrogate)
        return
    if not out.suffix:
        out.mkdir(parents=True, exist_ok=True)
    for one in predictions:
        export_sample(
            one.sample,
            out if out.suffix else out / f"sample_{one.index:04d}.vtu",
            inputs=surrogate.inputs if one.sample.inputs.shape[1] else (),
            targets=surrogate.targets,
            predictions=one.values,
        )


def _write_dataset(predictions: Sequence[_Prediction], out: Path, surrogate: "Surrogate") -> None:
    samples, names = [], []
    for one in predictions:
        columns = named_columns(one.sample, surrogate.inputs, surrogate.targets, one.values)
        names = list(columns)[len(surrogate.inputs) :]
        samples.append(replace(one.sample, targets=np.column_stack([columns[name] for name in names])))
    units = [channel.unit for channel in surrogate.targets]
    targets = [Channel(name=name, unit=units[place % len(units)]) for place, name in enumerate(names)]
    fitted_to = surrogate.provenance.get("data", {}).get("fingerprint", "unknown")
    provenance = {"source": "prediction", "operator": surrogate.operator.name, "fitted_to": fitted_to}
    Dataset.from_samples(samples, inputs=surrogate.inputs, targets=targets, provenance=provenance).save(out)


def _report(predictions: Sequence[_Prediction], out: Path, num_samples: int, *, as_json: bool) -> None:
    seconds = float(np.median([one.seconds for one in predictions]))
    errors = [one.error for one in predictions]
    if as_json:
        facts = {"out": str(out), "samples": [one.index for one in predictions], "seconds": seconds, "errors": errors}
        output.print_json(json.dumps(facts))
        return
    alone = len(predictions) == 1
    which = f"sample {predictions[0].index}" if alone else f"{len(predictions)} samples"
    took = f"{1000 * seconds:.1f} ms{'' if alone else ' each'}"
    known = [error for error in errors if error is not None]
    judged = f", relative L2 error {np.mean(known):.4f}" if known else ""
    output.print(f"{out}: {which} of {num_samples}, {took}{judged}", soft_wrap=True)
