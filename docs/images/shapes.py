"""Draw how samples of their own shapes are carried to a reference: ``python docs/images/shapes.py``, ten seconds."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from torch import from_numpy

from gola.geometry.outline import outline
from gola.operators.closed_form.morphed_samples import shaped
from gola.operators.cloud import Cloud
from gola.plotting.style import house_style
from gola.problems import make_problem
from gola.representation.reference_shape import ReferenceShape

SAMPLES = (1, 4, 7)
# Stresses are drawn in MPa up to this share of all values: those at the edge of a hole are far larger than the others.
UNIT, SHARE = 1e6, 0.99


def main():
    """Draw three samples, the reference, and the maps between them."""
    samples = make_problem("plate_elasticity").generate(0, range(30))
    reference = ReferenceShape.of([outline(sample.points) for sample in samples])
    nodes, cells = reference.nodes.numpy(), reference.cells.numpy()
    stresses = np.concatenate([samples[number].targets[:, 2] for number in SAMPLES]) / UNIT
    largest = float(np.quantile(stresses, SHARE))
    with house_style():
        figure = Figure(figsize=(11.0, 5.6), layout="constrained")
        axes = figure.subplots(2, 4)
        for column, number in enumerate(SAMPLES):
            sample = samples[number]
            (one,) = shaped(Cloud.of(from_numpy(sample.points), from_numpy(sample.targets[:, 2:])))
            moved, stress = (part.numpy() for part in one.at_nodes(reference))
            draw_mesh(axes[0, column], moved, cells, f"sample {number}: nodes of the reference")
            draw_field(axes[1, column], nodes, cells, stress[:, 0], f"sample {number} on the reference", largest)
        draw_mesh(axes[0, 3], nodes, cells, "reference")
        truth = sample.targets[:, 2]
        drawn = draw_field(axes[1, 3], sample.points, one.shape.cells, truth, f"sample {number} as it is", largest)
        figure.colorbar(drawn, ax=axes[1], label="von Mises stress in MPa", extend="max", shrink=0.9)
    figure.savefig(Path(__file__).parent / "shapes.png", dpi=110)


def draw_mesh(axis, nodes, cells, title):
    """Draw the triangles between nodes."""
    axis.triplot(*nodes.T, cells, linewidth=0.25, color="0.35")
    finish(axis, title)


def draw_field(axis, nodes, cells, values, title, largest):
    """Draw values at nodes, the largest ones cut off."""
    drawn = axis.tripcolor(*nodes.T, cells, values / UNIT, shading="gouraud", vmin=0.0, vmax=largest)
    finish(axis, title)
    return drawn


def finish(axis, title):
    """Leave nothing but the picture and its title."""
    axis.set_title(title, fontsize=8)
    axis.set_aspect("equal")
    axis.axis("off")


if __name__ == "__main__":
    main()
