"""``gola predict``: the solution of new inputs, from file to file."""

import statistics
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE
from rich.table import Table

from gola.cli.console import output, say, say_json, warn
from gola.cli.data import sample_index
from gola.cli.options import AsJson
from gola.cli.surrogates import load_surrogate
from gola.display import Display

if TYPE_CHECKING:
    from gola.runs.inputs import Inputs
    from gola.runs.prediction import Predicted


def predict(
    source: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run, or a .gola file.")],
    file: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
            help="A data set, or any file (or quoted pattern of files) that `gola import` reads, with the input"
            " channels of the surrogate.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="A .vtu, .npz or .csv file for one sample; a .pvd or .npz file for one trajectory; a .h5 file, or a"
            " folder, for several."
        ),
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
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER", help="A parameter, for all samples; before what files say. May be repeated."
        ),
    ] = None,
    parameters: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            help="A table with a row of parameters for each sample; or, for an input with one sample, with any number"
            " of cases to predict on it.",
        ),
    ] = None,
    times: Annotated[
        str | None,
        typer.Option(
            metavar="TIMES",
            help="When to predict, for trajectories: first:last:number, like 0:1:21, or a list with commas; by default"
            " at the times of the input, or of the training samples.",
        ),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(metavar="LEVEL", help="Add a band of this probability, like 0.9."),
    ] = None,
    kind: Annotated[
        str,
        typer.Option(help="Whether the band is to hold `everywhere` at once, or `pointwise`, at a share of points."),
    ] = "everywhere",
    as_json: AsJson = False,
) -> None:
    """Predict the solution for inputs in a file, and write it to another.

    The prediction of a target T is named T_predicted. If the input file contains T, it is written too, with
    T_error = T_predicted − T. With --interval, the band is T_lower and T_upper. prediction_unusual says how unusual the
    input is, from 0 to 1, and prediction_estimated_error how large the relative L2 error should be, where the surrogate
    has held-out predictions to tell it from.
    """
    from gola.data.formats import parse_numbers  # PyTorch is slow to import
    from gola.data.times import parse_times
    from gola.runs.inputs import Inputs
    from gola.runs.prediction import predict_samples, read_places, require_writable, write_predictions
    from gola.surrogate.uncertainty.prediction import require_kind

    require_writable(out, at)
    asked = None if times is None else parse_times(times)
    checked = require_kind(kind)
    surrogate = load_surrogate(source)
    with _one_line_per_warning(), Display("Predicting") as display:
        inputs = Inputs.read(file, surrogate, table=parameters, given=parse_numbers(parameter or ()))
        rows = _rows(inputs, sample, out)
        places = None if at is None else read_places(at, surrogate)
        predictions = []
        for predicted in predict_samples(surrogate, inputs, rows, places, asked, interval=interval, kind=checked):
            predictions.append(predicted)
            display.update("samples", len(predictions), len(rows))
    write_predictions(predictions, out, surrogate)
    _report(predictions, out, len(inputs), as_json=as_json)


def _rows(inputs: "Inputs", numbers: list[int] | None, out: Path) -> list[int]:
    from gola.runs.prediction import holds_many

    if numbers is None:
        return list(range(len(inputs) if holds_many(out) else 1))
    if len(numbers) > 1 and not holds_many(out):
        raise ValueError(f"{out} can hold one sample, not {len(numbers)}; name a .h5 file or a folder.")
    return [sample_index(inputs, number) for number in numbers]


@contextmanager
def _one_line_per_warning() -> Iterator[None]:
    """Print warnings at the end, each text once, without the line of code that Python would add."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for message, count in Counter(str(warning.message) for warning in caught).items():
        warn(message if count == 1 else f"{message} ({count} times)")


def _report(predictions: "Sequence[Predicted]", out: Path, num_samples: int, *, as_json: bool) -> None:
    seconds = statistics.median(predicted.seconds for predicted in predictions)
    errors = [predicted.error for predicted in predictions]
    if as_json:
        samples = [predicted.index for predicted in predictions]
        channels = [[one.to_dict() for one in predicted.channels] for predicted in predictions]
        judged = {"judged": [_plain(predicted) for predicted in predictions]} if predictions[0].judged else {}
        known = {"seconds": seconds, "errors": errors, "channels": channels}
        say_json({"out": str(out), "samples": samples, **known, **judged})
        return
    alone = len(predictions) == 1
    which = f"sample {predictions[0].index}" if alone else f"{len(predictions)} samples"
    took = f"{1000 * seconds:.1f} ms{'' if alone else ' each'}"
    say(f"{out}: {which} of {num_samples}, {took}{_measured(predictions)}")
    if predictions[0].judged is not None:
        output.print(_judged_table(predictions))


def _plain(predicted: "Predicted") -> dict[str, Any]:
    """Return what is known of the error of a prediction, ready for JSON."""
    judged = predicted.judged
    assert judged is not None
    known = {"level": judged.level, "kind": judged.kind, "unusual": judged.unusual, "is_beyond": judged.is_beyond}
    return {**known, "estimated_error": asdict(judged.error)}


def _judged_table(predictions: "Sequence[Predicted]") -> Table:
    """List the error to expect of each sample, and mark unusual ones."""
    first = predictions[0].judged
    assert first is not None
    columns = ["sample", "estimated error", f"{100 * first.level:.4g} % of errors", "unusual", ""]
    table = Table(*columns, box=SIMPLE)
    for predicted in predictions:
        judged = predicted.judged
        assert judged is not None
        error = judged.error
        mark = "beyond the training samples" if judged.is_beyond else ""
        if judged.is_outside.any():
            mark = f"{mark}{', ' * bool(mark)}{int(judged.is_outside.sum())} places outside the domain"
        between = f"{error.lower:.2g} to {error.upper:.2g}"
        table.add_row(str(predicted.index), f"{error.value:.2g}", between, f"{judged.unusual:.2f}", mark)
    return table


def _measured(predictions: "Sequence[Predicted]") -> str:
    """Say the errors of each channel and then of all, where the truth is known."""
    from gola.runs import mean_channel_errors, worth_showing

    known = [predicted.error for predicted in predictions if predicted.error is not None]
    if not known:
        return ""
    channels = mean_channel_errors([predicted.channels for predicted in predictions])
    parts = [f"{one.name} {one}" for one in channels] if worth_showing(channels) else []
    overall = f"{'overall ' * bool(parts)}{statistics.fmean(known):.4f}"
    return f", relative L2 error {', '.join([*parts, overall])}"
