"""What options of several commands mean."""

import json
from typing import Annotated, Any

import typer

Workers = Annotated[int | None, typer.Option(help="Processes; by default one per core.", min=1)]
Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Use the workers of this Dask scheduler, tcp://host:port.")
]
KeepOld = Annotated[bool, typer.Option("--keep", help="Accept results of other versions of the code.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]


def assignments(texts: list[str]) -> dict[str, Any]:
    """Read NAME=VALUE pairs; values are numbers, lists, true, false or text.

    >>> assignments(["width=32", "radius=0.1", "name=fast"])
    {'width': 32, 'radius': 0.1, 'name': 'fast'}
    """
    parsed = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise ValueError(f"--set needs NAME=VALUE, for instance resolution=64; got {text!r}.")
        try:
            parsed[name.strip().replace("-", "_")] = json.loads(value)
        except json.JSONDecodeError:
            parsed[name.strip().replace("-", "_")] = value
    return parsed


def counts(text: str, option: str) -> list[int]:
    """Read whole numbers separated by commas.

    >>> counts("100,1000", "--num-points")
    [100, 1000]
    """
    try:
        numbers = [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        raise ValueError(f"{option} needs whole numbers above 0 with commas between them, like 100,1000; got {text!r}.")
    return numbers
