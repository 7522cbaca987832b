"""Options that several commands share."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from gola.registry import OPERATORS, PROBLEMS


def completing_operators(incomplete: str) -> list[str]:
    """Return the operators whose names begin like this, for completion in the shell."""
    return _beginning(OPERATORS, incomplete)


def completing_problems(incomplete: str) -> list[str]:
    """Return the problems whose names begin like this, for completion in the shell."""
    return _beginning(PROBLEMS, incomplete)


def _beginning(names: Iterable[str], start: str) -> list[str]:
    return [name for name in names if name.startswith(start)]


DataFile = Annotated[Path, typer.Argument(help="A data set, as `gola generate` and `gola import` write it.")]
NumTrain = Annotated[int | None, typer.Option(help="Training samples; by default all that are not for testing.", min=1)]
NumTest = Annotated[int | None, typer.Option(help="Test samples; by default all that are not for training.", min=1)]
NumPoints = Annotated[int | None, typer.Option(help="Points to keep of each sample; all by default.", min=1)]
Seed = Annotated[int, typer.Option(help="Random seed of split, subsampling and initialisation.", min=0)]
Workers = Annotated[int | None, typer.Option(help="Processes; one per core by default.", min=1)]
Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Use the workers of this Dask scheduler, tcp://host:port.")
]
KeepOld = Annotated[bool, typer.Option("--keep", help="Accept results of other code versions.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
