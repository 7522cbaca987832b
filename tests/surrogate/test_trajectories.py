"""Surrogates of trajectories: fitted, predicted at any time, saved and evaluated."""

import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.fitting.auto.auto import AutoConfig
from gola.fitting.configs import config_for
from gola.operators import GcnConfig, KernelConfig, LinearConfig, PodGpConfig, SpectralConfig
from gola.protocol import TrainingConfig
from gola.surrogate.evaluation import evaluate
from gola.surrogate.fit import fit
from gola.surrogate.surrogate import Surrogate
from tests.data.trajectories import cooling, temperature

OPERATORS = {
    "kernel": KernelConfig(num_modes=60, num_input_modes=20),
    "pod_gp": PodGpConfig(num_modes=60, num_input_modes=20),
    "linear": LinearConfig(num_modes=60, num_wide_modes=20, steps=()),
    "gcn": GcnConfig(width=8, output_width=8, radius=0.5),
    "spectral": SpectralConfig(num_modes=2, width=8, num_blocks=1),
    "auto": AutoConfig(members=("pod_gp", "spectral"), num_networks=2, num_steps=20, num_modes=2),
}


def fitted(data, operator):
    return fit(data, OPERATORS[operator], training=TrainingConfig(num_epochs=2), progress=False)


def sets():
    return {"parameters": cooling(), "a field": cooling(with_field=True), "own times": cooling(own_times=True)}


@pytest.fixture(scope="module", params=["parameters", "a field", "own times"])
def data(request):
    return sets()[request.param]


@pytest.fixture(scope="module", params=OPERATORS)
def surrogate(request, data):
    return fitted(data, request.param)


def test_every_kind_of_operator_predicts_trajectories(surrogate, data, tmp_path):
    assert surrogate.has_time
    assert surrogate.dim == 2
    surrogate.save(tmp_path / "x.gola")
    loaded = Surrogate.load(tmp_path / "x.gola")
    assert repr(loaded) == repr(surrogate)
    prediction = loaded.predict_sample(data[1])
    assert prediction.shape == data[1].targets.shape
    assert np.array_equal(prediction, surrogate.predict_sample(data[1]))
    assert evaluate(loaded, data, progress=False).mean < 3.0


def test_other_times_and_places_may_be_asked_for(surrogate, data):
    sample = data[1]
    options = {"inputs": sample.inputs, "parameters": sample.parameters}
    assert surrogate.predict(sample.points, times=[0.3, 1.1], **options).shape == (2, 40, 1)
    assert surrogate.predict(sample.points, times=0.3, at=[[0.2, 0.4]], **options).shape == (1, 1, 1)


def test_a_time_of_the_training_samples_is_predicted_alike_alone_and_among_others():
    data = cooling()
    sample = data[0]
    for operator in ("kernel", "pod_gp", "linear"):
        surrogate = fitted(data, operator)
        everywhere = surrogate.predict(sample.points, parameters=sample.parameters)
        alone = surrogate.predict(sample.points, parameters=sample.parameters, times=sample.times[3])
        np.testing.assert_allclose(alone[0], everywhere[3], rtol=1e-9)


@pytest.mark.parametrize("operator", ["kernel", "pod_gp"])
def test_closed_forms_on_one_mesh_learn_trajectories_and_times_between(operator):
    train, test = cooling(40, num_times=9).split(30)
    surrogate = fitted(train, operator)
    assert surrogate.correspondence == "same points"
    assert evaluate(surrogate, test, progress=False).mean < 0.01
    sample, times = test[0], [0.33, 1.77]
    exact = temperature(*sample.parameters, sample.points, times)
    found = surrogate.predict(sample.points, parameters=sample.parameters, times=times)[..., 0]
    assert np.linalg.norm(found - exact) < 0.01 * np.linalg.norm(exact)


def test_places_between_the_nodes_are_interpolated_in_the_cells_of_space():
    x = np.linspace(0.0, 1.0, 6)
    points = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    corners = np.array([row * 6 + column for row in range(5) for column in range(5)])
    cells = np.concatenate([corners[:, None] + [0, 1, 6], corners[:, None] + [1, 6, 7]])
    rates = np.linspace(1.0, 2.0, 8)
    linear = 1.0 + points @ [1.0, 2.0]
    data = Dataset.from_arrays(
        points,
        targets=[rate * linear * (1.0 + np.arange(4.0)[:, None]) for rate in rates],
        parameters=rates,
        times=np.arange(4.0),
        cells=cells,
    )
    found = fitted(data, "pod_gp").predict(points, parameters=[1.5], at=[[0.31, 0.77]], times=[0.5, 2.25])
    np.testing.assert_allclose(found[:, 0, 0], 1.5 * (1.0 + 0.31 + 1.54) * np.array([1.5, 3.25]), rtol=1e-3)


def test_inputs_may_change_with_time():
    rng = np.random.default_rng(0)
    points, times = rng.random((30, 1)), np.linspace(0.0, 1.0, 5)
    loads = rng.uniform(0.5, 2.0, (20, 1, 1)) * np.sin(times[:, None] + points[:, 0])
    data = Dataset.from_arrays(points, loads, 3.0 * loads, times=times)
    assert data[0].inputs.shape == (5, 30, 1)
    surrogate = fitted(data, "kernel")
    assert evaluate(surrogate, data, progress=False).mean < 0.01
    found = surrogate.predict(points, loads[0])
    np.testing.assert_allclose(found[..., 0], 3.0 * loads[0], rtol=0.05)
    with pytest.raises(ValueError, match=r"must have the shape \(30, 1\) or \(5, 30, 1\)"):
        surrogate.predict(points, np.ones((4, 30, 1)))


def test_the_error_of_a_trajectory_is_that_of_all_its_times():
    data = cooling()
    surrogate = fitted(data, "kernel")
    error = evaluate(surrogate, data[:1], progress=False).errors[0]
    sample = data[0]
    difference = np.linalg.norm(surrogate.predict_sample(sample) - sample.targets)
    assert error == pytest.approx(difference / np.linalg.norm(sample.targets))


def test_times_are_asked_for_where_the_training_samples_have_different_ones():
    data = cooling(own_times=True)
    surrogate = fitted(data, "kernel")
    with pytest.raises(ValueError, match=r"different times, from 0 to 2; say at which to predict"):
        surrogate.predict(data[0].points, parameters=data[0].parameters)


def test_times_out_of_range_are_warned_of():
    data = cooling()
    surrogate = fitted(data, "pod_gp")
    with pytest.warns(UserWarning, match=r"1 of 2 times lie outside those of the training samples, 0 to 2, .* 3;"):
        surrogate.predict(data[0].points, parameters=data[0].parameters, times=[1.0, 3.0])


def test_time_and_no_time_do_not_mix():
    data = cooling()
    steady = Dataset.from_arrays(
        data[0].points,
        targets=[sample.targets[0] for sample in data],
        parameters=data.parameter_values,
        parameter_names=data.parameters,
        target_channels=["T"],
    )
    surrogate = fitted(steady, "kernel")
    with pytest.raises(ValueError, match="fitted to samples without time; leave times out"):
        surrogate.predict(data[0].points, parameters=data[0].parameters, times=[0.0])
    with pytest.raises(ValueError, match="has samples with times; the surrogate was fitted to samples without times"):
        evaluate(surrogate, data, progress=False)


def test_the_time_is_a_further_dimension_of_operators():
    assert config_for(cooling(), "gola").dim == 3
