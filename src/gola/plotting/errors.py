"""Draw the distribution of errors over test samples."""

import math
from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from gola.plotting.style import house_style, use_log_scale

# An error of zero has no place on a logarithmic scale; it is drawn this far below the largest one.
_SMALLEST_SHARE = 1e-6


def draw_errors(errors: Mapping[str, Float[np.ndarray, " sample"]], *, title: str) -> Figure:
    """Draw a histogram of the errors of each operator, one below the other on the same logarithmic scale.

    Args:
        errors: Relative L2 error of each sample, by the name of the operator.
        title: What the errors belong to.
    """
    largest = max(float(values.max()) for values in errors.values()) or 1.0
    shown = {name: values.clip(min=_SMALLEST_SHARE * largest) for name, values in errors.items()}
    smallest = min(float(values.min()) for values in shown.values())
    num_bins = 10 + math.isqrt(2 * max(map(len, errors.values())))
    edges = np.geomspace(smallest / 1.1, largest * 1.1, num_bins + 1)
    with house_style():
        figure = Figure(figsize=(6.4, 0.9 + 1.7 * len(errors)), layout="constrained")
        panels = figure.subplots(len(errors), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (name, values) in zip(panels, shown.items(), strict=True):
            _draw_histogram(axes, values, edges, name)
        panels[-1].set_xlabel("relative L2 error of a sample")
        figure.suptitle(title)
        return figure


def _draw_histogram(
    axes: Axes, values: Float[np.ndarray, " sample"], edges: Float[np.ndarray, " edge"], name: str
) -> None:
    axes.hist(values, bins=list(edges), color="0.8", edgecolor="0.4", linewidth=0.6)
    mean, median = float(values.mean()), float(np.median(values))
    axes.axvline(mean, color="C3", linewidth=1.5, label=f"mean {mean:.3g}")
    axes.axvline(median, color="0.1", linewidth=1.2, linestyle="--", label=f"median {median:.3g}")
    use_log_scale(axes, "x")
    axes.yaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes.set_title(name, loc="left")
    axes.set_ylabel("samples")
    axes.legend(frameon=False)
