"""The page that ``gola demo`` writes: the result first, then pictures, then what was run."""

from typing import TYPE_CHECKING, Any

import numpy as np

from gola.cli.demo_result import HEADING, Entry, beside_the_paper, reason, result_rows, verdict
from gola.data.dataset import Dataset
from gola.report.page import Code, Facts, Picture, Report, Section, Table, Text, versions

if TYPE_CHECKING:
    from gola.runs import RunConfig

OWN_DATA = """\
import gola

data = gola.Dataset.load("my.h5")  # or gola.Dataset.from_arrays(points, inputs, targets)
train, test = data.split(num_train=30, seed=0)
surrogate = gola.fit(train, "linear")  # or "gola", or any other that `gola operators` lists
print(gola.evaluate(surrogate, test).mean)
surrogate.save("my.gola")  # later: gola.Surrogate.load("my.gola").predict(points, values)
"""
_FILES = (
    "The same with your simulations: from arrays, or from files through `gola import`, which reads meshes, .npz"
    " archives and CSV tables. Every simulation may have points of its own."
)
_COMMANDS = (
    "Or without Python: `gola train my.h5 --num-train 30 --out runs/a`, then `gola plot runs/a`. And"
    " `gola compare my.h5 --operators linear,gola` says which operator suits your data."
)


def demo_report(entries: list[Entry], data: Dataset, test: Dataset, *, command: str, seconds: float) -> Report:
    """Return the page.

    Args:
        entries: The operators and their errors.
        data: All samples, as they were generated.
        test: Those that the operators were judged by, at the points that they saw.
        command: What to type for the same result.
        seconds: Time that it took.
    """
    config = entries[0].config
    caption = (
        f"Relative L2 error on {len(test)} test samples at {config.num_points} points each, mean ± standard deviation"
        " over the samples. The column “paper” holds the paper's own numbers. The parameters of linear are found in"
        " closed form."
    )
    table = Table(heading=HEADING, rows=result_rows(entries), caption=caption)
    return Report(
        title=f"gola: from {config.num_train} simulations to a surrogate",
        lead=verdict(entries),
        sections=[
            Section("The problem", [Text(_problem(data, config))]),
            Section("The result", [table, Text(reason(entries)), Text(beside_the_paper(entries))]),
            Section("What they predict", [_fields(entries, test)]),
            Section("How the errors are spread", [_errors(entries)]),
            Section("How gola learned", [_curves(entries)]),
            Section("What was run", [Facts(_facts(entries, data, command, seconds))]),
            Section("Next: your own data", [Text(_FILES), Code(OWN_DATA), Text(_COMMANDS)]),
        ],
    )


def _problem(data: Dataset, config: "RunConfig") -> str:
    from gola.problems import make_problem

    problem = make_problem(data.provenance["problem"], **data.provenance["parameters"])
    return (
        f"{problem.title}: {problem.equation}. Given the source f at scattered points, predict the pressure u."
        f" {config.num_train} simulations are there to learn from, each known at {config.num_points} points drawn at"
        f" random from its {problem.typical_size}; {config.num_test} others, never seen, are there to judge by."
    )


def _fields(entries: list[Entry], test: Dataset) -> Picture:
    from gola.plotting.predictions import Prediction, draw_predictions
    from gola.plotting.run import telling_samples
    from gola.plotting.style import as_png

    # The sample in the middle by the errors of both, so that neither is shown at its best or worst.
    row = telling_samples(np.prod([entry.evaluation.errors for entry in entries], axis=0))["median"]
    sample = test[row]
    predictions = [
        Prediction(label=entry.name, sample=sample, values=entry.surrogate.predict(sample.points, sample.inputs))
        for entry in entries
    ]
    return Picture(
        png=as_png(draw_predictions(predictions, test.inputs, test.targets)),
        caption=f"Test sample {row}, a middling one for both. Truth and prediction share a colour scale, and so do the"
        " errors of the two operators.",
        description="Source, true pressure, predicted pressure and absolute error, a row for each operator.",
        wide=True,
    )


def _errors(entries: list[Entry]) -> Picture:
    from gola.plotting.errors import draw_errors
    from gola.plotting.style import as_png

    errors = {entry.name: entry.evaluation.errors for entry in entries}
    return Picture(
        png=as_png(draw_errors(errors, title=f"{len(entries[0].evaluation.errors)} test samples")),
        caption="Errors of the single test samples, on one logarithmic scale.",
        description=f"Histograms of the relative L2 errors of {' and '.join(errors)}.",
    )


def _curves(entries: list[Entry]) -> Picture:
    from gola.plotting.curves import draw_curves
    from gola.plotting.style import as_png
    from gola.protocol import Epoch

    trained = _trained(entries)
    history = [Epoch(**epoch) for epoch in trained.surrogate.provenance["history"]]
    levels = {f"{entry.name}, test samples": entry.evaluation.mean for entry in entries}
    last, test = history[-1].training_error, trained.evaluation.mean
    return Picture(
        png=as_png(draw_curves(history, title=trained.name, levels=levels)),
        caption=f"After {len(history)} epochs the error of {trained.name} is {last:.4f} on the samples it learned from"
        f" and {test:.4f} on the test samples.",
        description=f"Training error of {trained.name} against the epoch, with the test errors as lines.",
    )


def _facts(entries: list[Entry], data: Dataset, command: str, seconds: float) -> dict[str, str]:
    config, trained = entries[0].config, _trained(entries)
    earlier = "".join(f"; {entry.name} was fitted by an earlier call" for entry in entries if entry.reused)
    return {
        "command": f"`{command}`",
        "time": f"{seconds:.0f} s in all{earlier}",
        "data": f"`{config.data}`: {len(data)} samples of {data.provenance['problem']}, seed {data.provenance['seed']},"
        f" {_listed(data.provenance['parameters'])}",
        "samples": f"{config.num_train} for training, {config.num_test} for the test, {config.num_points} points each,"
        f" seed {config.seed}",
        "fingerprint of the training samples": f"`{trained.surrogate.provenance['data']['fingerprint']}`",
        **{f"settings of {entry.name}": _listed(entry.surrogate.operator.config.to_dict()) for entry in entries},
        "training": _listed(trained.surrogate.provenance["training"]),
        "versions": versions(),
    }


def _trained(entries: list[Entry]) -> Entry:
    return next(entry for entry in entries if "history" in entry.surrogate.provenance)


def _listed(settings: dict[str, Any]) -> str:
    shown = {name: f"{value:g}" if isinstance(value, float) else value for name, value in settings.items()}
    return ", ".join(f"{name} {value}" for name, value in shown.items() if value is not None)
