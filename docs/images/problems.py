"""Draw the pictures of the problems: ``python docs/images/problems.py [NAME ...]``, two minutes for all."""

import sys
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from PIL import Image

from gola.plotting.fields import draw_sample
from gola.plotting.style import FIELD_COLOURS, house_style
from gola.problems import make_problem
from gola.registry import PROBLEMS

FOLDER = Path(__file__).parent / "problems"
SEED = 101
COARSE = {"resolution": 64}
# Other settings than the defaults, where they show as much.
SETTINGS = {
    "finned_cooler": {"resolution": 2},
    **dict.fromkeys(("darcy", "eikonal", "advection", "nonlinear_diffusion"), COARSE),
}
PANEL = 3.3


def draw(problem):
    """Draw what the problem maps to what."""
    if not problem.parameters:
        return draw_sample(problem.generate(SEED, [0])[0], problem.inputs, problem.targets, title="")
    first = problem.generate(SEED, [0])[0]
    if first.times is not None:
        rows = [[(f"{first.times[at]:.1f} s", first, first.targets[at, :, 0]) for at in (4, 14, 29)]]
        title, *rest = rows[0][0]
        rows[0][0] = (f"{_parameters(problem, first)}\n{title}", *rest)
    elif len(problem.targets) == 1:
        samples = problem.generate(SEED, range(3))
        rows = [[(_parameters(problem, sample), sample, sample.targets[:, 0]) for sample in samples]]
    else:
        rows = [
            [
                (f"{channel.name}{_parameters(problem, sample, joint=', ') if column == 0 else ''}", sample, values)
                for column, (channel, values) in enumerate(zip(problem.targets, sample.targets.T, strict=True))
            ]
            for sample in problem.generate(SEED, range(2))
        ]
    return draw_rows(rows, problem.targets[0].unit)


def draw_rows(rows, unit):
    """Draw rows of panels, each with its title, sample and values."""
    sample = rows[0][0][1]
    width, height = np.ptp(sample.points, axis=0)[[0, -1]]
    is_flat = sample.dim == 2
    num_lines = 1 + max(title.count("\n") for row in rows for title, *_ in row)
    tall = 0.15 * num_lines + PANEL * (0.75 * min(1.0, height / width) + 0.3 if is_flat else 0.8)
    figure = Figure(figsize=(PANEL * len(rows[0]), tall * len(rows)), layout="constrained")
    panels = figure.subplots(len(rows), len(rows[0]), squeeze=False, subplot_kw={} if is_flat else {"projection": "3d"})
    for panel, (title, one, values) in zip(panels.flat, [cell for row in rows for cell in row], strict=True):
        scale = Normalize(values.min(), values.max())
        (draw_plane if is_flat else draw_surface)(panel, one, values, scale)
        panel.set_title(title, fontsize=8, loc="left")
        bar = ScalarMappable(norm=scale, cmap=FIELD_COLOURS)
        figure.colorbar(bar, ax=panel, label=unit, orientation="horizontal", aspect=30, shrink=0.8)
    return figure


def draw_plane(panel, sample, values, scale):
    """Draw values on a triangle mesh."""
    x, y = sample.points.T
    panel.tripcolor(x, y, sample.cells, values, shading="gouraud", norm=scale, cmap=FIELD_COLOURS, rasterized=True)
    panel.set(aspect="equal")


def draw_surface(panel, sample, values, scale):
    """Draw values on the outer faces of a tetrahedron mesh."""
    faces = np.sort(sample.cells[:, [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]].reshape(-1, 3), axis=1)
    faces, counts = np.unique(faces, axis=0, return_counts=True)
    faces = faces[counts == 1]
    colours = ScalarMappable(norm=scale, cmap=FIELD_COLOURS).to_rgba(values[faces].mean(axis=1))
    # Lines in the colours of the faces close the gaps between them.
    panel.add_collection3d(
        Poly3DCollection(sample.points[faces], facecolors=colours, edgecolors=colours, linewidths=0.2)
    )
    lower, upper = sample.points.min(axis=0), sample.points.max(axis=0)
    panel.set(xlim=(lower[0], upper[0]), ylim=(lower[1], upper[1]), zlim=(lower[2], upper[2]))
    panel.set_box_aspect(upper - lower, zoom=1.3)
    panel.view_init(elev=-25, azim=-50)
    panel.set_axis_off()


def write(figure, path):
    """Write a picture with few colours, which is a third as large."""
    picture = BytesIO()
    figure.savefig(picture, dpi=75)
    Image.open(picture).convert("RGB").quantize(128).save(path, optimize=True)


def _parameters(problem, sample, joint="\n"):
    """Name the parameters, or the last ones where there are many."""
    pairs = list(zip(problem.parameters, sample.parameters, strict=True))
    shown = pairs if len(pairs) <= 6 else pairs[-3:]
    texts = [f"{one.name} {value:.3g} {one.unit}".strip() for one, value in shown]
    return joint.join(texts) if joint == "\n" else "".join(joint + text for text in texts)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or PROBLEMS:
        with house_style():
            figure = draw(make_problem(name, **SETTINGS.get(name, {})))
            write(figure, FOLDER / f"{name}.png")
