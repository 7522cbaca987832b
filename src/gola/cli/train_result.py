"""Print the result of ``gola train``."""

import shlex
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from gola.cli.console import output, say, say_json

if TYPE_CHECKING:
    from gola.runs.folder import RunFolder
    from gola.surrogate.surrogate import Surrogate

# What scores are called in tables.
_HEADINGS = {
    "cv_error": "cross-validation error",
    "validation_error": "validation error",
    "training_error": "training error",
}

# A representation that leaves less is exact up to rounding.
_EXACT = 1e-6


def say_result(surrogate: "Surrogate", test: dict[str, Any] | None, folder: "RunFolder", *, as_json: bool) -> None:
    """Print scores, test error, time and size, and which commands come next.

    Args:
        surrogate: What was fitted.
        test: Its errors on the test samples; None where there are none.
        folder: Where it is kept.
        as_json: Whether to print JSON instead of a table.
    """
    from gola.runs.execution import fit_seconds

    facts = {
        "operator": surrogate.operator.name,
        "num_parameters": surrogate.operator.num_parameters,
        "seconds": fit_seconds(surrogate),
        "scores": surrogate.scores,
        "representation_error": surrogate.provenance.get("representation_error"),
        "choice": surrogate.provenance.get("choice"),
        "targets": [channel.name for channel in surrogate.targets],
        "test": test,
        "surrogate": str(folder.surrogate_file),
    }
    if as_json:
        say_json(facts)
        return
    output.print(_table(facts, num_epochs=len(surrogate.provenance.get("history", ()))))
    path = shlex.quote(str(folder.path))
    say("Next:")
    say(f"  gola evaluate {path}")
    say(f"  gola plot {path}")
    say(f"  gola predict {path} INPUT --out prediction.{'pvd' if surrogate.has_time else 'vtu'}")


def _table(facts: dict[str, Any], *, num_epochs: int) -> Table:
    rows = {_HEADINGS.get(name, name): f"{error:.4f}" for name, error in facts["scores"].items()}
    # At shared nodes solutions are their own representation, up to rounding.
    if (alone := facts["representation_error"]) is not None:
        rows["representation alone"] = f"{alone:.2g}" if alone > _EXACT else "exact"
    if choice := facts["choice"]:
        rows["choice"] = choice["summary"]
        rows["why"] = choice["why"]
    if test := facts["test"]:
        rows |= _channel_rows(facts["targets"], test)
        rows["test error"] = f"{test['mean']:.4f} ± {test['std']:.4f} (mean ± std of {test['num_samples']} samples)"
    rows["time to fit"] = f"{facts['seconds']:.1f} s" + (f", {num_epochs} epochs" if num_epochs else "")
    rows["parameters"] = f"{facts['num_parameters']:,}"
    rows["surrogate"] = facts["surrogate"]
    title = Text(f"{facts['operator']} (relative L2 errors)")
    table = Table(title=title, show_header=False, title_justify="left")
    table.add_column(overflow="fold", max_width=32)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(Text(name), Text(value))
    return table


def _channel_rows(targets: list[str], test: dict[str, Any]) -> dict[str, str]:
    """Return the test error of each channel, where it says more than the overall error."""
    from gola.runs import channel_errors, worth_showing

    found = channel_errors(targets, test["channels"], test.get("variation"))
    return {f"test error of {one.name}": str(one) for one in found} if worth_showing(found) else {}
