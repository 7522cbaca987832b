"""The command line: parse, call, print. Nothing is computed here, and slow imports wait until a command needs them."""

import sys
import warnings
from importlib.metadata import version
from typing import Annotated, Any

import typer

from gola.cli import (
    calibration,
    compare,
    data,
    demo,
    evaluate,
    learning_curve,
    operators,
    plot,
    predict,
    problems,
    suggest,
    sweep,
    train,
)
from gola.cli.console import errors, say, warn

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo.demo)
app.command("problems")(problems.list_problems)
app.command("generate")(problems.generate_data)
app.command("operators")(operators.list_operators)
app.command("info")(operators.describe_operator)
app.command("import")(data.import_data)
app.command("export")(data.export_data)
app.command("inspect")(data.inspect_data)
app.command("train")(train.train)
app.command("evaluate")(evaluate.evaluate)
app.command("predict")(predict.predict)
app.command("calibration")(calibration.calibration)
app.command("learning-curve")(learning_curve.learning_curve)
app.command("suggest")(suggest.suggest)
app.command("plot")(plot.plot)
app.command("compare")(compare.compare)
app.command("sweep")(sweep.sweep)


def _print_version(wanted: bool) -> bool:
    if wanted:
        say(f"gola {version('gola')}")
        raise typer.Exit
    return wanted


@app.callback()
def start(
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Operator learning from few simulations on points and meshes."""


def _show_warning(message: Warning | str, *_where: Any, **_line: Any) -> None:
    """Print a warning without the line of code that Python would add."""
    warn(str(message))


def main() -> None:
    """Run the command line; a user's mistake becomes one line on standard error and exit code 2."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            app()
    except (ValueError, OSError) as error:
        errors.print("[bold red]Error:[/]", end=" ")
        say(str(error), to=errors)
        sys.exit(2)
