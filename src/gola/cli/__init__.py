"""The command line: parse, call, print. Nothing is computed here."""

import sys

import typer

from gola.cli import demo
from gola.cli.console import errors

app = typer.Typer(
    help="Operator learning from few simulations on scattered points.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo.demo)


@app.callback()
def _root() -> None:
    """Keep the name of a command required, even while there is only one."""


def main() -> None:
    """Run the command line; a user's mistake becomes one line on standard error and exit code 2."""
    try:
        app()
    except (ValueError, OSError) as error:
        errors.print(f"[bold red]Error:[/] {error}", soft_wrap=True)
        sys.exit(2)
