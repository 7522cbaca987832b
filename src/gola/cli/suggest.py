"""``gola suggest``: the simulations to run next."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE
from rich.table import Table

from gola.cli.console import output, say, say_json
from gola.cli.options import AsJson, Seed
from gola.cli.surrogates import load_surrogate

if TYPE_CHECKING:
    from gola.surrogate.suggestion import Suggestions
    from gola.surrogate.surrogate import Surrogate


def suggest(
    source: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run, or a .gola file.")],
    candidates: Annotated[
        Path | None,
        typer.Argument(
            metavar="CANDIDATES",
            help="Inputs that could be simulated: a data set, or any file that `gola import` reads. Without, parameters"
            " are drawn.",
        ),
    ] = None,
    num: Annotated[int, typer.Option(help="Simulations to choose.", min=1)] = 5,
    parameters: Annotated[
        Path | None, typer.Option(metavar="CSV", help="A table with a row of parameters for each candidate.")
    ] = None,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            metavar="NAME=LOW:HIGH",
            help="Draw this parameter from here to there; by default within the training samples. May be repeated.",
        ),
    ] = None,
    costs: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What each candidate costs: a number on each line.")
    ] = None,
    target: Annotated[float, typer.Option(help="A mean relative L2 error that is small enough.", min=0.0)] = 0.0,
    out: Annotated[Path | None, typer.Option(help="Write the chosen candidates and parameters to this .csv.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Choose the simulations that should lower the error most, the best first.

    Candidates should be like the inputs that predictions will be made for; their solutions are not needed. The errors
    are those to expect after each simulation and all before it, as a mean over the candidates.
    """
    from gola.runs.inputs import Inputs  # PyTorch is slow to import

    if candidates is not None and ranges:
        raise ValueError("--range is for parameters that are drawn; leave it out where candidates are given.")
    surrogate = load_surrogate(source)
    samples = None
    if candidates is not None:
        inputs = Inputs.read(candidates, surrogate, table=parameters)
        samples = [inputs.sample(row) for row in range(len(inputs))]
    found = surrogate.suggest(
        samples,
        num=num,
        costs=None if costs is None else _numbers(costs),
        ranges=dict(map(_range, ranges or [])),
        target=target,
        seed=seed,
    )
    names = [channel.name for channel in surrogate.parameters]
    if out is not None:
        _write(found, names, out)
    if as_json:
        say_json(_plain(found, names))
        return
    output.print(_table(found, surrogate, drawn=candidates is None))
    say(_advice(found, target))


def _range(text: str) -> tuple[str, tuple[float, float]]:
    name, _, values = text.partition("=")
    low, _, high = values.partition(":")
    try:
        return name, (float(low), float(high))
    except ValueError:
        raise ValueError(f"--range needs a name and two numbers, like speed=1:5; got {text!r}.") from None


def _numbers(path: Path) -> list[float]:
    try:
        return [float(line) for line in path.read_text().split()]
    except ValueError:
        raise ValueError(f"{path} must hold a number on each line: the cost of each candidate.") from None


def _plain(found: "Suggestions", names: list[str]) -> dict[str, object]:
    chosen = [{**vars(one), "parameters": dict(zip(names, one.parameters, strict=True))} for one in found.chosen]
    known = {"error": found.error, "num_worthwhile": found.num_worthwhile, "source": found.source}
    return {**known, "chosen": chosen}


def _write(found: "Suggestions", names: list[str], out: Path) -> None:
    with out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["candidate", *names])
        writer.writerows([one.candidate, *one.parameters] for one in found.chosen)


def _table(found: "Suggestions", surrogate: "Surrogate", *, drawn: bool) -> Table:
    table = Table("parameters" if drawn else "candidate", "error then", "why", box=SIMPLE)
    table.add_row("now", f"{found.error:.4f}", "")
    for one in found.chosen:
        pairs = zip(surrogate.parameters, one.parameters, strict=True)
        what = "\n".join(f"{channel.name} {value:.4g}" for channel, value in pairs) if drawn else str(one.candidate)
        table.add_row(what, f"{one.error:.4f}", one.reason)
    return table


def _advice(found: "Suggestions", target: float) -> str:
    number, by = found.num_worthwhile, f" Errors by {found.source}."
    if number == len(found.chosen):
        return f"All {number} are worth it: each should remove 1 % of the error or more.{by}"
    reached = target > 0.0 and (found.chosen[number - 1].error if number else found.error) <= target
    why = f"the error should be below {target:.4g} then" if reached else "each further one removes less than 1 %"
    return f"Stop after {number}: {why}.{by}" if number else f"No more simulations are needed: {why}.{by}"
