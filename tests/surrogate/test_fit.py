import re
import subprocess
import sys

import numpy as np
import pytest

import gola
from gola.data.dataset import Dataset
from gola.fitting.configs import config_for, kind_of
from gola.operators import GolaConfig
from gola.protocol import TrainingConfig
from gola.registry import OPERATORS
from tests.fits import small_data

QUICK = TrainingConfig(num_epochs=1, batch_size=4)


@pytest.fixture(scope="module")
def data():
    return small_data()


def plane_data(num_samples=4, num_points=30, dim=3):
    rng = np.random.default_rng(0)
    points = rng.random((num_samples, num_points, dim))
    inputs = np.stack([points[..., 0], np.ones_like(points[..., 0])], axis=-1)
    return Dataset.from_arrays(points, inputs, inputs[..., :1] * np.arange(1, num_samples + 1)[:, None, None])


def test_the_data_decide_on_dimension_and_channels():
    surrogate = gola.fit(plane_data(), "gola", training=QUICK)
    config = surrogate.operator.config
    assert (config.dim, config.num_inputs, config.num_outputs) == (3, 2, 1)


def test_a_name_a_preset_and_a_config_are_understood(data):
    assert config_for(data, "gola/paper").width == 256
    assert config_for(data, GolaConfig(width=32, dim=3)).width == 32
    assert config_for(data, GolaConfig(width=32, dim=3)).dim == 2
    assert config_for(data, "gola", width=16).width == 16


def test_the_radius_follows_the_spacing(data):
    dense = small_data(num_samples=3, num_points=240)
    # A quarter of the points are twice as far apart, and closer to the walls, beyond which nobody is.
    ratio = config_for(dense, "gola", num_points=60).radius / config_for(dense, "gola").radius
    assert 1.8 < ratio < 2.8
    assert config_for(data, GolaConfig(radius=0.2)).radius == 0.2
    assert config_for(data, "gola", radius=0.3).radius == 0.3


def test_the_radius_of_a_thousand_points_in_the_unit_square_is_the_one_of_the_presets():
    points = np.random.default_rng(0).random((1000, 2))
    data = Dataset.from_arrays(points, [points[:, 0]] * 2, [points[:, 1]] * 2)
    assert config_for(data, "gola").radius == pytest.approx(GolaConfig().radius, rel=0.05)


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_has_a_config_of_its_own(name):
    assert kind_of(OPERATORS[name].presets["default"]) is OPERATORS[name]


def test_unknown_names_are_answered_with_the_known_ones(data):
    with pytest.raises(ValueError, match="no operator 'lineal'; did you mean 'linear'"):
        gola.fit(data, "lineal")
    with pytest.raises(ValueError, match=r"no preset of gola 'papers'; did you mean 'paper'"):
        gola.fit(data, "gola/papers")
    with pytest.raises(ValueError, match="no setting of the GOLA operator 'colour'"):
        config_for(data, "gola", colour="red")


def test_inputs_without_targets_cannot_be_fitted():
    points = np.random.default_rng(0).random((30, 2))
    with pytest.raises(ValueError, match="inputs only; fitting needs targets"):
        gola.fit(Dataset.from_arrays(points, [points[:, 0]] * 3))


def test_the_same_seed_gives_the_same_surrogate(data):
    first, again, other = (gola.fit(data, "gola", training=QUICK, seed=seed) for seed in (3, 3, 4))
    sample = data[0]
    assert np.array_equal(first.predict(sample.points, sample.inputs), again.predict(sample.points, sample.inputs))
    assert not np.array_equal(first.predict(sample.points, sample.inputs), other.predict(sample.points, sample.inputs))


def test_how_it_was_fitted_is_kept(data):
    surrogate = gola.fit(data, "gola", training=QUICK, seed=5)
    provenance = surrogate.provenance
    assert provenance["seed"] == 5
    assert provenance["training"]["num_epochs"] == 1
    assert len(provenance["history"]) == 1
    assert provenance["data"]["num_samples"] == len(data)
    assert set(provenance["versions"]) == {"gola", "torch", "numpy"}
    assert surrogate.scores["training_error"] == provenance["history"][0]["training_error"]


def test_a_closed_form_says_its_error_on_samples_held_out(data):
    surrogate = gola.fit(data, "mean")
    held_out = []
    for row in range(len(data)):
        others = [data[other] for other in range(len(data)) if other != row]
        rest = gola.fit(Dataset.from_samples(others, inputs=data.inputs, targets=data.targets), "mean")
        held_out.append(gola.evaluate(rest, data[row : row + 1]).mean)
    # The penalties of the function space are chosen anew without the sample, which moves the last digits.
    assert surrogate.scores["cv_error"] == pytest.approx(np.mean(held_out), rel=0.02)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("gola.fit('darcy.h5')", r"fit needs a Dataset; got str\..*Dataset\.load"),
        ("AutoConfig(time_limit='10')", "time_limit must be a positive number of seconds, or None; got '10'"),
    ],
)
def test_what_has_the_wrong_type_is_refused_with_what_it_takes(code, message):
    # In a process of its own: types are checked by others in tests.
    program = f"import gola\nfrom gola.fitting.auto.auto import AutoConfig\n{code}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert re.search(f"ValueError: {message}", done.stderr)


@pytest.mark.parametrize("correspondence", ["same points", "none"])
def test_solutions_that_are_zero_everywhere_are_predicted(correspondence):
    rng = np.random.default_rng(0)
    points = rng.random((6, 30, 2)) if correspondence == "none" else rng.random((30, 2))
    data = Dataset.from_arrays(points, targets=np.zeros((6, 30)), parameters=rng.random((6, 2)))
    surrogate = gola.fit(data, time_limit=2, progress=False)
    assert not surrogate.predict_sample(data[0]).any()


@pytest.mark.parametrize("num_points", [1, 2])
def test_numbers_of_a_whole_sample_are_a_field_of_one_point_or_two(num_points):
    cases = np.random.default_rng(0).random((20, 2))
    points = np.arange(num_points)[:, None]
    drag = cases[:, :1] ** 2 + np.sin(cases[:, 1:] + points.T)
    surrogate = gola.fit(Dataset.from_arrays(points, targets=drag, parameters=cases), "pod_gp", progress=False)
    found = surrogate.predict(points, parameters=[0.5, 0.5], interval=0.9)
    np.testing.assert_allclose(found.mean[:, 0], 0.25 + np.sin(0.5 + points[:, 0]), rtol=0.01)
