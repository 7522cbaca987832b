"""The page that ``gola demo`` writes: the result first, then pictures, then how it was made."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gola.data.dataset import Dataset
from gola.plotting.bands import LEVEL, draw_bands, has_bands
from gola.plotting.curves import draw_curves
from gola.plotting.errors import draw_errors
from gola.plotting.predictions import Prediction, draw_predictions
from gola.plotting.run import representative_samples
from gola.plotting.style import as_png
from gola.plotting.trust import draw_trust
from gola.problems import Problem
from gola.protocol import Epoch
from gola.report.demo_result import (
    CHANNEL_HEADING,
    HEADING,
    Entry,
    beside_the_paper,
    channel_rows,
    headline,
    reason,
    result_rows,
)
from gola.report.page import Code, Facts, Picture, Report, Section, Table, Text, versions
from gola.runs import RunConfig

OWN_DATA = """\
import gola

data = gola.Dataset.load("my.h5")  # or gola.Dataset.from_arrays(points, inputs, targets)
train, test = data.split(num_train=30, seed=0)
surrogate = gola.fit(train, "linear")  # or "gola", or any other that `gola operators` lists
print(gola.evaluate(surrogate, test).mean)
surrogate.save("my.gola")  # later: gola.Surrogate.load("my.gola").predict(points, inputs)
"""
_FILES = (
    "The same with your simulations: from arrays, or from files through `gola import`, which reads meshes, .npz"
    " archives and CSV tables. Every simulation may have its own points."
)
_COMMANDS = (
    "Or without Python: `gola train my.h5 --num-train 30 --out runs/a`, then `gola plot runs/a`. And"
    " `gola compare my.h5 --operators linear,gola` says which operator suits your data."
)


def demo_report(entries: Sequence[Entry], problem: Problem, data: Dataset, *, command: str, seconds: float) -> Report:
    """Return the page.

    Args:
        entries: The operators and their results.
        problem: What was solved.
        data: All samples, as they were generated.
        command: What to type for the same result.
        seconds: Total time.
    """
    run = entries[0].result.run
    _, test = run.samples()
    assert test is not None
    caption = (
        f"Relative L2 error on {len(test)} test samples at {run.num_points} points each, mean ± standard deviation over"
        " the samples. The column “paper” has the numbers that the paper reports. The parameters of linear are found in"
        " closed form."
    )
    table = Table(heading=HEADING, rows=result_rows(entries), caption=caption)
    return Report(
        title=f"gola: from {run.num_train} simulations to a surrogate",
        lead=headline(entries),
        sections=[
            Section("The problem", [Text(_description(problem, run))]),
            Section(
                "The result", [*_channel_tables(entries), table, Text(reason(entries)), Text(beside_the_paper(entries))]
            ),
            Section("Predictions", [_fields(entries, test)]),
            *([Section("How far to trust it", _trust(entries, test))] if _with_bands(entries) else []),
            Section("Distribution of the errors", [_errors(entries)]),
            Section("Training of gola", [_curves(entries)]),
            Section("How it was made", [Facts(_facts(entries, data, command, seconds))]),
            Section("Next: your own data", [Text(_FILES), Code(OWN_DATA), Text(_COMMANDS)]),
        ],
    )


def _channel_tables(entries: Sequence[Entry]) -> list[Table]:
    rows = channel_rows(entries)
    caption = (
        "Mean error of each target channel on the test samples: relative to its size, and relative to how it varies"
        " over the points."
    )
    return [Table(heading=CHANNEL_HEADING, rows=rows, caption=caption)] if rows else []


def _description(problem: Problem, run: RunConfig) -> str:
    return (
        f"{problem.title}: {problem.equation}. Given the source f at scattered points, predict the pressure u."
        f" The operators are fitted to {run.num_train} simulations, each known at {run.num_points} points drawn at"
        f" random from its {problem.typical_size}, and evaluated on {run.num_test} others that they have never seen."
    )


def _fields(entries: Sequence[Entry], test: Dataset) -> Picture:
    # The median sample by the errors of both operators, so that neither is shown at its best or worst.
    row = representative_samples(np.prod([entry.result.errors for entry in entries], axis=0))["median"]
    sample = test[row]
    predictions = [
        Prediction(label=entry.name, sample=sample, values=entry.surrogate.predict_sample(sample)) for entry in entries
    ]
    return Picture(
        png=as_png(draw_predictions(predictions, test.inputs, test.targets)),
        caption=f"Test sample {row}, the median one by the errors of both operators. Truth and prediction share a"
        " colour scale, and so do the errors of the two operators.",
        description="Source, true pressure, predicted pressure and absolute error, a row for each operator.",
        wide=True,
    )


def _with_bands(entries: Sequence[Entry]) -> list[Entry]:
    return [entry for entry in entries if has_bands(entry.surrogate)]


def _trust(entries: Sequence[Entry], test: Dataset) -> list[Picture | Table]:
    """Return the band of one prediction, the estimated errors of a few, and how true both were on all test samples."""
    entry = _with_bands(entries)[0]
    return [_bands(entry, test), _estimates(entry, test), _kept_promises(entry, test)]


def _estimates(entry: Entry, test: Dataset) -> Table:
    """List the error that was to be expected of the best, the median and the worst prediction."""
    rows, chosen = [], representative_samples(np.array(entry.result.errors))
    for name, row in chosen.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the table says what is beyond
            found = entry.surrogate.predict_sample(test[row], interval=LEVEL)
        estimate, beyond = found.error, "yes" if found.is_beyond else "no"
        between = f"{estimate.lower:.4f} to {estimate.upper:.4f}"
        cells = [f"{entry.result.errors[row]:.4f}", f"{estimate.value:.4f}", between, f"{found.unusual:.2f}", beyond]
        rows.append([f"{name}, {row}", *cells])
    return Table(
        heading=("test sample", "error", "estimated", f"{100 * LEVEL:.0f} % of errors", "unusual", "beyond"),
        rows=rows,
        caption=f"Errors of three predictions of {entry.name}, and what it estimated of each beforehand."
        " Unusual is the share of training samples that are nearer to another one; bands mean nothing for inputs beyond"
        " the training samples.",
    )


def _kept_promises(entry: Entry, test: Dataset) -> Picture:
    return Picture(
        png=as_png(draw_trust(entry.surrogate, test, title=f"{entry.name}, {len(test)} test samples")),
        caption="Left: how often bands held on the test samples, against how often they should: of whole fields, or of"
        " points. Right: the actual error of each test sample against the estimated one, with its interval."
        " This is one draw of training samples; `gola calibration` repeats it for many.",
        description=f"Actual against nominal coverage, and actual against estimated errors of {entry.name}.",
        wide=True,
    )


def _bands(entry: Entry, test: Dataset) -> Picture:
    row = representative_samples(np.array(entry.result.errors))["median"]
    return Picture(
        png=as_png(draw_bands(entry.surrogate, test[row], label=f"{entry.name}, test sample {row}")),
        caption="Every prediction comes with an estimate of its error and with a band. Of 10 new simulations about 9"
        " should lie in their bands entirely. Left: where this prediction is really off; middle: where its band is"
        " wide; right: both along a line.",
        description=f"Error and half-width of the band of {entry.name} over the domain, and the band along a line.",
        wide=True,
    )


def _errors(entries: Sequence[Entry]) -> Picture:
    errors = {entry.name: np.array(entry.result.errors) for entry in entries}
    return Picture(
        png=as_png(draw_errors(errors, title=f"{len(entries[0].result.errors)} test samples")),
        caption="Errors of the individual test samples, on one logarithmic scale.",
        description=f"Histograms of the relative L2 errors of {' and '.join(errors)}.",
    )


def _curves(entries: Sequence[Entry]) -> Picture:
    trained = _trained(entries)
    history = [Epoch(**epoch) for epoch in trained.surrogate.provenance["history"]]
    levels = {f"{entry.name}, test samples": entry.result.error for entry in entries}
    return Picture(
        png=as_png(draw_curves(history, title=trained.name, levels=levels)),
        caption=f"After {len(history)} epochs the error of {trained.name} is {history[-1].training_error:.4f} on the"
        f" training samples and {trained.result.error:.4f} on the test samples.",
        description=f"Training error of {trained.name} against the epoch, with the test errors as lines.",
    )


def _facts(entries: Sequence[Entry], data: Dataset, command: str, seconds: float) -> dict[str, str]:
    run, trained = entries[0].result.run, _trained(entries)
    earlier = "".join(f"; {entry.name} was fitted by an earlier call" for entry in entries if entry.reused)
    made = data.provenance
    return {
        "command": f"`{command}`",
        "time": f"{seconds:.0f} s in total{earlier}",
        "data": f"`{Path(run.data).name}`: {len(data)} samples of {made['problem']}, seed {made['seed']},"
        f" {_listed(made['settings'])}",
        "samples": f"{run.num_train} training samples, {run.num_test} test samples, {run.num_points} points each,"
        f" seed {run.seed}",
        "fingerprint of the training samples": f"`{trained.surrogate.provenance['data']['fingerprint']}`",
        **{f"settings of {entry.name}": _listed(entry.surrogate.operator.config.to_dict()) for entry in entries},
        "training": _listed(trained.surrogate.provenance["training"]),
        "versions": versions(),
    }


def _trained(entries: Sequence[Entry]) -> Entry:
    return next(entry for entry in entries if "history" in entry.surrogate.provenance)


def _listed(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_shown(value)}" for name, value in settings.items() if value not in (None, (), []))


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " + ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
