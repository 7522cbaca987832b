"""Errors against training samples, a panel for each problem."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.engineering.cases import PROBLEMS, SIZES
from benchmarks.engineering.methods import OURS, REFERENCES
from benchmarks.engineering.report import Row, mean_error
from gola.plotting.style import house_style, use_log_scale

NUM_COLUMNS = 4
# Families of references, of which the best is drawn: what is told apart is the kind of method.
FAMILIES = {
    "POD + splines (SciPy)": ("pod_tps", "pod_tps_log", "pod_cubic", "pod_cubic_log"),
    "POD + GP (scikit-learn)": ("pod_gp", "pod_gp_log"),
    "EZyRB": ("ezyrb_rbf", "ezyrb_gpr"),
    "SMT kriging": ("smt_kriging",),
    "kernel ridge with copies": ("kernel_copies",),
}
COLOURS = ("tab:blue", "tab:orange", "tab:green", "tab:purple", "tab:brown")
assert {name for family in FAMILIES.values() for name in family} == set(REFERENCES)


def draw_errors(rows: Sequence[Row]) -> Figure:
    """Draw the error of `auto` and of the best of each family of references."""
    shown = [problem for problem in PROBLEMS if any(row["problem"] == problem for row in rows)]
    num_rows = -(-(len(shown) + 1) // NUM_COLUMNS)
    with house_style():
        figure = Figure(figsize=(2.9 * NUM_COLUMNS, 2.5 * num_rows), layout="constrained")
        panels = figure.subplots(num_rows, NUM_COLUMNS, squeeze=False).ravel()
        for axes, problem in zip(panels, shown, strict=False):
            _draw_problem(axes, [row for row in rows if row["problem"] == problem])
            axes.set_title(problem)
        for axes in panels[len(shown) :]:
            axes.axis("off")
        lines = {text: line for axes in panels for line, text in zip(*axes.get_legend_handles_labels(), strict=True)}
        panels[len(shown)].legend(lines.values(), lines.keys(), loc="center", frameon=False)
        figure.supxlabel("training samples")
        figure.supylabel("relative L2 error on test samples")
    return figure


def _draw_problem(axes: Axes, rows: Sequence[Row]) -> None:
    for colour, (title, methods) in zip(COLOURS, FAMILIES.items(), strict=True):
        _draw_line(axes, rows, methods, title, color=colour, linewidth=1.2, marker="o", markersize=3)
    ours = [name for name in reversed(OURS) if any(row["method"] == name for row in rows)][:1]
    _draw_line(axes, rows, ours, "gola, auto", color="black", linewidth=2.2, marker="o", markersize=4, zorder=5)
    use_log_scale(axes, "y")
    axes.set_xscale("log")
    axes.set_xticks(SIZES, [str(size) for size in SIZES])
    axes.minorticks_off()


def _draw_line(axes: Axes, rows: Sequence[Row], methods: Sequence[str], title: str, **look: object) -> None:
    found = {
        size: min(mean_error(same) for same in grouped)
        for size in SIZES
        if (grouped := _by_method([row for row in rows if row["samples"] == str(size)], methods))
    }
    if found:
        axes.plot(list(found), list(found.values()), label=title, **look)  # type: ignore[arg-type]


def _by_method(rows: Sequence[Row], methods: Sequence[str]) -> list[list[Row]]:
    grouped = [[row for row in rows if row["method"] == name] for name in methods]
    return [same for same in grouped if same]
