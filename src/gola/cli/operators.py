"""``gola operators`` and ``gola info``."""

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from gola.cli.console import output, say, say_json
from gola.cli.options import AsJson, completing_operators

if TYPE_CHECKING:
    from gola.operators import Operator

# The marks that documentation is written with: :class:`gola.fit` and ``code``.
_ROLE = re.compile(r"(?::\w+)*:?`+~?([^`]*)`+")


def list_operators(as_json: AsJson = False) -> None:
    """List the operators: what they are, the structure and the number of samples that they need, their presets."""
    from gola.registry import OPERATORS  # looking an operator up imports PyTorch, which is slow

    rows = [_facts(name, operator) for name, operator in OPERATORS.items()]
    if as_json:
        say_json(rows)
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(Text(row["name"], style="bold"), Text(row["summary"]))
        table.add_row("", Text(_requirements(row), style="dim"))
    output.print(table)


def describe_operator(
    operator: Annotated[
        str,
        typer.Option(help="Operator, or operator/preset; see `gola operators`.", autocompletion=completing_operators),
    ] = "gola",
    as_json: AsJson = False,
) -> None:
    """Print an operator's settings, and its layers with their numbers of parameters."""
    from gola.fitting.configs import kind_of, preset  # PyTorch is slow to import

    config = preset(operator)
    made = kind_of(config)(config)
    if as_json:
        facts = _facts(operator.partition("/")[0], type(made))
        say_json({**facts, "settings": config.to_dict(), "parameters": made.parameter_counts()})
        return
    output.print(Text(f"{operator}: {made.title}", style="bold"))
    settings = Table.grid(padding=(0, 2))
    for name, value in config.to_dict().items():
        settings.add_row(Text(f"  {name}"), Text(_shown(value)))
    output.print(settings)
    say(f"Change settings with `gola train --operator {operator} --set NAME=VALUE`.")
    if made.num_parameters:
        output.print(_layers(made))
    else:
        say("The number of parameters depends on the data.")


def summary_of(text: str | None) -> str:
    """Return the first line of a docstring as plain text.

    >>> summary_of("Like :class:`~gola.Surrogate`, with ``fit`` and :func:`predict`." + chr(10) + "More.")
    'Like gola.Surrogate, with fit and predict.'
    """
    first = (text or "").strip().partition("\n")[0]
    return _ROLE.sub(r"\1", first)


def _facts(name: str, operator: "type[Operator]") -> dict[str, Any]:
    return {
        "name": name,
        "summary": summary_of(operator.__doc__),
        "needs": list(operator.needs),
        "min_samples": operator.min_samples,
        "presets": list(operator.presets),
    }


def _requirements(row: dict[str, Any]) -> str:
    count = row["min_samples"]
    needs = [*row["needs"], "1 sample" if count == 1 else f"{count} samples"]
    presets = f"; presets {', '.join(row['presets'])}" if len(row["presets"]) > 1 else ""
    return f"needs {' and '.join(needs)}{presets}"


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _layers(operator: "Operator") -> Table:
    layers: dict[str, dict[str, int]] = defaultdict(dict)
    for name, count in operator.parameter_counts().items():
        layer, _, parameter = name.rpartition(".")
        layers[layer][parameter] = count
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("layer", overflow="fold")
    table.add_column("parameters", overflow="fold")
    table.add_column("count", justify="right", no_wrap=True)
    for layer, parameters in layers.items():
        table.add_row(Text(layer), Text(" + ".join(parameters)), f"{sum(parameters.values()):,}")
    table.add_section()
    table.add_row("all layers", "complex numbers count once", f"{operator.num_parameters:,}", style="bold")
    return table
