"""Draw whether bands hold: actual coverage, widths beside errors, and where bands are wide."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gola.plotting.fields import draw_field
from gola.plotting.style import ERROR_COLOURS, frame, house_style, use_log_scale
from gola.surrogate.calibration_study import KINDS, BandCoverage, CalibrationStudy

_PANEL = 3.4


def draw_calibration(study: CalibrationStudy, *, title: str) -> Figure:
    """Draw actual against nominal coverage, error against width, and maps of width and error of a median test sample.

    Args:
        study: What became of bands on test samples.
        title: The heading.
    """
    dim = study.example.sample.dim
    with house_style():
        figure = Figure(figsize=(4.6 * _PANEL, _PANEL), layout="constrained")
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
        panels = [figure.add_subplot(1, 4, place) for place in (1, 2)]
        kind = {"projection": "3d"} if dim == 3 else {}
        maps = [figure.add_subplot(1, 4, place, **kind) for place in (3, 4)]
        draw_coverage(panels[0], study.coverages)
        _draw_widths(panels[1], study)
        _draw_maps(maps, study)
        return figure


def draw_coverage(axes: Axes, coverages: Sequence[BandCoverage]) -> None:
    """Draw actual against nominal coverage."""
    axes.plot([0.0, 1.0], [0.0, 1.0], color="0.5", linewidth=0.8, label="as they should")
    for kind, mark in zip(KINDS, "os", strict=True):
        found = [one for one in coverages if one.kind == kind]
        axes.errorbar(
            [one.level for one in found],
            [one.actual for one in found],
            yerr=[one.error_bar for one in found],
            fmt=f"{mark}-",
            markersize=4,
            capsize=2,
            label=kind,
        )
    least = min(min(one.level, one.actual) for one in coverages)
    axes.set(xlim=(least - 0.05, 1.01), ylim=(least - 0.05, 1.01), aspect="equal")
    axes.set(xlabel="level of the band", ylabel="share that held", title="how often bands hold")
    axes.legend(frameon=False, fontsize=8, loc="upper left")


def _draw_widths(axes: Axes, study: CalibrationStudy) -> None:
    widths, errors = study.half_widths.ravel(), study.rmses.ravel()
    shown = (widths > 0.0) & (errors > 0.0)
    axes.plot(widths[shown], errors[shown], "o", color="C0", markersize=3, alpha=0.4, markeredgewidth=0)
    if shown.any():
        ends = np.array([widths[shown].min(), widths[shown].max()])
        axes.plot(ends, ends, color="0.5", linewidth=0.8, label="error = half-width")
        axes.legend(frameon=False, fontsize=8, loc="upper left")
    use_log_scale(axes, "x")
    use_log_scale(axes, "y")
    axes.set(
        xlabel=f"mean half-width, {100 * study.width_level:.4g} % pointwise",
        ylabel="root mean square error",
        title=f"test samples; rank correlation {study.rank_correlation:.2f}",
    )


def _draw_maps(panels: list[Axes], study: CalibrationStudy) -> None:
    example = study.example
    limits = (0.0, float(max(example.error.max(), example.half_width.max())))
    titles = {"half-width of the band": example.half_width, "absolute error": example.error}
    for axes, (title, values) in zip(panels, titles.items(), strict=True):
        draw_field(axes, example.sample, values, limits=limits, colours=ERROR_COLOURS, label=str(example.channel))
        frame(axes, f"{title}, a median sample", dim=example.sample.dim)
