"""Draw how far a surrogate could be trusted on test samples: whether bands held, and how true estimated errors were."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gola.data.dataset import Dataset
from gola.plotting.calibration import draw_coverage
from gola.plotting.style import house_style, use_log_scale
from gola.surrogate.calibration_study import JudgedSample, coverages_of, judged_samples
from gola.surrogate.estimates import rank_correlation, usual_level
from gola.surrogate.surrogate import Surrogate

_PANEL = 3.8
# More samples are not told apart in a picture.
MOST_SAMPLES = 200


def draw_trust(surrogate: Surrogate, data: Dataset, *, title: str) -> Figure:
    """Draw actual against nominal coverage of bands, and the error of each sample against the one to be expected.

    Args:
        surrogate: One that has bands.
        data: Samples that it has not seen, with their solutions; the first 200 are drawn.
        title: The heading.
    """
    judged = judged_samples(surrogate, data.select(range(min(len(data), MOST_SAMPLES))))
    with house_style():
        figure = Figure(figsize=(2.2 * _PANEL, _PANEL), layout="constrained")
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
        left, right = figure.subplots(1, 2)
        draw_coverage(left, coverages_of(judged))
        _draw_estimates(right, judged, usual_level(surrogate) or 0.0)
        return figure


def _draw_estimates(axes: Axes, judged: Sequence[JudgedSample], level: float) -> None:
    estimated, actual = (np.array([getattr(one, name) for one in judged]) for name in ("estimated", "actual"))
    # Intervals are drawn across, since what is known beforehand is on that axis.
    reach = np.array([[one.estimated - one.estimate.lower, one.estimate.upper - one.estimated] for one in judged])
    within = np.array([one.estimate.lower <= one.actual <= one.estimate.upper for one in judged])
    widths = np.maximum(reach.T, 0.0)
    axes.errorbar(estimated, actual, xerr=widths, fmt="o", markersize=3, ecolor="0.8", elinewidth=0.7)
    ends = [min(estimated.min(), actual.min()), max(estimated.max(), actual.max())]
    axes.plot(ends, ends, color="0.5", linewidth=0.8)
    use_log_scale(axes, "x")
    use_log_scale(axes, "y")
    axes.set(xlabel="estimated relative L2 error", ylabel="actual relative L2 error")
    # A legend would hide samples, which may lie anywhere.
    counted = f"{within.sum()} of {len(judged)} in their intervals of {100 * level:.4g} %"
    axes.set_title(f"{counted}; rank correlation {rank_correlation(estimated, actual):.2f}")
