"""The figure of error over seconds, and how much faster we are than others at the same error."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gola.plotting.style import house_style

Row = dict[str, str]
TITLE = """# Error against time

Error on test samples over seconds of fitting, for our operators (dots) and for what else people use (crosses), on the
same 30 training and 20 test samples of six problems of different kinds. Made by `python -m
benchmarks.error_against_time`, a run at a time; seconds are those of the processor on one thread. Networks of libraries
are trained for 15 seconds, one sample per step, with a cosine schedule over that time: hundreds to thousands of steps.
That is short: the picture says what a method reaches in that time, and nothing about what it reaches in hours. EZyRB
and SMT (`pip install 'gola[benchmarks]'`) apply where only parameters differ on one mesh, FNO where samples lie on one
grid. A second call adds missing runs only: delete `results/error_against_time.csv` to measure all of them again.
All rows are of one session and one version of the code; networks of ours are trained for about 5 seconds, and `auto`
chooses among closed forms only.

![Error over seconds of fitting for six problems](images/error_against_time.png)

Our quickest fit that is at least as good as the best of the others. Where there is none, our best is named:

"""
PEERS = ("ezyrb_rbf", "ezyrb_gpr", "smt_kriging", "neuralop_fno", "neuralop_gino", "pyg_gkn")


def draw(rows: Sequence[Row], problems: Sequence[str]) -> Figure:
    """Draw a panel for each problem: ours as filled circles, others as crosses; the edge of ours as a line."""
    with house_style():
        figure = Figure(figsize=(11.5, 6.8), layout="constrained")
        for axes, problem in zip(figure.subplots(2, 3).ravel(), problems, strict=True):
            _draw_problem(axes, [row for row in rows if row["problem"] == problem and row["error"]])
            axes.set_title(problem)
        figure.supxlabel("seconds of fitting, one core")
        figure.supylabel("relative L2 error on test samples")
    return figure


def _draw_problem(axes: Axes, rows: Sequence[Row]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    for row in rows:
        is_peer = row["method"] in PEERS
        place = (_seconds(row), float(row["error"]))
        axes.plot(*place, "x" if is_peer else "o", color="tab:red" if is_peer else "black", markersize=5)
        axes.annotate(row["method"], place, fontsize=6, xytext=(3, 3), textcoords="offset points")
    edge = _edge([row for row in rows if row["method"] not in PEERS])
    if edge:
        axes.step(*zip(*edge, strict=True), where="post", color="black", linewidth=0.8)


def _edge(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """Return the fits that no quicker one is as good as."""
    found: list[tuple[float, float]] = []
    for row in sorted(rows, key=_seconds):
        if not found or float(row["error"]) < found[-1][1]:
            found.append((_seconds(row), float(row["error"])))
    return found


def table(rows: Sequence[Row]) -> str:
    """Compare the best of others with our quickest fit that is at least as good."""
    lines = [
        "| problem | best of others | error | seconds | ours at that error | error | seconds | times faster |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for problem in dict.fromkeys(row["problem"] for row in rows):
        known = [row for row in rows if row["problem"] == problem and row["error"]]
        others = [row for row in known if row["method"] in PEERS]
        if not others:
            continue
        best = min(others, key=lambda row: float(row["error"]))
        ours = [row for row in known if row["method"] not in PEERS]
        lines.append(f"| {problem} | {_cells(best)} | {_compared(best, ours)} |")
    return "\n".join(lines)


def _compared(best: Row, ours: Sequence[Row]) -> str:
    as_good = [row for row in ours if float(row["error"]) <= float(best["error"])]
    if not as_good:
        closest = min(ours, key=lambda row: float(row["error"]))
        return f"none as good; {_cells(closest)} | –"
    quickest = min(as_good, key=_seconds)
    return f"{_cells(quickest)} | {_seconds(best) / _seconds(quickest):.3g}"


def verdict(rows: Sequence[Row]) -> str:
    """Say on how many problems we are ahead, and which fits of others no fit of ours is as good and as quick as."""
    behind, unbeaten, count = [], [], 0
    for problem in dict.fromkeys(row["problem"] for row in rows):
        known = [row for row in rows if row["problem"] == problem and row["error"]]
        others = [row for row in known if row["method"] in PEERS]
        ours = [row for row in known if row["method"] not in PEERS]
        if others and ours:
            count += 1
            behind += [problem] * (min(map(_error, ours)) > min(map(_error, others)))
        unbeaten += [
            f"{other['method']} ({problem}, {_error(other):.3f} in {_seconds(other):.2f} s)"
            for other in others
            if not any(_error(one) <= _error(other) and _seconds(one) <= _seconds(other) for one in ours)
        ]
    where = f"; not on: {', '.join(behind)}" if behind else ""
    ahead = f"On {count - len(behind)} of {count} problems one of ours is at least as good as all others{where}."
    return f"{ahead} As good and as quick as these is none of ours: {'; '.join(unbeaten) or 'none'}."


def _cells(row: Row) -> str:
    return f"{row['method']} | {float(row['error']):.3g} | {_seconds(row):.2f}"


def _seconds(row: Row) -> float:
    # Clocks of processors tick a hundred times a second.
    return max(0.01, float(row["seconds"]))


def _error(row: Row) -> float:
    return float(row["error"])
