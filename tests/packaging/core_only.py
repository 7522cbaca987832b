"""What must work where gola is installed without extras; run by test_wheel.py, in an environment made for that."""

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import gola
from gola.data.formats import import_files
from gola.operators import GolaConfig
from gola.protocol import Session, TrainingConfig

EXTRAS = ("dask", "eikonalfm", "lightning", "matplotlib", "meshio", "neuralop", "shapely", "skfem")


def arrays(num_samples: int, num_points: int) -> list[gola.Sample]:
    """Smooth inputs on the unit square, and targets that depend on them linearly."""
    samples = []
    for seed in range(num_samples):
        rng = np.random.default_rng(seed)
        points, waves = rng.random((num_points, 2)), rng.standard_normal((2, 3))
        phases = points @ (np.pi * np.arange(1, 7).reshape(2, 3) / 2.0)
        inputs, targets = np.cos(phases) @ waves[0], np.cos(phases) @ (waves[0] / np.arange(1, 4))
        samples.append(gola.Sample(points=points, inputs=inputs[:, None], targets=targets[:, None]))
    return samples


def refusal(function: Callable[[], object]) -> str:
    """Return what a function without its extra says."""
    try:
        function()
    except ValueError as error:
        return str(error)
    return "There was no error."


def main(folder: Path) -> None:
    """Fit, predict, save, load, and ask for what is not there."""
    assert not [name for name in EXTRAS if find_spec(name)], "the environment must not have the extras"
    data = gola.Dataset.from_samples(arrays(12, 60), inputs=[gola.Channel(name="f")], targets=[gola.Channel(name="u")])
    train, test = data.split(num_train=10)
    tiny = GolaConfig(width=8, num_modes=8, num_blocks=1, num_heads=1, radius=0.4)
    short = TrainingConfig(num_epochs=2)
    for number, operator in enumerate(["linear", "auto", tiny]):
        surrogate = gola.fit(train, operator, training=short)
        predicted = surrogate.predict(test[0].points, test[0].inputs)
        assert predicted.shape == test[0].targets.shape
        assert np.isfinite(predicted).all()
        assert gola.evaluate(surrogate, test)
        surrogate.save(folder / f"{number}.gola")
        loaded = gola.Surrogate.load(folder / f"{number}.gola")
        assert np.array_equal(loaded.predict(test[0].points, test[0].inputs), predicted)
    (folder / "mesh.vtu").touch()
    for extra, function in {
        "problems": lambda: gola.make_problem("heat_sink").generate(0, [0]),
        "mesh": lambda: import_files(folder / "mesh.vtu", inputs=["f"]),
        "plot": lambda: import_module("gola.plotting.fields"),
        "train": lambda: gola.fit(train, tiny, training=short, session=Session(devices=2)),
        "cluster": lambda: gola.generate(gola.make_problem("darcy"), folder / "darcy.h5", num_samples=1, scheduler="-"),
        "baselines": lambda: gola.fit(train, "fno"),
    }.items():
        assert f"pip install 'gola[{extra}]'" in refusal(function), (extra, refusal(function))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
