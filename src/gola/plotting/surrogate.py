"""Draw what a surrogate is: what it reads and predicts, how well, from what, and why it was chosen."""

import textwrap
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from mpl_toolkits.mplot3d import Axes3D

from gola.plotting.style import frame, house_style
from gola.surrogate.surrogate import Surrogate

_SCORES = {
    "cv_error": "cross-validation error",
    "validation_error": "validation error",
    "training_error": "training error",
}
# Letters in a line of the text, inches of a line, and inches of the panels beside it.
_LETTERS, _LINE, _PANEL, _BARS = 62, 0.19, 3.0, 1.8
_LONGEST_NAME = 28


def draw_surrogate(surrogate: Surrogate, *, title: str) -> Figure:
    """Draw a page about a surrogate: facts, channels, candidates that were compared, and where it was trained."""
    facts, channels = surrogate_facts(surrogate), channel_table(surrogate)
    lines = [(name, textwrap.wrap(value, _LETTERS) or [""]) for name, value in facts.items()]
    errors = candidate_errors(surrogate.provenance.get("choice", {}))
    heights = [_PANEL, _BARS] if errors else [_PANEL]
    text_height = _LINE * (sum(len(wrapped) for _, wrapped in lines) + 1)
    table_height = 0.25 * (len(channels) + 1)
    with house_style():
        top = max(text_height, sum(heights))
        figure = Figure(figsize=(11.0, top + table_height + 0.5), layout="constrained")
        upper, lower = figure.subfigures(2, 1, squeeze=False, height_ratios=[top, table_height])[:, 0]
        left, right = upper.subfigures(1, 2, squeeze=False, width_ratios=[1.5, 1.0])[0]
        _write_facts(left.subplots(), lines, height=top)
        spaces = right.add_gridspec(len(heights), 1, height_ratios=heights)
        kind = {"projection": "3d"} if surrogate.dim == 3 else {}
        _draw_points(right.add_subplot(spaces[0], **kind), surrogate)
        if errors:
            _draw_candidates(right.add_subplot(spaces[1]), errors)
        _write_channels(lower.subplots(), channels)
        figure.suptitle(title, fontweight="bold", parse_math=False)
        return figure


def surrogate_facts(surrogate: Surrogate) -> dict[str, str]:
    """Return what is known of a surrogate as a whole, by name."""
    provenance = surrogate.provenance
    axis = surrogate.time_axis
    facts = {"operator": f"{surrogate.operator.name} in {surrogate.dim}D{' and time' * surrogate.has_time}"}
    if axis is not None:
        facts["times"] = f"{axis.times[0]:.4g} to {axis.times[-1]:.4g}" + f", {len(axis.times)} of them" * axis.shared
    facts |= {_SCORES.get(name, name): f"{score:.4g}" for name, score in surrogate.scores.items()}
    facts |= _chosen(provenance.get("choice", {}))
    facts |= _training(provenance.get("data", {}))
    if surrogate.coverage is not None:
        facts["points of a sample"] = f"{surrogate.coverage.fewest_points} or more"
    if "seconds" in provenance:
        facts["time to fit"] = f"{provenance['seconds']:.1f} s"
    facts["learned numbers"] = f"{surrogate.operator.num_parameters:,}"
    if "seed" in provenance:
        facts["seed"] = f"{provenance['seed']}"
    facts["versions"] = ", ".join(f"{name} {number}" for name, number in provenance.get("versions", {}).items())
    return {name: value for name, value in facts.items() if value}


def channel_table(surrogate: Surrogate) -> list[tuple[str, str, str, str, str]]:
    """Return role, name, unit, range in the training samples and estimated error of each channel, as texts."""
    coverage = surrogate.coverage
    ranges = ["–"] * len(surrogate.inputs)
    if coverage is not None:
        ranges = [f"{low:.4g} to {high:.4g}" for low, high in zip(coverage.lower, coverage.upper, strict=True)]
    errors = channel_errors(surrogate)
    rows = [
        ("input", channel.name, channel.unit or "–", known, "")
        for channel, known in zip(surrogate.inputs, ranges, strict=True)
    ]
    ranges = ["–"] * len(surrogate.parameters)
    if coverage is not None:
        ends = zip(coverage.lowest_parameters, coverage.highest_parameters, strict=True)
        ranges = [f"{low:.4g} to {high:.4g}" for low, high in ends]
    rows += [
        ("parameter", channel.name, channel.unit or "–", known, "")
        for channel, known in zip(surrogate.parameters, ranges, strict=True)
    ]
    return rows + [
        ("target", channel.name, channel.unit or "–", "", errors.get(column, "–"))
        for column, channel in enumerate(surrogate.targets)
    ]


def channel_errors(surrogate: Surrogate) -> dict[int, str]:
    """Return the estimated error of target channels by column, as far as it is known."""
    choice = surrogate.provenance.get("choice", {})
    scores = [surrogate.scores[name] for name in ("cv_error", "validation_error") if name in surrogate.scores]
    whole: list[dict[str, Any]] = [
        {"channels": list(range(len(surrogate.targets))), "error": score} for score in scores[:1]
    ]
    errors: dict[int, str] = {}
    for group in choice.get("groups") or whole:
        spread = f" ± {group['spread']:.1g}" if "spread" in group else ""
        together = " (all together)" if len(group["channels"]) > 1 else ""
        errors |= dict.fromkeys(group["channels"], f"{group['error']:.4g}{spread}{together}")
    return errors


def candidate_errors(choice: Mapping[str, Any]) -> dict[str, float]:
    """Return the error of all that a choice compared, by name; by group where channels were fitted apart."""
    errors = dict(choice.get("candidates", {}))
    for number, group in enumerate(choice.get("groups", ()), start=1):
        errors |= {f"group {number}: {name}": error for name, error in group["candidates"].items()}
    return errors


def _chosen(choice: Mapping[str, Any]) -> dict[str, str]:
    return {"choice": choice["summary"], "why": choice["why"]} if choice else {}


def _training(data: Mapping[str, Any]) -> dict[str, str]:
    """Return how many training samples there were, and where they came from."""
    files = [PurePath(file).name for file in data.get("files", ())]
    between = f"{files[0]} to {files[-1]}" if len(files) > 1 else "".join(files)
    return {
        "training samples": f"{data['num_samples']}" if "num_samples" in data else "",
        "problem": str(data.get("problem", "")),
        "files": between,
    }


def _write_facts(axes: Axes, facts: list[tuple[str, list[str]]], *, height: float) -> None:
    axes.set(xlim=(0.0, 1.0), ylim=(height, 0.0))
    axes.axis("off")
    place = _LINE
    for name, lines in facts:
        axes.text(0.0, place, name, color="0.35", va="center")
        for line in lines:
            axes.text(0.27, place, line, va="center", parse_math=False)
            place += _LINE


def _draw_points(axes: Axes, surrogate: Surrogate) -> None:
    box = surrogate.scaling.frame
    known = None if surrogate.coverage is None else surrogate.coverage.points
    if known is not None and len(known):
        coordinates = list(known.T) if surrogate.dim > 1 else [known[:, 0], np.zeros(len(known))]
        axes.plot(*coordinates, ".", color="C0", markersize=2)
        what = f"{len(known)} of the training points"
    else:
        what = "box around the training points"
    frame(axes, what, dim=surrogate.dim)
    limits = zip("xyz"[: surrogate.dim], box.lower, box.upper, strict=False)
    axes.set(**{f"{axis}lim": (low, high) for axis, low, high in limits})
    if not isinstance(axes, Axes3D) and surrogate.dim == 1:
        axes.set_yticks([])


def _draw_candidates(axes: Axes, errors: Mapping[str, float]) -> None:
    names = sorted(errors, key=lambda name: errors[name])
    places = range(len(names))
    axes.barh(places, [errors[name] for name in names], color="0.8", edgecolor="0.4", linewidth=0.6)
    for place, name in zip(places, names, strict=True):
        axes.annotate(
            f"{errors[name]:.3g}", (errors[name], place), xytext=(3, 0), textcoords="offset points", va="center"
        )
    axes.set_yticks(places, [textwrap.shorten(name, _LONGEST_NAME) for name in names])
    axes.invert_yaxis()
    axes.margins(x=0.2)
    axes.set_title("candidates")
    axes.set_xlabel("relative L2 error on held-out training samples")


def _write_channels(axes: Axes, rows: list[tuple[str, str, str, str, str]]) -> None:
    axes.axis("off")
    headings = ["role", "channel", "unit", "range in training samples", "estimated relative L2 error"]
    table = axes.table(
        [list(row) for row in rows],
        colLabels=headings,
        cellLoc="left",
        colLoc="left",
        bbox=Bbox.unit(),
        edges="horizontal",
    )
    table.auto_set_font_size(False)
    table.set_fontsize(9)
    for cell in table.get_celld().values():
        cell.get_text().set_parse_math(False)
