"""Draw what more samples would bring."""

import numpy as np
from matplotlib.figure import Figure

from gola.plotting.style import house_style, new_figure, use_log_scale
from gola.surrogate.learning_curve import LearningCurve


def draw_learning_curve(curve: LearningCurve, *, title: str) -> Figure:
    """Draw known errors against numbers of samples, and the forecast with its spread up to four times as many."""
    with house_style():
        figure = new_figure(1, panel=4.0)
        axes = figure.axes[0]
        sizes = np.unique(np.geomspace(curve.sizes[0], 4 * curve.sizes[-1], 60).astype(int))
        forecasts = [curve.forecast(int(size)) for size in sizes]
        axes.fill_between(
            sizes,
            [one.lower for one in forecasts],
            [one.upper for one in forecasts],
            color="C0",
            alpha=0.2,
            linewidth=0,
            label="8 of 10 forecasts",
        )
        axes.plot(sizes, [one.error for one in forecasts], color="C0", label="power law with a floor")
        spread = np.array(curve.errors) * np.array(curve.doubts)
        axes.errorbar(curve.sizes, curve.errors, yerr=spread, fmt="o", color="0.2", label="measured")
        use_log_scale(axes, "x")
        use_log_scale(axes, "y")
        axes.set_xlabel("training samples")
        axes.set_ylabel("mean relative L2 error")
        axes.grid(visible=True, which="both", color="0.9", linewidth=0.6)
        axes.legend(frameon=False)
        axes.set_title(title)
        return figure
