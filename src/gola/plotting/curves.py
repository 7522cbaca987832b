"""Draw learning curves."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from gola.plotting.style import house_style, new_figure, use_log_scale
from gola.protocol import Epoch


def draw_curves(history: Sequence[Epoch], *, title: str, levels: Mapping[str, float] | None = None) -> Figure:
    """Draw training and validation error against the epoch, on a logarithmic scale.

    Args:
        history: The finished epochs.
        title: What was trained.
        levels: Errors to compare with, by name, each a horizontal line.
    """
    with house_style():
        figure = new_figure(1, panel=4.0)
        axes = figure.axes[0]
        epochs = [epoch.number for epoch in history]
        axes.plot(epochs, [epoch.training_error for epoch in history], color="C0", label="training samples")
        validated = [(epoch.number, epoch.validation_error) for epoch in history if epoch.validation_error is not None]
        if validated:
            axes.plot(*zip(*validated, strict=True), color="C1", linestyle="--", label="validation samples")
        for number, (name, level) in enumerate((levels or {}).items()):
            axes.axhline(level, color="0.3", linewidth=0.9, linestyle=("-.", ":")[number % 2], label=name)
        _label(axes, title)
        return figure


def _label(axes: Axes, title: str) -> None:
    use_log_scale(axes, "y")
    axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes.set_xlabel("epoch")
    axes.set_ylabel("mean relative L2 error")
    axes.grid(visible=True, which="both", color="0.9", linewidth=0.6)
    axes.legend(frameon=False)
    axes.set_title(title)
