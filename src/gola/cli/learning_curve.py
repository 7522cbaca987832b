"""``gola learning-curve``: what more samples would bring."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE
from rich.table import Table

from gola.cli.console import output, say, say_json
from gola.cli.options import AsJson, DataFile, Seed, completing_operators
from gola.display import Display

if TYPE_CHECKING:
    from gola.surrogate.learning_curve import LearningCurve


def learning_curve(
    data: DataFile,
    operator: Annotated[
        str | None,
        typer.Option(
            help="What to fit; by default the automatic choice without networks.", autocompletion=completing_operators
        ),
    ] = None,
    more: Annotated[
        list[int] | None,
        typer.Option(help="How many more samples to forecast for; half as many more, and twice as many. Repeatable."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Draw the curve to this .png, .svg or .pdf file.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Fit to parts of the samples, and say what more samples would bring.

    Fifteen fits: to quarters, halves and three quarters of the samples, and to all of them. A power law with a floor
    continues the errors; 8 of 10 forecasts should lie in the range that is given.
    """
    from gola.data.dataset import Dataset  # PyTorch is slow to import
    from gola.surrogate.learning_curve import learning_curve as curve_of

    if more is not None and min(more) < 1:
        raise ValueError(f"--more needs at least 1 more sample; got {min(more)}.")
    with Display("Learning curve") as display:
        samples = Dataset.load(data)
        curve = curve_of(
            samples, operator, seed=seed, on_progress=lambda done, number: display.update("fits", done, number)
        )
    added = more or [len(samples) // 2, len(samples)]
    if out is not None:
        from gola.plotting.learning_curve import draw_learning_curve
        from gola.plotting.style import write

        write(draw_learning_curve(curve, title=data.name), out)
    if as_json:
        say_json({**curve.to_dict(), "forecasts": [vars(curve.forecast(len(samples) + one)) for one in added]})
        return
    output.print(_table(curve, [len(samples) + one for one in added]))
    for one in added:
        say(curve.sentence(one))


def _table(curve: "LearningCurve", forecasts: list[int]) -> Table:
    table = Table("samples", "error", "", box=SIMPLE)
    for size, error, doubt in zip(curve.sizes, curve.errors, curve.doubts, strict=True):
        table.add_row(str(size), f"{error:.4f}", f"± {error * doubt:.4f}")
    for size in forecasts:
        then = curve.forecast(size)
        table.add_row(str(size), f"{then.error:.4f}", f"forecast, {then.lower:.4f} to {then.upper:.4f}")
    return table
