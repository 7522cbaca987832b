"""``gola problems`` and ``gola generate``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from gola.cli.console import INTERRUPTED, errors, output, say, say_json
from gola.cli.options import AsJson, Scheduler, Workers, completing_problems
from gola.cli.values import assignments
from gola.display import Display

if TYPE_CHECKING:
    from gola.problems import Problem


def list_problems(
    name: Annotated[
        str | None, typer.Argument(help="One problem; all by default.", autocompletion=completing_problems)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the benchmark problems with their equations, channels, parameters, sizes and settings.

    Pictures of samples: `gola generate NAME --num-samples 1 --out sample.h5`, then `gola plot sample.h5`.
    """
    from gola.data.periods import in_words  # NumPy and SciPy, which problems import, are slow
    from gola.problems import make_problem
    from gola.registry import PROBLEMS

    problems = [_facts(one, make_problem(one)) for one in ([name] if name else PROBLEMS)]
    if as_json:
        say_json(problems)
        return
    for problem in problems:
        output.print(Text(problem["name"], style="bold"), Text(f"({problem['title']}, {problem['dim']}D)"))
        facts = Table.grid(padding=(0, 2, 0, 2))
        facts.add_row("equation", Text(problem["equation"]))
        given = [*problem["inputs"], *(["parameters"] if problem["parameters"] else [])]
        facts.add_row("channels", Text(f"{', '.join(given)} → {', '.join(problem['targets'])}"))
        if problem["parameters"]:
            facts.add_row("parameters", Text("; ".join(problem["parameters"])))
        if problem["periods"]:
            facts.add_row("periods", Text(in_words(problem["periods"])))
        if problem["symmetries"]:
            facts.add_row("symmetries", Text(", ".join(problem["symmetries"])))
        facts.add_row("size", Text(problem["size"]))
        facts.add_row("settings", Text(", ".join(f"{key}={value}" for key, value in problem["settings"].items())))
        output.print(facts)


def generate_data(
    problem: Annotated[
        str, typer.Argument(help="Name of the problem; see `gola problems`.", autocompletion=completing_problems)
    ],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    num_samples: Annotated[int, typer.Option(help="Number of samples.", min=1)] = 200,
    seed: Annotated[int, typer.Option(help="Random seed of the inputs.", min=0)] = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the problem; may be repeated."),
    ] = None,
    num_workers: Workers = None,
    scheduler: Scheduler = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that holds something else.")] = False,
    as_json: AsJson = False,
) -> None:
    """Solve a benchmark problem for many random inputs, and write a data set.

    Ctrl-C keeps the samples that are finished; the same command then continues.
    """
    from gola.problems import make_problem  # SciPy is slow to import
    from gola.problems.generation import generate

    chosen = make_problem(problem, **assignments(settings or [], {}))
    try:
        with Display(f"Solving {chosen.title}") as display:
            dataset = generate(
                chosen,
                out,
                num_samples=num_samples,
                seed=seed,
                num_workers=num_workers,
                scheduler=scheduler,
                overwrite=overwrite,
                on_progress=lambda num_done: display.update("samples", num_done, num_samples),
            )
    except KeyboardInterrupt:
        say(f"Interrupted. Finished samples are kept in {out}.parts; run the same command to continue.", to=errors)
        raise typer.Exit(INTERRUPTED) from None
    if as_json:
        say_json({"out": str(out), "num_samples": len(dataset), "provenance": dataset.provenance})
    else:
        say(f"{out}: {dataset!r}, {out.stat().st_size / 1e6:.1f} MB")


def _facts(name: str, problem: "Problem") -> dict[str, Any]:
    return {
        "name": name,
        "title": problem.title,
        "dim": problem.dim,
        "equation": problem.equation,
        "inputs": [str(channel) for channel in problem.inputs],
        "targets": [str(channel) for channel in problem.targets],
        "parameters": problem.parameter_descriptions,
        "periods": problem.periods,
        "symmetries": list(problem.symmetries),
        "size": problem.typical_size,
        "settings": problem.settings,
    }
