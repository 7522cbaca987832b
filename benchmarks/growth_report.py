"""The page and the figure of how time and memory grow."""

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gola.plotting.style import house_style

Row = dict[str, str]
COLUMNS = {"fit_seconds": "fit, s", "predict_seconds": "predict, s", "gib": "memory, GiB"}
PANELS = ("points", "samples", "channels", "queries", "dimension")
COLOURS = {"kernel": "tab:blue", "linear": "black"}
TITLE = """# Growth

How time and memory grow with the data, for closed forms on smooth random functions at scattered points, each sample
with points of its own. Usual sizes are 30 samples of 1,000 points in 2D with one channel, asked at 1,000 places; one of
them is varied. Made by `python -m benchmarks.growth`, a part of `make bench`; seconds are those of the processor on one
thread. A slope of 1 is growth in proportion, which is the best possible in points, samples, channels and queries: all
values have to be read, all answers written; predicting need not grow with samples at all. Slopes are those over the
larger half of the sizes. The first prediction for an input fits the input too, so 1,000 queries take longer here than
10,000 after them. Of more than 400 samples with their copies by symmetry, `linear` fits 400.

![Seconds of fitting and predicting, and memory, over each size](images/growth.png)
"""


def page(rows: Sequence[Row], slope: Callable[[str, str, str], float]) -> str:
    """Write the page: a table for each size that is varied."""
    parts = [TITLE]
    for varied in PANELS:
        parts.append(f"## {varied.capitalize()}\n")
        parts.append("| operator | " + varied + " | " + " | ".join(COLUMNS.values()) + " |\n|---|---|---|---|---|")
        for operator in dict.fromkeys(row["operator"] for row in rows):
            own = sorted(_of(rows, operator, varied), key=lambda row: int(row["size"]))
            parts += [f"| {operator} | {int(row['size']):,} | " + _cells(row) + " |" for row in own]
            if len(own) > 1 and varied != "dimension":
                slopes = " | ".join(f"{slope(operator, varied, column):.2f}" for column in COLUMNS)
                parts.append(f"| {operator} | slope | {slopes} |")
        parts.append("")
    return "\n".join(parts)


def draw(rows: Sequence[Row]) -> Figure:
    """Draw a panel for each size and measure, with lines of slope 1 to compare with."""
    with house_style():
        figure = Figure(figsize=(2.4 * len(PANELS), 6.0), layout="constrained")
        panels = figure.subplots(len(COLUMNS), len(PANELS), sharex="col", sharey="row", squeeze=False)
        for line, (column, title) in zip(panels, COLUMNS.items(), strict=True):
            line[0].set_ylabel(title)
            for axes, varied in zip(line, PANELS, strict=True):
                _draw_panel(axes, rows, varied, column)
        for axes, varied in zip(panels[-1], PANELS, strict=True):
            axes.set_xlabel(varied)
        panels[0][0].legend(frameon=False)
    return figure


def _draw_panel(axes: Axes, rows: Sequence[Row], varied: str, column: str) -> None:
    axes.set_yscale("log")
    for operator, colour in COLOURS.items():
        own = sorted(_of(rows, operator, varied), key=lambda row: int(row["size"]))
        sizes, values = [int(row["size"]) for row in own], [float(row[column]) for row in own]
        axes.plot(sizes, values, "o-", color=colour, markersize=3, label=operator)
    if varied == "dimension":
        axes.set_xticks([1, 2, 3])
    else:
        axes.set_xscale("log")
        # As far as the values go down: what is below says nothing.
        shown = [size for size in sizes if values[-1] * size / sizes[-1] >= 0.3 * min(values)]
        proportion = [values[-1] * size / sizes[-1] for size in shown]
        axes.plot(shown, proportion, ":", color="grey", label="in proportion")


def _of(rows: Sequence[Row], operator: str, varied: str) -> list[Row]:
    return [row for row in rows if (row["operator"], row["varied"]) == (operator, varied)]


def _cells(row: Row) -> str:
    return " | ".join(f"{float(row[column]):.3g}" for column in COLUMNS)
