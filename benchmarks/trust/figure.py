"""The figure of finished cells."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from benchmarks.trust.bands import METHODS, NETWORK_SIZES
from gola.plotting.style import house_style, new_figure
from gola.surrogate.calibration_study import KINDS, LEVELS


def draw_coverage(rows: Sequence[dict[str, str]]) -> Figure:
    """Draw actual against nominal coverage: a panel for each kind, a line for each operator and number of samples."""
    with house_style():
        figure = new_figure(2, panel=4.2)
        for axes, kind in zip(figure.axes, KINDS, strict=True):
            axes.fill_between([0.45, 1.0], [0.40, 0.95], [0.50, 1.05], color="0.92", label="within 5 points")
            axes.plot([0.45, 1.0], [0.45, 1.0], color="0.5", linewidth=0.8)
            for number, operator in enumerate(METHODS):
                # Lines of further sizes would hide each other; the table has them.
                for style, size in zip((":", "-"), NETWORK_SIZES, strict=True):
                    here = [row for row in rows if (row["operator"], row["samples"]) == (operator, str(size))]
                    known = [(one, f"{kind}_{100 * one:.0f}") for one in LEVELS]
                    found = {one: [float(row[band]) for row in here if row[band]] for one, band in known}
                    found = {one: shares for one, shares in found.items() if shares}
                    if found:
                        means = [np.mean(shares) for shares in found.values()]
                        label = f"{operator}, {size}"
                        axes.plot(list(found), means, "o", linestyle=style, color=f"C{number}", ms=3, label=label)
            axes.set(xlim=(0.45, 1.0), ylim=(0.3, 1.02), xlabel="nominal", ylabel="actual", title=f"bands {kind}")
        figure.axes[1].legend(frameon=False, fontsize=7, loc="lower right")
        return figure
