"""The figure of the ablation: every variant as a row of dots."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from gola.plotting.style import as_png, house_style
from gola.report.page import Picture
from paper.ablation.goals import GOALS, paper_error
from paper.ablation.variants import PAPER_PROBLEMS, ROWS, VARIANTS
from paper.contenders import OURS
from paper.protocol import TITLES
from paper.store import Store

Errors = Mapping[tuple[int, str, str], Sequence[float]]
"""Errors of all seeds, by training samples, problem and variant."""


def ablation_picture(store: Store) -> Picture:
    """Draw the errors of all variants."""
    errors = {
        (num_train, problem, name): list(store.errors(variant.cell(problem, num_train, store.protocol)).values())
        for num_train, problems in ROWS
        for problem in problems
        for name, variant in VARIANTS.items()
    }
    return Picture(
        png=as_png(_draw(errors)),
        caption="The variants of the ablation; its numbers are in `docs/ablation.md`.",
        description="A panel for each problem and size, a row for each variant, a dot for each seed.",
        wide=True,
    )


def _draw(errors: Errors) -> Figure:
    """Draw a panel for each problem and size, on a logarithmic axis."""
    shown = [_shown(num_train, problems, errors) for num_train, problems in ROWS]
    with house_style():
        figure = Figure(figsize=(13, 2.0 + 0.2 * sum(map(len, shown))), layout="constrained")
        axes = figure.subplots(
            len(ROWS),
            len(PAPER_PROBLEMS),
            height_ratios=[max(1, len(names)) for names in shown],
            sharey="row",
            squeeze=False,
        )
        for panels, names, (num_train, problems) in zip(axes, shown, ROWS, strict=True):
            for panel, problem in zip(panels, problems, strict=False):
                _draw_panel(panel, num_train, problem, names, errors)
            panels[0].set_ylim(len(names) - 0.3, -0.7)
            for unused in panels[len(problems) :]:
                unused.axis("off")
                unused.legend(*axes[0, 0].get_legend_handles_labels(), loc="center", frameon=False)
        figure.supxlabel(
            "relative L2 error on 100 test samples (a dot for each seed, a bar for their mean)", fontsize=10
        )
    return figure


def _shown(num_train: int, problems: Sequence[str], errors: Errors) -> list[str]:
    """Return the variants with a result on one of the problems."""
    return [name for name in VARIANTS if any(errors[num_train, problem, name] for problem in problems)]


def _draw_panel(panel: Axes, num_train: int, problem: str, names: Sequence[str], errors: Errors) -> None:
    for place, name in enumerate(names):
        found = errors[num_train, problem, name]
        colour = "C1" if name == OURS else "C0"
        panel.plot(found, [place] * len(found), "o", color=colour, alpha=0.5, markersize=5)
        if found:
            panel.plot(np.mean(found), place, "|", color=colour, markersize=14, markeredgewidth=2)
    if problem in PAPER_PROBLEMS:
        goal = GOALS[num_train, problem]
        printed = paper_error(num_train, problem)
        panel.axvline(printed, color="0.4", linestyle="--", linewidth=1, label="the paper's GOLA")
        panel.axvline(goal, color="0.4", linestyle=":", linewidth=1.5, label="the goal")
    _number_logarithmically(panel)
    panel.grid(axis="x", alpha=0.3)
    panel.set_title(f"{TITLES[problem]}, {num_train} samples")
    panel.set_yticks(range(len(names)), names)


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
