"""How every picture looks, and how it is written."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, cast

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from mpl_toolkits.mplot3d import Axes3D

from gola.files import replacing

FIELD_COLOURS = "viridis"
"""For fields: perceptually even, and readable in greyscale."""
ERROR_COLOURS = "magma"
"""For absolute errors: black is zero."""

_SETTINGS: dict[str, Any] = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "figure.dpi": 100,
    "font.size": 9,
    "image.cmap": FIELD_COLOURS,
    "savefig.dpi": 150,
    "svg.hashsalt": "gola",
}
# Beyond this ratio there is no room for three numbers in each decade.
_MANY_DECADES = 1e4


@contextmanager
def house_style() -> Iterator[None]:
    """Draw with our settings and leave the user's alone."""
    with mpl.rc_context(cast("Any", _SETTINGS)):  # the stubs list every known key as a literal
        yield


def new_figure(num_columns: int, num_rows: int = 1, *, panel: float = 3.2, three_dimensional: bool = False) -> Figure:
    """Return a figure with room for that many square panels and their colour bars.

    Figures are made without pyplot, so drawing needs no screen and leaks no open figures.
    """
    figure = Figure(figsize=(panel * 1.15 * num_columns, panel * num_rows), layout="constrained")
    figure.subplots(
        num_rows,
        num_columns,
        squeeze=False,
        subplot_kw={"projection": "3d"} if three_dimensional else {},
    )
    return figure


def new_rows(
    headings: Sequence[str], num_columns: int, *, panel: float = 3.2, three_dimensional: bool = False
) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure with a row of square panels below each heading, and the panels."""
    figure = Figure(figsize=(panel * 1.15 * num_columns, (panel + 0.2) * len(headings)), layout="constrained")
    rows = []
    for part, heading in zip(figure.subfigures(len(headings), 1, squeeze=False)[:, 0], headings, strict=True):
        part.suptitle(heading, x=0.01, ha="left", fontweight="bold")
        kind = {"projection": "3d"} if three_dimensional else {}
        rows.append(list(part.subplots(1, num_columns, squeeze=False, subplot_kw=kind)[0]))
    return figure, rows


def frame(axes: Axes, title: str, *, dim: int = 2) -> None:
    """Give a panel its title, axis names and equal aspect, as suits points with that many coordinates."""
    axes.set_title(title)
    axes.set_xlabel("x")
    if dim == 1:
        return
    axes.set_aspect("equal")
    axes.set_ylabel("y")
    if isinstance(axes, Axes3D):
        axes.set_zlabel("z", labelpad=-2)
        # A flat body leaves little room for numbers along z.
        axes.zaxis.set_major_locator(MaxNLocator(1))
        axes.xaxis.set_major_locator(MaxNLocator(3))
        axes.yaxis.set_major_locator(MaxNLocator(3))


def use_log_scale(axes: Axes, which: Literal["x", "y"]) -> None:
    """Make an axis logarithmic, labelled with plain numbers at 1, 2 and 5 of every decade, two of them at least.

    Where there are many decades, numbers stand at whole ones only.
    """
    axes.set(**{f"{which}scale": "log"})
    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = axis.get_view_interval()
    marks = LogLocator(subs=(1.0, 2.0, 5.0) if high < _MANY_DECADES * low else (1.0,))
    around = np.asarray(marks.tick_values(low, high))
    if np.count_nonzero((around >= low) & (around <= high)) < 2:
        axes.set(**{f"{which}lim": (around[around <= low].max(), around[around >= high].min())})
    axis.set_major_locator(marks)
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def as_png(figure: Figure) -> bytes:
    """Return the figure as the content of a PNG file."""
    file = BytesIO()
    with house_style():
        # Without the name of the program that drew it, equal figures make equal files.
        figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()


def write(figure: Figure, path: Path) -> Path:
    """Write the figure to a file, making its folder; an interruption never leaves half a picture."""
    known = figure.canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in known:
        raise ValueError(f"Cannot draw to {path}; its name must end in one of .{', .'.join(sorted(known))}.")
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary, house_style():
        figure.savefig(temporary)
    return path
