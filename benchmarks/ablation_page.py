"""Tables and figure of the ablation, from the results that there are."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from benchmarks import dropped
from benchmarks.variants import PAPER_PROBLEMS, ROWS, VARIANTS, WORK
from paper.published import TABLE_1, TABLE_2
from paper.store import Store

PAGE = Path("docs/ablation.md")
FIGURE = Path("results/ablation/ablation.png")
DESCRIPTION = "A panel for each problem and size, a row for each variant, a dot for each seed."
INTRODUCTION = """# What each step gains

Relative L2 error on 100 test samples at 1000 scattered points, mean ± standard deviation over seeds and their number in
brackets; – where no run is finished. `python -m benchmarks.dropped` and `python -m benchmarks.ablation` do what is
missing, and the second writes this page. Variants were chosen on samples of generator seed 0; these are of seed 1. The
networks of all variants of `spectral` are trained equally long. Most networks from 30 samples of the paper's problems
were trained before the default of `smoothing` rose from 1e-7 to 1e-4, which on development data makes little difference
at 1000 points (decision 11); files in `results/paper/runs` name the version of the code that made them. What we make of
it all is in decisions [8](decisions/0008-closed-form-operators.md), [11](decisions/0011-exact-projections.md)
and [12](decisions/0012-automatic-choice.md)."""
# The goal is half of the paper's error, and less where closed forms are good.
GOALS = {30: (0.065, 0.037, 0.045, 0.085), 100: (0.014, 0.008, 0.035, 0.0025)}
# From the paper's operator to what users get.
_PAPERS = [name for name, variant in VARIANTS.items() if variant.operator == "gola"]
SHOWN = (*_PAPERS, *dropped.VARIANTS, *(name for name in VARIANTS if name not in _PAPERS))


def errors_of(problem: str, num_train: int, variant: str, store: Store) -> list[float]:
    """Return the errors of all seeds that are finished."""
    if variant in dropped.VARIANTS:
        return dropped.errors_of(problem, num_train, variant)
    found = store.of_run(VARIANTS[variant].run(problem, num_train, seed=0))
    return [result.error for result in found.values()]


def write() -> None:
    """Write the page with its tables, and the figure."""
    store = WORK.store()
    draw(store)
    tables = [table(size, problems, store) for size, problems in ROWS]
    PAGE.write_text("\n\n".join([INTRODUCTION, *tables, f"![{DESCRIPTION}](../{FIGURE})"]) + "\n", encoding="utf-8")


def table(size: int, problems: Sequence[str], store: Store) -> str:
    """Return mean, spread and number of seeds of every variant on every problem, as Markdown."""
    lines = [[f"{size} samples", *(problem.replace("_", " ") for problem in problems)], ["---"] * (len(problems) + 1)]
    if problems == PAPER_PROBLEMS:
        lines.append(["*the paper's GOLA*", *(f"*{paper_error(size, one):.4f}*" for one in problems)])
        lines.append(["*the goal*", *(f"*{goal:g}*" for goal in GOALS[size])])
    lines.extend(
        [variant, *(cell(errors_of(problem, size, variant, store)) for problem in problems)]
        for variant in finished(size, problems, store)
    )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def finished(size: int, problems: Sequence[str], store: Store) -> list[str]:
    """Return the variants with at least one run on one of the problems."""
    return [variant for variant in SHOWN if any(errors_of(problem, size, variant, store) for problem in problems)]


def paper_error(size: int, problem: str) -> float:
    """Return the error of GOLA that the paper prints."""
    return {30: TABLE_1, 100: TABLE_2}[size][problem]["gola"]


def cell(errors: Sequence[float]) -> str:
    """Write mean and spread over the seeds, and their number."""
    if not errors:
        return "–"
    spread = f" ± {np.std(errors, ddof=1):.4f}" if len(errors) > 1 else ""
    return f"{np.mean(errors):.4f}{spread} ({len(errors)})"


def draw(store: Store) -> None:
    """Draw every variant as a row of points on a logarithmic axis, one panel for each problem and size."""
    rows = [finished(size, problems, store) for size, problems in ROWS]
    figure, axes = plt.subplots(
        len(ROWS),
        len(PAPER_PROBLEMS),
        figsize=(13, 2.0 + 0.2 * sum(map(len, rows))),
        height_ratios=[max(1, len(variants)) for variants in rows],
        sharey="row",
        layout="constrained",
    )
    for panels, variants, (size, problems) in zip(axes, rows, ROWS, strict=True):
        for panel, problem in zip(panels, problems, strict=False):
            draw_panel(panel, size, problem, variants, store)
        panels[0].set_ylim(len(variants) - 0.3, -0.7)
        for unused in panels[len(problems) :]:
            unused.axis("off")
            unused.legend(*axes[0, 0].get_legend_handles_labels(), loc="center", frameon=False)
    figure.supxlabel("relative L2 error on 100 test samples (one dot for each seed, a bar for their mean)", fontsize=10)
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, dpi=150)


def draw_panel(panel: Axes, size: int, problem: str, variants: Sequence[str], store: Store) -> None:
    """Draw variants on one problem."""
    for place, variant in enumerate(variants):
        errors = errors_of(problem, size, variant, store)
        colour = "C1" if variant == "auto" else "C0"
        panel.plot(errors, [place] * len(errors), "o", color=colour, alpha=0.5, markersize=5)
        if errors:
            panel.plot(np.mean(errors), place, "|", color=colour, markersize=14, markeredgewidth=2)
    if problem in PAPER_PROBLEMS:
        goal = GOALS[size][PAPER_PROBLEMS.index(problem)]
        panel.axvline(paper_error(size, problem), color="0.4", linestyle="--", linewidth=1, label="the paper's GOLA")
        panel.axvline(goal, color="0.4", linestyle=":", linewidth=1.5, label="the goal")
    _number_logarithmically(panel)
    panel.grid(axis="x", alpha=0.3)
    panel.set_title(f"{problem.replace('_', ' ')}, {size} samples", fontsize=10)
    panel.set_yticks(range(len(variants)), variants)


def _number_logarithmically(panel: Axes) -> None:
    """Make the horizontal axis of a narrow panel logarithmic, with numbers that do not touch each other."""
    panel.set_xscale("log")
    low, high = panel.get_xlim()
    multiples = (1, 2, 3, 4, 6, 8) if high < 6 * low else (1, 2, 5) if high < 30 * low else (1,)
    decades = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)))
    marks = np.outer(decades, multiples).ravel()
    panel.xaxis.set_major_locator(FixedLocator(marks[(marks >= low) & (marks <= high)].tolist()))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
