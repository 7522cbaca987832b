"""``gola operators`` and ``gola info``."""

from collections import defaultdict
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from gola.cli.console import output


def list_operators() -> None:
    """List the operators with what they are and what structure they need."""
    from gola.registry import OPERATORS

    table = Table("name", "what it is", "needs", "presets")
    for name, operator in OPERATORS.items():
        summary = (operator.__doc__ or "").strip().splitlines()[0]
        table.add_row(name, Text(summary), ", ".join(operator.needs) or "points", ", ".join(operator.presets))
    output.print(table)


def describe_operator(
    operator: Annotated[str, typer.Option(help="Name of the operator; see `gola operators`.")] = "gola",
    preset: Annotated[str, typer.Option(help="Name of the preset.")] = "default",
) -> None:
    """Print an operator's settings, and its layers with their numbers of parameters."""
    from gola.fitting.configs import kind_of  # PyTorch takes its time to import
    from gola.fitting.configs import preset as preset_of

    config = preset_of(f"{operator}/{preset}")
    kind = kind_of(config)
    made = kind(config)

    output.print(Text(f"{kind.title}, preset {preset}", style="bold"))
    settings = Table.grid(padding=(0, 2))
    for name, value in config.to_dict().items():
        settings.add_row(f"  {name}", str(value))
    output.print(settings)

    if not made.num_parameters:
        output.print("A closed form: how many numbers it takes, the data decide.")
        return
    layers: dict[str, dict[str, int]] = defaultdict(dict)
    for name, count in made.parameter_counts().items():
        layer, _, parameter = name.rpartition(".")
        layers[layer][parameter] = count
    table = Table()
    table.add_column("layer", overflow="fold")
    table.add_column("parameters")
    table.add_column("count", justify="right")
    for layer, parameters in layers.items():
        table.add_row(Text(layer), Text(" + ".join(parameters)), f"{sum(parameters.values()):,}")
    table.add_section()
    table.add_row("all layers", "a complex number counts once", f"{made.num_parameters:,}", style="bold")
    output.print(table)
