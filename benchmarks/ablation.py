"""What every part of the automatic choice gains, at 1000 scattered points: ``python -m benchmarks.ablation``.

The paper's problems from 30 and 100 samples, and those on irregular domains from 30.

Runs are those of ``gola reproduce``, on the same data and kept in the same folder, ``results/paper/runs``, with some
variants of the spectral operator beside them: whatever is done there is not done again. ``--table`` prints what is
finished as Markdown, and ``--figure`` draws it, both with the results of ``benchmarks.dropped``. Variants were chosen
on samples of generator seed 0; these are of seed 1. All variants are trained equally long.
"""

import argparse
import itertools
from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from benchmarks import dropped
from benchmarks.variants import IRREGULAR_PROBLEMS, IRREGULAR_WORK, PAPER_PROBLEMS, VARIANTS, WORK
from gola.paper.published import TABLE_1, TABLE_2
from gola.paper.store import Store
from gola.runs import run_all

FIGURE = Path("results/ablation/ablation.png")
# The goal is half of the paper's error, and less where closed forms are good.
GOALS = {30: (0.065, 0.037, 0.045, 0.085), 100: (0.014, 0.008, 0.035, 0.0025)}
ROWS = ((30, PAPER_PROBLEMS), (100, PAPER_PROBLEMS), (30, IRREGULAR_PROBLEMS))
# The last variant is what users get, and stands last.
SHOWN = (*dropped.VARIANTS, *VARIANTS)


def main() -> None:
    """Run what is missing of the chosen variants, problems, sizes and seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    problems = (*PAPER_PROBLEMS, *IRREGULAR_PROBLEMS)
    parser.add_argument("--problems", nargs="+", default=list(problems), choices=problems)
    parser.add_argument("--sizes", nargs="+", type=int, default=[30, 100], choices=[30, 100])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--workers", type=int, help="processes; one per core by default")
    parser.add_argument("--table", action="store_true", help="only print what is finished, as Markdown")
    parser.add_argument("--figure", action="store_true", help=f"only draw what is finished to {FIGURE}")
    options = parser.parse_args()
    if options.table:
        print_table()
    if options.figure:
        draw()
    if options.table or options.figure:
        return
    for problem in options.problems:
        (WORK if problem in PAPER_PROBLEMS else IRREGULAR_WORK).prepare(problem)
    runs = [
        VARIANTS[variant].run(problem, size, seed)
        for seed, (size, problems), variant in itertools.product(options.seeds, ROWS, options.variants)
        for problem in problems
        if size in options.sizes and problem in options.problems
    ]
    store = WORK.store()
    missing = [run for run in runs if run.seed not in store.of_run(run)]
    print(f"{len(missing)} of {len(runs)} runs are missing", flush=True)
    run_all(
        missing,
        WORK.runs_folder,
        num_workers=options.workers,
        on_progress=lambda status: print(f"{status.num_done} of {status.num_runs} are done", flush=True),
    )


def errors_of(problem: str, num_train: int, variant: str, store: Store) -> list[float]:
    """Return the errors of all seeds that are finished."""
    if variant in dropped.VARIANTS:
        return dropped.errors_of(problem, num_train, variant)
    found = store.of_run(VARIANTS[variant].run(problem, num_train, seed=0))
    return [result.error for result in found.values()]


def print_table() -> None:
    """Print mean, spread and number of seeds of every variant on every problem."""
    store = WORK.store()
    for size, problems in ROWS:
        print(f"\n| {size} samples | " + " | ".join(problem.replace("_", " ") for problem in problems) + " |")
        print("|---" * (len(problems) + 1) + "|")
        if problems == PAPER_PROBLEMS:
            print("| *the paper's GOLA* | " + " | ".join(f"*{paper_error(size, one):.4f}*" for one in problems) + " |")
            print("| *the goal* | " + " | ".join(f"*{goal:g}*" for goal in GOALS[size]) + " |")
        for variant in SHOWN:
            cells = [cell(errors_of(problem, size, variant, store)) for problem in problems]
            print(f"| {variant} | " + " | ".join(cells) + " |")


def paper_error(size: int, problem: str) -> float:
    """Return the error of GOLA that the paper prints."""
    return {30: TABLE_1, 100: TABLE_2}[size][problem]["gola"]


def cell(errors: Sequence[float]) -> str:
    """Write mean and spread over the seeds, and their number."""
    if not errors:
        return "–"
    spread = f" ± {np.std(errors, ddof=1):.4f}" if len(errors) > 1 else ""
    return f"{np.mean(errors):.4f}{spread} ({len(errors)})"


def draw() -> None:
    """Draw every variant as a row of points on a logarithmic axis, one panel for each problem and size."""
    store = WORK.store()
    figure, axes = plt.subplots(len(ROWS), len(PAPER_PROBLEMS), figsize=(13, 13), sharey=True, layout="constrained")
    for panels, (size, problems) in zip(axes, ROWS, strict=True):
        for panel, problem in zip(panels, problems, strict=False):
            draw_panel(panel, size, problem, store)
        for unused in panels[len(problems) :]:
            unused.axis("off")
            unused.legend(*axes[0, 0].get_legend_handles_labels(), loc="center", frameon=False)
    axes[0, 0].invert_yaxis()
    figure.supxlabel("relative L2 error on 100 test samples (one dot for each seed, a bar for their mean)", fontsize=10)
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, dpi=150)


def draw_panel(panel: Axes, size: int, problem: str, store: Store) -> None:
    """Draw all variants on one problem."""
    for place, variant in enumerate(SHOWN):
        errors = errors_of(problem, size, variant, store)
        colour = "C1" if variant == "auto" else "C0"
        panel.plot(errors, [place] * len(errors), "o", color=colour, alpha=0.5, markersize=5)
        if errors:
            panel.plot(np.mean(errors), place, "|", color=colour, markersize=14, markeredgewidth=2)
    if problem in PAPER_PROBLEMS:
        goal = GOALS[size][PAPER_PROBLEMS.index(problem)]
        panel.axvline(paper_error(size, problem), color="0.4", linestyle="--", linewidth=1, label="the paper's GOLA")
        panel.axvline(goal, color="0.4", linestyle=":", linewidth=1.5, label="the goal")
    panel.set_xscale("log")
    left, right = panel.get_xlim()
    panel.xaxis.set_major_locator(LogLocator(subs=(1.0,) if right > 30 * left else (1.0, 2.0, 5.0)))
    panel.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.grid(axis="x", alpha=0.3)
    panel.set_title(f"{problem.replace('_', ' ')}, {size} samples", fontsize=10)
    panel.set_yticks(range(len(SHOWN)), SHOWN)


if __name__ == "__main__":
    main()
