"""The leaderboard as one figure: what each method reaches by itself."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.shapes.ablation import VARIANTS
from gola.plotting.style import house_style

NAMES = {
    "perforated_darcy": "obstacles",
    "plate_elasticity": "plate with a hole",
    "heat_sink": "cooled plate in space",
    "eikonal": "Eikonal",
}


def draw(lines: list[dict[str, Any]], num_train: int = 30) -> Figure:
    """Draw the error of each method, mean and single seeds, one panel for each problem.

    Args:
        lines: What has been measured.
        num_train: Of runs with so many training samples.
    """
    chosen = [line for line in lines if line["num_train"] == num_train and line.get("num_points") is None]
    means = {
        name: float(np.mean([np.log(line["error"]) for line in chosen if line["operator"] == name]))
        for name in {line["operator"] for line in chosen}
    }
    methods = sorted(means, key=means.__getitem__, reverse=True)
    with house_style():
        figure = Figure(figsize=(10.0, 3.4), layout="constrained")
        axes = figure.subplots(1, len(NAMES), sharey=True)
        for axis, (problem, title) in zip(axes, NAMES.items(), strict=True):
            for line in (line for line in chosen if line["problem"] == problem):
                axis.plot(line["error"], methods.index(line["operator"]), "o", color="C0", alpha=0.7)
            axis.set(xscale="log", title=title, xlabel="relative L2 error", xlim=(1.5e-3, 2.0))
            axis.grid(axis="both", alpha=0.3)
        axes[0].set_yticks(range(len(methods)), methods)
    return figure


def draw_ablation(lines: list[dict[str, Any]]) -> Figure:
    """Draw the error of each variant, one panel for each problem, in the order in which they are defined."""
    names = [one.name for one in VARIANTS if any(line["variant"] == one.name for line in lines)][::-1]
    with house_style():
        figure = Figure(figsize=(10.0, 3.6), layout="constrained")
        axes = figure.subplots(1, len(NAMES), sharey=True)
        for axis, (problem, title) in zip(axes, NAMES.items(), strict=True):
            chosen = [line for line in lines if line["problem"] == problem]
            rows = [names.index(line["variant"]) for line in chosen]
            axis.plot([line["error"] for line in chosen], rows, "o", color="C0", alpha=0.8)
            axis.set(xscale="log", title=title, xlabel="relative L2 error", xlim=(1e-3, 2.0))
            axis.grid(axis="both", alpha=0.3)
        axes[0].set_yticks(range(len(names)), names)
    return figure
