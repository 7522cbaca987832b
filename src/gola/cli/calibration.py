"""``gola calibration``: whether bands hold as often as they say."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE
from rich.table import Table

from gola.cli.console import output, say, say_json
from gola.cli.options import AsJson, NumTest, NumTrain, Seed, completing_operators
from gola.display import Display

if TYPE_CHECKING:
    from gola.surrogate.calibration_study import CalibrationStudy


def calibration(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="DATA|RUN",
            help="A data set; or the folder of a run, which says the data set, the operator and the numbers of samples"
            " and points.",
        ),
    ],
    operator: Annotated[
        str | None,
        typer.Option(
            help="What to fit to each split; by default that of the run, or the automatic choice without networks.",
            autocompletion=completing_operators,
        ),
    ] = None,
    num_train: NumTrain = None,
    num_test: NumTest = None,
    num_splits: Annotated[int, typer.Option(help="Random splits into training and test samples.", min=1)] = 10,
    out: Annotated[Path | None, typer.Option(help="Draw the result to this .png, .svg or .pdf file.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Count how often bands hold for samples that were left aside, over many splits of a data set.

    Every split is a fit. Without --num-train, as many samples are for training as in the run, or two thirds of all.
    """
    from gola.surrogate.calibration_study import calibration as study_of  # PyTorch is slow to import

    given = {"operator": operator, "num_train": num_train, "num_test": num_test}
    options = (_options_of_run(source) if source.is_dir() else _options_of_data(source)) | {
        name: value for name, value in given.items() if value is not None
    }
    with Display("Calibration") as display:
        study = study_of(
            **options,
            num_splits=num_splits,
            seed=seed,
            on_progress=lambda done: display.update("splits", done, num_splits),
        )
    if out is not None:
        from gola.plotting.calibration import draw_calibration
        from gola.plotting.style import write

        write(draw_calibration(study, title=f"{source.name}: {_counts(study)}"), out)
    if as_json:
        say_json(study.to_dict())
        return
    output.print(_table(study))
    say(
        f"Mean relative L2 error {study.actual.mean():.4g}, estimated {study.estimated.mean():.4g}; rank correlation of"
        f" both over test samples {study.rank_correlation:.2f} ({_counts(study)})."
    )


def _counts(study: "CalibrationStudy") -> str:
    splits, tests = study.actual.shape
    return f"{study.num_train} training and {tests} test samples, {splits} split{'s' * (splits > 1)}"


def _options_of_data(path: Path) -> dict[str, Any]:
    from gola.data.dataset import Dataset

    return {"data": Dataset.load(path)}


def _options_of_run(folder: Path) -> dict[str, Any]:
    """Return what a run fitted, and to how much."""
    from gola.data.dataset import Dataset
    from gola.fitting.configs import config_for
    from gola.runs import RunConfig

    run = RunConfig.load(folder)
    data = Dataset.load(run.data)
    data = data if run.num_points is None else data.subsample(run.num_points, seed=run.seed)
    left = None if run.num_test is None else len(data) - run.num_test
    # A run that fitted to all samples leaves none to test bands on.
    counts = {"num_train": run.num_train or left, "num_test": run.num_test}
    known = counts if (run.num_train or left or len(data)) < len(data) else {}
    return {"data": data, "operator": config_for(data, run.operator, **run.settings), "training": run.training, **known}


def _table(study: "CalibrationStudy") -> Table:
    table = Table("band", "should hold", "held", "half-width / RMSE", box=SIMPLE)
    for one in study.coverages:
        what = "of fields, everywhere" if one.kind == "everywhere" else "of points"
        held = f"{100 * one.actual:.1f} ± {100 * one.error_bar:.1f} %"
        table.add_row(what, f"{100 * one.level:.4g} %", held, f"{one.half_width:.2f}")
    return table
