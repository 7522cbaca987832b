"""``gola calibration``: whether bands hold as often as they say."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE
from rich.table import Table

from gola.cli.console import output, say, say_json
from gola.cli.options import AsJson, DataFile, NumTest, NumTrain, Seed
from gola.display import Display

if TYPE_CHECKING:
    from gola.surrogate.calibration_study import CalibrationStudy


def calibration(
    data: DataFile,
    operator: Annotated[str, typer.Option(help="What to fit to each split.")] = "kernel",
    num_train: NumTrain = None,
    num_test: NumTest = None,
    num_splits: Annotated[int, typer.Option(help="Random splits into training and test samples.", min=1)] = 10,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Count how often bands hold for samples that were left aside, over many splits of a data set.

    Without --num-train, two thirds of the samples are for training.
    """
    from gola.data.dataset import Dataset  # PyTorch is slow to import
    from gola.surrogate.calibration_study import calibration as study_of

    with Display("Calibration") as display:
        study = study_of(
            Dataset.load(data),
            operator,
            num_train=num_train,
            num_test=num_test,
            num_splits=num_splits,
            seed=seed,
            on_progress=lambda done: display.update("splits", done, num_splits),
        )
    if as_json:
        say_json(study.to_dict())
        return
    output.print(_table(study))
    say(
        f"Mean relative L2 error {study.actual.mean():.4f}, estimated {study.estimated.mean():.4f}; rank correlation of"
        f" both over test samples {study.rank_correlation:.2f} ({study.num_train} training and"
        f" {study.actual.shape[1]} test samples, {len(study.actual)} splits)."
    )


def _table(study: "CalibrationStudy") -> Table:
    table = Table("band", "should hold", "held", "half-width / RMSE", box=SIMPLE)
    for one in study.coverages:
        what = "of fields, everywhere" if one.kind == "everywhere" else "of points"
        held = f"{100 * one.actual:.1f} ± {100 * one.error_bar:.1f} %"
        table.add_row(what, f"{100 * one.level:.4g} %", held, f"{one.half_width:.2f}")
    return table
