"""The page and the figure of how time and memory grow."""

from collections.abc import Callable, Sequence

from matplotlib.figure import Figure

from gola.plotting.style import house_style

Row = dict[str, str]
COLUMNS = {"fit_seconds": "fit, s", "predict_seconds": "predict, s", "gib": "memory, GiB"}
TITLE = """# Growth

How time and memory grow with the data, for closed forms on smooth random functions at scattered points, each sample
with points of its own. Usual sizes are 30 samples of 1,000 points in 2D with one channel, asked at 1,000 places; one of
them is varied. Made by `python -m benchmarks.growth`, a part of `make bench`; seconds are those of the processor on one
thread. A slope of 1 is growth in proportion, which is the best possible in points, samples, channels and queries: all
values have to be read, all answers written. Slopes are those over the larger half of the sizes.

![Seconds of fitting and predicting, and memory, over each size](images/growth.png)
"""


def page(rows: Sequence[Row], slope: Callable[[str, str, str], float]) -> str:
    """Write the page: a table for each size that is varied."""
    parts = [TITLE]
    for varied in dict.fromkeys(row["varied"] for row in rows):
        parts.append(f"## {varied.capitalize()}\n")
        parts.append("| operator | " + varied + " | " + " | ".join(COLUMNS.values()) + " |\n|---|---|---|---|---|")
        for operator in dict.fromkeys(row["operator"] for row in rows):
            own = sorted(_of(rows, operator, varied), key=lambda row: int(row["size"]))
            parts += [f"| {operator} | {int(row['size']):,} | " + _cells(row) + " |" for row in own]
            if len(own) > 1:
                slopes = " | ".join(f"{slope(operator, varied, column):.2f}" for column in COLUMNS)
                parts.append(f"| {operator} | slope | {slopes} |")
        parts.append("")
    return "\n".join(parts)


def draw(rows: Sequence[Row]) -> Figure:
    """Draw a panel for each size and measure, with a line of slope 1 to compare with."""
    shown = list(dict.fromkeys(row["varied"] for row in rows))
    with house_style():
        figure = Figure(figsize=(2.6 * len(shown), 6.4), layout="constrained")
        panels = figure.subplots(len(COLUMNS), len(shown), squeeze=False)
        for line, column in zip(panels, COLUMNS, strict=True):
            for axes, varied in zip(line, shown, strict=True):
                for operator, colour in zip(("kernel", "linear"), ("tab:blue", "black"), strict=True):
                    own = sorted(_of(rows, operator, varied), key=lambda row: int(row["size"]))
                    places = [int(row["size"]) for row in own], [max(1e-3, float(row[column])) for row in own]
                    axes.plot(*places, "o-", color=colour, markersize=3, label=operator)
                    if operator == "linear" and len(own) > 1 and varied != "dimension":
                        sizes = places[0]
                        proportion = [places[1][-1] * size / sizes[-1] for size in sizes]
                        axes.plot(sizes, proportion, ":", color="grey", label="in proportion")
                axes.set_xscale("log" if varied != "dimension" else "linear")
                axes.set_yscale("log")
        for axes, varied in zip(panels[-1], shown, strict=True):
            axes.set_xlabel(varied)
        for line, title in zip(panels, COLUMNS.values(), strict=True):
            line[0].set_ylabel(title)
        panels[0][0].legend(frameon=False)
    return figure


def _of(rows: Sequence[Row], operator: str, varied: str) -> list[Row]:
    return [row for row in rows if (row["operator"], row["varied"]) == (operator, varied)]


def _cells(row: Row) -> str:
    return " | ".join(f"{float(row[column]):.3g}" for column in COLUMNS)
