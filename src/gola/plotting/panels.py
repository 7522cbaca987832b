"""Draw curves in panels side by side: errors against sizes, times against sizes, all on logarithmic scales."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from gola.plotting.style import house_style, new_figure, use_log_scale

# Numbers along an axis that are closer than this share of its length would touch each other.
_TICK_DISTANCE = 0.085
_PANEL = 3.4
# Width of a letter of the legend, and of the line in front of a name, in inches.
_LETTER, _HANDLE = 0.072, 0.75
# Height of a line of the legend, in inches.
_LINE = 0.2
_COLOURS = (*(f"C{number}" for number in range(10)), "black", "darkgoldenrod", "navy", "olivedrab")
# Curves differ in the shape of their marks too, for readers who see no colours.
_MARKERS = "os^vDPX<>*ph"


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One line, or marks alone.

    Attributes:
        label: Its name in the legend; curves of the same name in several panels look the same.
        values: What to draw, by the number along the horizontal axis.
        spreads: Half the length of error bars, where they are known.
        look: ``"line"`` for what was measured, ``"dashed"`` for what it is compared with, ``"marks"`` for numbers that
            stand alone.
        like: Another curve whose colour and marks it takes.
        wide: Whether to draw it wide and below the others, so that both are seen where another curve is the same.
    """

    label: str
    values: Mapping[float, float]
    spreads: Mapping[float, float] = field(default_factory=dict)
    look: Literal["line", "dashed", "marks"] = "line"
    like: str | None = None
    wide: bool = False


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Curves with common axes.

    Attributes:
        title: What they belong to.
        across: Name of the horizontal axis.
        up: Name of the vertical axis.
        curves: What to draw.
    """

    title: str
    across: str
    up: str
    curves: Sequence[Curve]


def draw_panels(panels: Sequence[Panel], *, num_columns: int | None = None, ordered: bool = False) -> Figure:
    """Draw panels with one legend for all.

    Args:
        panels: From left to right, row by row.
        num_columns: How many stand side by side; all by default.
        ordered: Whether the curves have an order, which their colours should show.
    """
    columns = num_columns or len(panels)
    with house_style():
        figure = new_figure(columns, math.ceil(len(panels) / columns), panel=_PANEL)
        looks = _looks(panels, ordered=ordered)
        for axes, panel in zip(figure.axes, panels, strict=False):
            _draw(axes, panel, looks)
        for axes in figure.axes[len(panels) :]:
            axes.set_axis_off()
        _add_legend(figure)
        return figure


class _Look(NamedTuple):
    colour: str
    marker: str


def _looks(panels: Sequence[Panel], *, ordered: bool) -> dict[str, _Look]:
    """Give every name its colour and its mark."""
    names = list(dict.fromkeys(curve.like or curve.label for panel in panels for curve in panel.curves))
    colours = _shades(len(names)) if ordered else itertools.cycle(_COLOURS)
    return {
        name: _Look(colour, marker)
        for name, colour, marker in zip(names, colours, itertools.cycle(_MARKERS), strict=False)
    }


def _shades(count: int) -> list[str]:
    """Return even steps of a scale of colours, for what has an order."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colormaps["viridis"](shade)) for shade in np.linspace(0.9, 0.05, count)]


def _draw(axes: Axes, panel: Panel, looks: Mapping[str, _Look]) -> None:
    for curve in panel.curves:
        _draw_curve(axes, curve, looks[curve.like or curve.label])
    axes.set_title(panel.title)
    axes.set_xlabel(panel.across)
    axes.set_ylabel(panel.up)
    places = sorted({place for curve in panel.curves for place in curve.values})
    if not places:
        axes.text(0.5, 0.5, "no results yet", ha="center", va="center", transform=axes.transAxes, color="0.4")
        axes.set(xticks=[], yticks=[])
        return
    axes.grid(visible=True, which="major", color="0.9", linewidth=0.6)
    use_log_scale(axes, "x")
    use_log_scale(axes, "y")
    axes.xaxis.set_major_locator(FixedLocator(_apart(places)))
    axes.xaxis.set_minor_locator(NullLocator())


def _apart(places: Sequence[float]) -> list[float]:
    """Return the places that have room for their numbers on a logarithmic axis: the largest, and what fits below."""
    kept = [places[-1]]
    needed = _TICK_DISTANCE * math.log(places[-1] / places[0])
    for place in reversed(places[:-1]):
        if math.log(kept[-1] / place) >= needed:
            kept.append(place)
    return kept[::-1]


def _draw_curve(axes: Axes, curve: Curve, look: _Look) -> None:
    places = sorted(curve.values)
    heights = [curve.values[place] for place in places]
    colour, marker = look
    if curve.look == "marks":
        axes.plot(places, heights, marker, color=colour, fillstyle="none", markersize=8, label=curve.label)
        return
    if curve.look == "dashed":
        axes.plot(places, heights, "--", color=colour, linewidth=1.0, label=curve.label)
        return
    # A bar that reaches below zero has no place on a logarithmic scale.
    bars = [min(curve.spreads.get(place, 0.0), 0.95 * height) for place, height in zip(places, heights, strict=True)]
    axes.errorbar(places, heights, yerr=bars if any(bars) else None, fmt="none", ecolor=colour, capsize=2)
    (line,) = axes.plot(places, heights, f"{marker}-", color=colour, markersize=4, linewidth=1.3, label=curve.label)
    if curve.wide:
        line.set(markersize=8, linewidth=4.5, zorder=line.get_zorder() - 0.1)


def _add_legend(figure: Figure) -> None:
    entries: dict[str, Artist] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(str(label), handle)
    if entries:
        width = _HANDLE + _LETTER * max(map(len, entries))
        columns = max(1, int(figure.get_figwidth() / width))
        figure.set_figheight(figure.get_figheight() + _LINE * math.ceil(len(entries) / columns))
        figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=columns, frameon=False)
