"""Draw the picture of README and home page: ``python docs/images/darcy.py``, half a minute."""

import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import gola
from gola.plotting.run import representative_samples
from gola.plotting.style import ERROR_COLOURS, house_style

NUM_TRAIN, NUM_POINTS, RESOLUTION = 30, 1000, 64


def draw(grid, scattered, predicted):
    """Draw the input at scattered points and, on the whole grid, truth, prediction and error."""
    truth, found = (1e3 * values.reshape(RESOLUTION, RESOLUTION).T for values in (grid.targets, predicted))
    ends = {"vmin": min(truth.min(), found.min()), "vmax": max(truth.max(), found.max())}
    figure = Figure(figsize=(13, 3.2), layout="constrained")
    panels = figure.subplots(1, 4, sharex=True, sharey=True)
    points = scattered.points.T
    shown = [panels[0].scatter(*points, c=scattered.inputs[:, 0], s=9, linewidths=0)]
    for panel, field, options in (
        (panels[1], truth, ends),
        (panels[2], found, ends),
        (panels[3], np.abs(found - truth), {"cmap": ERROR_COLOURS, "vmin": 0.0}),
    ):
        shown.append(panel.imshow(field, origin="lower", extent=(0, 1, 0, 1), interpolation="bilinear", **options))
    error = np.linalg.norm(found - truth) / np.linalg.norm(truth)
    titles = f"input at {NUM_POINTS} points", "truth", "prediction", f"absolute error (relative L2 {error:.1%})"
    for panel, title in zip(panels, titles, strict=True):
        panel.set(title=title, aspect="equal", xticks=[0, 0.5, 1], yticks=[0, 0.5, 1], xlabel="x")
    panels[0].set_ylabel("y")
    figure.colorbar(shown[0], ax=panels[0], label="source f", shrink=0.8)
    figure.colorbar(shown[2], ax=panels[1:3], label="pressure u, in 1/1000", shrink=0.8)
    figure.colorbar(shown[3], ax=panels[3], label="error, in 1/1000", shrink=0.8)
    return figure


with tempfile.TemporaryDirectory() as folder, house_style():
    problem = gola.make_problem("darcy", resolution=RESOLUTION)
    data = gola.generate(problem, Path(folder) / "darcy.h5", num_samples=2 * NUM_TRAIN, seed=1).in_memory()
    train, test = data.split(num_train=NUM_TRAIN, seed=0)
    surrogate = gola.fit(train.subsample(NUM_POINTS, seed=0), "linear")
    few = test.subsample(NUM_POINTS, seed=1)
    median = representative_samples(gola.evaluate(surrogate, few).errors)["median"]
    predicted = surrogate.predict(few[median].points, few[median].inputs, at=test[median].points)
    draw(test[median], few[median], predicted).savefig(Path(__file__).with_suffix(".png"), dpi=110)
