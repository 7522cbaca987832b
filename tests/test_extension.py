"""What others add is used like what is built in: the package of ``docs/extending.md``, registered and installed."""

import importlib
import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch

import gola
from gola.data.formats import export_sample, import_files
from gola.fitting.auto.auto import AutoConfig
from gola.operators import Network, OperatorConfig
from gola.operators.scaling import Scaling
from gola.protocol import FitTask
from gola.registry import METRICS, OPERATORS, PROBLEMS, READERS, WRITERS

PAGE = (Path(__file__).parents[1] / "docs" / "extending.md").read_text()
REGISTRIES = {registry.group: registry for registry in (OPERATORS, PROBLEMS, READERS, WRITERS, METRICS)}
REGISTER = {
    "gola.operators": gola.register_operator,
    "gola.problems": gola.register_problem,
    "gola.readers": gola.register_reader,
    "gola.writers": gola.register_writer,
    "gola.metrics": gola.register_metric,
}


def blocks(language):
    """Blocks of the page in a language, each with its title or nothing."""
    every = re.findall(r'^```(\w*)(?: title="([^"\n]*)")?\n(.*?)^```$', PAGE, flags=re.DOTALL | re.MULTILINE)
    found = [(title, code) for name, title, code in every if name == language]
    assert found
    return found


def entry_points():
    """What the package offers, by group: names and places."""
    ((_, text),) = blocks("toml")
    return tomllib.loads(text)["project"]["entry-points"]


def write_package(folder):
    for name, code in blocks("python"):
        if name:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(code)


def install(folder):
    """Write what an installer leaves behind, by which Python finds entry points."""
    about = folder / "my_package-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my_package\nVersion: 1.0\n")
    groups = (
        "\n".join([f"[{group}]", *(f"{name} = {place}" for name, place in offered.items())])
        for group, offered in entry_points().items()
    )
    (about / "entry_points.txt").write_text("\n".join(groups))


def loaded(place):
    module, name = place.split(":")
    return getattr(importlib.import_module(module), name)


@pytest.fixture
def on_path(tmp_path, monkeypatch):
    """The package, where Python can import it until the test is over."""
    write_package(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.split(".")[0] == "my_package"]:
        del sys.modules[name]


@pytest.fixture(params=["registered", "installed"])
def extended(request, on_path):
    """The package, known to gola in one of the two ways."""
    if request.param == "installed":
        install(on_path)
        yield on_path
        return
    for group, offered in entry_points().items():
        for name, place in offered.items():
            REGISTER[group](name, loaded(place))
    yield on_path
    for group, offered in entry_points().items():
        for name in offered:
            REGISTRIES[group].remove(name)


def reaction(folder, num_samples=14):
    return gola.generate(gola.make_problem("reaction"), folder / "reaction.h5", num_samples=num_samples)


def test_the_page_offers_something_for_every_registry():
    assert set(entry_points()) == set(REGISTRIES)


def test_the_programs_on_the_page_run(on_path):
    for number, (name, code) in enumerate(blocks("python")):
        if not name:
            (on_path / f"program_{number}.py").write_text(code)
            said = called([sys.executable, f"program_{number}.py"], on_path)
            assert "pointwise is best" in said


def test_the_commands_on_the_page_run_where_the_package_is_installed(on_path):
    install(on_path)
    ((_, commands),) = blocks("")
    for line in commands.splitlines():
        _, *options = shlex.split(line)
        called([sys.executable, "-m", "gola", *options], on_path)
    predicted = importlib.import_module("my_package.files").read_dat(on_path / "prediction.dat")[0].arrays
    error = np.abs(predicted["concentration_predicted"] - predicted["concentration"])
    assert error.max() < 0.1


def called(command, folder):
    environment = os.environ | {"PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_outside_problem_solves_its_equation(extended):
    sample = reaction(extended)[3]
    np.testing.assert_allclose(sample.targets + sample.targets**3, sample.inputs, atol=1e-12)
    assert "reaction" in PROBLEMS


def test_an_outside_operator_is_fitted_saved_and_loaded_by_name(extended):
    train, test = reaction(extended).split(num_train=10, seed=0)
    surrogate = gola.fit(train, "pointwise")
    error = gola.evaluate(surrogate, test).mean
    assert error < 0.08 < gola.evaluate(gola.fit(train, "pointwise/cubic"), test).mean
    surrogate.save(extended / "reaction.gola")
    again = gola.Surrogate.load(extended / "reaction.gola")
    inputs = test[0].points, test[0].inputs
    np.testing.assert_array_equal(again.predict(*inputs), surrogate.predict(*inputs))
    np.testing.assert_allclose(again.predict(*inputs, at=test[0].points[:5]), again.predict(*inputs)[:5], atol=1e-6)


def test_the_automatic_choice_compares_an_outside_operator_with_the_built_in_ones(extended):
    train, test = reaction(extended).split(num_train=10, seed=0)
    surrogate = gola.fit(train, AutoConfig(members=("mean", "linear", "pointwise")))
    choice = surrogate.provenance["choice"]
    assert choice["members"] == ("pointwise",)
    assert set(choice["candidates"]) == {"mean", "linear", "pointwise", "blend"}
    assert gola.evaluate(surrogate, test).mean == pytest.approx(surrogate.scores["cv_error"], rel=0.5)
    surrogate.save(extended / "auto.gola")
    again = gola.Surrogate.load(extended / "auto.gola")
    np.testing.assert_array_equal(
        again.predict(test[0].points, test[0].inputs), surrogate.predict(test[0].points, test[0].inputs)
    )


def normalised(kind):
    """An operator that fits another one to normalised values."""

    class Normalised(kind):
        name, normalised = "normalised", True
        config_type = type("NormalisedConfig", (kind.config_type,), {})
        presets: ClassVar = {"default": config_type()}

        def fit(self, task):
            scaling = Scaling.fit(task.samples)
            seen = [
                replace(
                    sample,
                    inputs=scaling.cloud(sample.points, sample.inputs, torch.float64).values.numpy(),
                    targets=scaling.encode(sample.targets, torch.float64).numpy(),
                )
                for sample in task.samples
            ]
            result = super().fit(replace(task, samples=seen))
            predictions = [scaling.decode(torch.from_numpy(found)).numpy() for found in result.held_out.predictions]
            return replace(result, scaling=scaling, held_out=replace(result.held_out, predictions=predictions))

    return Normalised


def test_a_member_of_the_automatic_choice_may_see_normalised_values(extended):
    train, test = reaction(extended).split(num_train=10, seed=0)
    gola.register_operator("normalised", normalised(OPERATORS["pointwise"]))
    try:
        alone, chosen = gola.fit(train, "normalised"), gola.fit(train, AutoConfig(members=("mean", "normalised")))
    finally:
        OPERATORS.remove("normalised")
    assert chosen.provenance["choice"]["members"] == ("normalised",)
    inputs = test[0].points, test[0].inputs
    np.testing.assert_allclose(chosen.predict(*inputs), alone.predict(*inputs), rtol=1e-5)


def test_held_out_predictions_of_the_outside_operator_are_those_of_refits(extended):
    data = reaction(extended, num_samples=6).in_memory()
    kind = OPERATORS["pointwise"]
    task = FitTask.of(data)
    held_out = kind(kind.presets["default"]).fit(task).held_out.predictions
    others = gola.fit(data.select([0, 1, 3, 4, 5]), "pointwise")
    np.testing.assert_allclose(held_out[2], others.predict(data[2].points, data[2].inputs), atol=1e-9)


def test_files_of_another_program_are_read_and_written(extended):
    data = reaction(extended, num_samples=3)
    for number, sample in enumerate(data):
        export_sample(sample, extended / f"case_{number}.dat", inputs=data.inputs, targets=data.targets)
    again = import_files(extended / "case_*.dat", inputs=["supply"], targets=["concentration"])
    for sample, copy in zip(data, again, strict=True):
        np.testing.assert_allclose(copy.points, sample.points, rtol=1e-12)
        np.testing.assert_allclose(copy.targets, sample.targets, rtol=1e-12)


def test_an_outside_metric_is_computed_by_name(extended):
    train, test = reaction(extended).split(num_train=10, seed=0)
    surrogate = gola.fit(train, "mean")
    evaluation = gola.evaluate(surrogate, test, metrics=["bias"])
    by_hand = [(surrogate.predict(one.points, one.inputs) - one.targets).mean() for one in test]
    np.testing.assert_allclose(evaluation.channel_metrics["bias"][:, 0], by_hand, rtol=1e-9)


def test_an_outside_network_is_trained_by_the_loop_of_gola():
    class Pixelwise(Network):
        name, title = "pixelwise", "network on single points"
        config_type = type("PixelwiseConfig", (OperatorConfig,), {})
        presets: ClassVar = {"default": config_type()}

        def __init__(self, config):
            super().__init__(config)
            hidden = torch.nn.Linear(config.num_inputs, 16)
            self.layers = torch.nn.Sequential(hidden, torch.nn.Tanh(), torch.nn.Linear(16, config.num_outputs))

        def predict(self, cloud):
            return self.layers(cloud.values)

    gola.register_operator("pixelwise", Pixelwise)
    try:
        data = gola.Dataset.from_arrays(*arrays_of_a_reaction())
        surrogate = gola.fit(data, "pixelwise", training=gola.TrainingConfig(num_steps=200, learning_rate=1e-2))
        assert surrogate.scores["training_error"] < 0.1
    finally:
        OPERATORS.remove("pixelwise")


def arrays_of_a_reaction():
    rng = np.random.default_rng(0)
    points = [rng.random((50, 2)) for _ in range(8)]
    targets = [np.sin(5.0 * place[:, :1]) for place in points]
    return points, [values + values**3 for values in targets], targets


def test_a_name_that_is_taken_is_refused_with_advice():
    with pytest.raises(ValueError, match="There is an operator 'linear' already; choose another name"):
        gola.register_operator("linear", Network)
    with pytest.raises(ValueError, match=r"starts with a dot, like '\.dat'"):
        gola.register_reader("dat", print)


def test_an_entry_point_that_cannot_be_imported_is_named(on_path):
    install(on_path)
    (on_path / "my_package" / "metric.py").unlink()
    with pytest.raises(ValueError, match=r"'bias' is offered by my_package\.metric:bias, which cannot be imported"):
        METRICS["bias"]
