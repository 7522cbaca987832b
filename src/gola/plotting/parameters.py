"""Draw the parameters of a sample among those of others: parallel coordinates."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from gola.data.sample import Channel

# Other samples that are drawn, at most, and rows with room for the ends of their scales.
_MOST_LINES, _FEW_ROWS = 200, 8
_LONGEST_NAME = 22
_OWN = "C3"


@dataclass(frozen=True, kw_only=True, eq=False)
class ParameterSpace:
    """The parameters of a data set.

    Attributes:
        channels: Name and unit of each.
        values: Those of all samples.
    """

    channels: tuple[Channel, ...] = ()
    values: Float[np.ndarray, "sample parameter"] = field(default_factory=lambda: np.empty((0, 0)))

    def __len__(self) -> int:
        return len(self.channels)


def draw_parameters(axes: Axes, space: ParameterSpace, own: Float[np.ndarray, " parameter"]) -> None:
    """Draw a scale for each parameter, from the lowest to the highest of all samples, and one sample on them.

    Args:
        axes: The panel.
        space: The parameters of all samples, drawn in grey.
        own: The parameters of the sample, written beside the scales.
    """
    values = np.concatenate([space.values[:_MOST_LINES], own[None]])
    low, high = values.min(axis=0), values.max(axis=0)
    shares = np.where(high > low, (values - low) / np.where(high > low, high - low, 1.0), 0.5)
    rows = [float(row) for row in range(len(space))]
    axes.hlines(rows, 0.0, 1.0, color="0.4", linewidth=0.8)
    mark = "|" if len(space) == 1 else ""
    for line in shares[:-1]:
        axes.plot(line, rows, color="0.8", linewidth=0.7, marker=mark, markersize=8, zorder=0)
    axes.plot(shares[-1], rows, color=_OWN, marker="o", markersize=5, linewidth=1.6)
    for row, number in zip(rows, own, strict=True):
        axes.text(1.08, row, f"{number:.4g}", color=_OWN, fontweight="bold", va="center")
    if len(space) <= _FEW_ROWS:
        for row, *ends in zip(rows, low, high, strict=True):
            for share, number, side in zip((0.0, 1.0), ends, ("left", "right"), strict=True):
                axes.text(share, row - 0.08, f"{number:.3g}", color="0.4", fontsize=7, ha=side, va="bottom")
    axes.set_yticks(rows, [_shortened(str(channel)) for channel in space.channels], parse_math=False)
    axes.tick_params(length=0)
    axes.set_xticks([])
    axes.set(xlim=(-0.05, 1.45), ylim=(len(space) - 0.5, -0.7), title="parameters")
    axes.spines[:].set_visible(False)


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def flat(axes: Axes) -> Axes:
    """Return a panel for parameters in the place of another, which may be made for points in space."""
    figure, place = axes.get_figure(), axes.get_subplotspec()
    assert figure is not None
    assert place is not None
    axes.remove()
    return figure.add_subplot(place)
