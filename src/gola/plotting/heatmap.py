"""Draw tables of shares as colours around zero."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from gola.plotting.style import house_style

GAIN_COLOURS = "RdBu"
"""For gains and losses: blue is better, red is worse, white is no difference."""
# Wider tables stand below each other.
_MOST_COLUMNS = 10
# Numbers on darker cells are white.
_DARK = 0.6


@dataclass(frozen=True, kw_only=True)
class Shares:
    """A table of shares.

    Attributes:
        rows: Numbers along the vertical axis.
        columns: Numbers along the horizontal axis.
        values: The share of each row and column; missing ones are left blank.
    """

    rows: Sequence[int]
    columns: Sequence[int]
    values: Mapping[tuple[int, int], float]

    def as_array(self) -> Float[np.ndarray, "row column"]:
        """Return the table, with nan where a value is missing."""
        return np.array([[self.values.get((row, column), np.nan) for column in self.columns] for row in self.rows])


def draw_heatmaps(tables: Mapping[str, Shares], *, across: str, up: str, label: str) -> Figure:
    """Draw tables with the same colours, narrow ones two in a row: white is zero, grey is missing.

    Args:
        tables: By title.
        across: Name of the horizontal axis.
        up: Name of the vertical axis.
        label: What the shares are.
    """
    widest = max(len(table.columns) for table in tables.values())
    num_columns = 1 if widest > _MOST_COLUMNS else min(2, len(tables))
    num_rows = -(-len(tables) // num_columns)
    with house_style():
        size = (max(3.6, 0.7 + 0.52 * widest) * num_columns + 1.0, 3.0 * num_rows)
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(num_rows, num_columns, squeeze=False).ravel()
        for axes, (title, table) in zip(panels, tables.items(), strict=False):
            picture = _draw(axes, table)
            axes.set(title=title, xlabel=across, ylabel=up)
        for axes in panels[len(tables) :]:
            axes.set_axis_off()
        bar = figure.colorbar(picture, ax=panels.tolist(), label=label, extend="min", shrink=0.8)
        bar.ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
        return figure


def _draw(axes: Axes, table: Shares) -> AxesImage:
    shares = table.as_array()
    axes.set_facecolor("0.85")
    picture = axes.imshow(shares, cmap=GAIN_COLOURS, vmin=-1.0, vmax=1.0, aspect="auto", origin="lower")
    axes.set_xticks(range(len(table.columns)), [str(number) for number in table.columns])
    axes.set_yticks(range(len(table.rows)), [str(number) for number in table.rows])
    axes.tick_params(length=0)
    for (row, column), share in np.ndenumerate(shares):
        text = "–" if np.isnan(share) else f"{100 * share:.0f}".replace("-", "−")
        colour = "white" if abs(share) > _DARK else "black"
        axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=8)
    return picture
