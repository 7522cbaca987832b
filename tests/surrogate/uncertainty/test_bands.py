"""Bands of surrogates: as often right as they say, in the user's units, wherever and however predictions are made."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.fitting.auto.auto import AutoConfig
from gola.operators import GcnConfig, KernelConfig, LinearConfig, PodGpConfig
from gola.protocol import TrainingConfig
from gola.surrogate.fit import fit
from gola.surrogate.surrogate import Surrogate
from gola.surrogate.uncertainty.prediction import require_kind
from tests.data.trajectories import cooling
from tests.surrogate.test_parameters import plates

KERNEL = KernelConfig(num_modes=60, num_input_modes=20)


def waves(num_samples, *, seed=0, unit=1.0, num_points=80):
    """Two channels of a solution that depends on its input in a way that is not linear, each sample at own points."""
    rng = np.random.default_rng(seed)
    points, inputs, targets = [], [], []
    for _ in range(num_samples):
        where, (first, second) = rng.random((num_points, 2)), rng.normal(size=2)
        source = 2.0 + np.sin(np.pi * where[:, 0] * first) + second * where[:, 1]
        points.append(where)
        inputs.append(source)
        solution = np.tanh(source) * where[:, 0] + 0.1 * first**2
        targets.append(unit * np.stack([solution, 1000.0 * source**2], axis=1))
    return Dataset.from_arrays(points, inputs, targets, target_channels=["u", "v"])


@pytest.fixture(scope="module")
def surrogate():
    return fit(waves(30), KERNEL, progress=False)


def coverage(surrogate, data, **band):
    inside = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few inputs are beyond the training inputs
        for sample in data:
            found = surrogate.predict_sample(sample, **band)
            inside.append((found.lower <= sample.targets) & (sample.targets <= found.upper))
    return inside


def test_fields_lie_in_the_band_everywhere_about_as_often_as_it_says(surrogate):
    inside = coverage(surrogate, waves(100, seed=1), interval=0.8)
    assert 0.65 < np.mean([one.all() for one in inside]) < 0.95


def test_points_lie_in_the_band_about_as_often_as_it_says(surrogate):
    inside = coverage(surrogate, waves(100, seed=1), interval=0.8, kind="pointwise")
    assert 0.75 < np.mean([one.mean() for one in inside]) < 0.93


def test_the_mean_is_the_prediction_and_bands_grow_with_the_level(surrogate):
    sample = waves(3, seed=2)[1]
    low, high = (surrogate.predict_sample(sample, interval=level) for level in (0.5, 0.9))
    points = surrogate.predict_sample(sample, interval=0.5, kind="pointwise")
    np.testing.assert_array_equal(low.mean, surrogate.predict_sample(sample))
    assert (high.upper > low.upper).all()
    assert (high.lower < low.lower).all()
    assert (points.upper < low.upper).all()
    assert 0.0 < high.error.lower <= high.error.value <= high.error.upper
    assert 0.0 <= high.unusual <= 1.0
    assert re.fullmatch(r"[\d.e-]+ \([\d.e-]+ to [\d.e-]+\)", str(high.error))


def test_bands_elsewhere_fit_to_those_at_the_points(surrogate):
    sample = waves(3, seed=2)[1]
    here = surrogate.predict_sample(sample, interval=0.9)
    there = surrogate.predict_sample(sample, at=sample.points[5:9], interval=0.9)
    np.testing.assert_allclose(there.upper - there.lower, (here.upper - here.lower)[5:9], rtol=1e-6)
    assert there.error.value == pytest.approx(here.error.value)


def test_a_prediction_far_larger_than_any_before_does_not_promise_a_small_error():
    data = plates(20)
    surrogate, parameters = fit(data, "pod_gp", progress=False), data[0].parameters
    with pytest.warns(UserWarning, match="the prediction is a guess|mean nothing here"):
        found = surrogate.predict(data[0].points, parameters=1e4 * parameters, interval=0.9)
    assert found.is_beyond
    assert found.error.value > 0.1 * surrogate.scores["cv_error"]


def test_bands_are_in_the_units_of_the_user(surrogate):
    sample = waves(3, seed=2)[1]
    unit = 2.0**250
    large = fit(waves(30, unit=unit), KERNEL, progress=False)
    here, there = surrogate.predict_sample(sample, interval=0.9), large.predict_sample(sample, interval=0.9)
    np.testing.assert_allclose((there.upper - there.lower) / unit, here.upper - here.lower, rtol=1e-4)


def test_saved_bands_are_the_same(surrogate, tmp_path):
    surrogate.save(tmp_path / "x.gola")
    loaded = Surrogate.load(tmp_path / "x.gola")
    sample = waves(3, seed=2)[1]
    here, there = (one.predict_sample(sample, interval=0.9) for one in (surrogate, loaded))
    np.testing.assert_allclose(here.upper, there.upper, rtol=1e-9)
    assert here.error.value == pytest.approx(there.error.value, rel=1e-9)
    assert here.unusual == there.unusual
    assert "Jackknife around the fit to all 30 samples" in loaded.calibration.guarantee


def test_a_surrogate_without_bands_loads_and_says_so(surrogate, tmp_path):
    replace(surrogate, calibration=None).save(tmp_path / "x.gola")
    loaded = Surrogate.load(tmp_path / "x.gola")
    sample = waves(3, seed=2)[1]
    loaded.predict_sample(sample)
    with pytest.raises(ValueError, match="has no bands"):
        loaded.predict_sample(sample, interval=0.9)


def test_a_network_alone_has_no_bands_and_says_what_to_do():
    data = waves(6)
    network = fit(data, GcnConfig(width=8, output_width=8), training=TrainingConfig(num_epochs=1), progress=False)
    with pytest.raises(ValueError, match=r"Fit it again with TrainingConfig\(held_out_folds=5\)"):
        network.predict_sample(data[0], interval=0.9)


def test_a_level_that_the_samples_cannot_support_is_refused(surrogate):
    with pytest.raises(ValueError, match=r"needs at least 99 training samples; there are 30, enough for up to 96\.7 %"):
        surrogate.predict_sample(waves(3)[0], interval=0.99)
    with pytest.raises(ValueError, match="kind must be 'everywhere' or 'pointwise'"):
        require_kind("somewhere")


def test_an_input_beyond_the_training_inputs_is_warned_of(surrogate):
    sample = waves(3, seed=2)[1]
    with pytest.warns(UserWarning, match=r"farther from all training samples|the prediction is a guess"):
        found = surrogate.predict(sample.points, 9.0 * sample.inputs, interval=0.9)
    assert found.is_beyond
    assert found.unusual == 1.0


@pytest.mark.parametrize(
    "operator",
    [
        PodGpConfig(num_modes=60, num_input_modes=20),
        LinearConfig(num_modes=60, num_wide_modes=20, steps=()),
        AutoConfig(members=("pod_gp", "kernel")),
        AutoConfig(members=("spectral",), num_networks=2, num_steps=10, num_modes=2),
    ],
    ids=["pod_gp", "linear", "auto", "networks"],
)
def test_every_operator_that_holds_samples_out_has_bands(operator):
    data = plates(with_field=True)
    found = fit(data, operator, progress=False).predict_sample(data[2], interval=0.9)
    assert found.mean.shape == found.lower.shape == found.upper.shape == data[2].targets.shape
    assert (found.lower < found.upper).all()


def test_a_network_has_bands_if_it_is_trained_without_some_samples_too():
    training = TrainingConfig(num_epochs=2, held_out_folds=3)
    surrogate = fit(waves(12), GcnConfig(width=8, output_width=8), training=training, progress=False)
    found = surrogate.predict_sample(waves(3, seed=2)[1], interval=0.9)
    assert (found.lower < found.upper).all()
    assert "held-out predictions by 3-fold cross-validation" in surrogate.calibration.guarantee


def test_parameters_alone_have_bands():
    surrogate = fit(plates(20), "pod_gp", progress=False)
    inside = coverage(surrogate, plates(60, seed=3), interval=0.8)
    assert np.mean([one.all() for one in inside]) > 0.6


@pytest.mark.parametrize("own_times", [False, True])
def test_trajectories_have_bands_at_any_time(own_times):
    data = cooling(own_times=own_times)
    surrogate = fit(data, PodGpConfig(num_modes=60, num_input_modes=20), progress=False)
    sample = data[1]
    found = surrogate.predict_sample(sample, interval=0.5)
    assert found.upper.shape == sample.targets.shape
    later = surrogate.predict_sample(sample, times=sample.times[2:3], at=sample.points[:7], interval=0.5)
    assert later.upper.shape == (1, 7, sample.targets.shape[2])


def test_moved_nodes_have_bands_by_node():
    rng = np.random.default_rng(0)
    nodes = rng.random((90, 2))
    stretches = rng.uniform(0.8, 1.2, 15)
    points = [nodes * [stretch, 1.0] for stretch in stretches]
    targets = [np.sin(3.0 * stretch * nodes[:, 0]) + stretch**3 for stretch in stretches]
    data = Dataset.from_arrays(points, None, targets)
    assert data.correspondence == "moved nodes"
    surrogate = fit(data, "pod_gp", progress=False)
    found = surrogate.predict(nodes * [1.03, 1.0], interval=0.9)
    assert found.upper.shape == (90, 1)
    assert not found.is_beyond
    there = surrogate.predict(nodes * [1.03, 1.0], at=nodes[4:9] * [1.03, 1.0], interval=0.9)
    np.testing.assert_allclose(there.upper, found.upper[4:9], rtol=1e-6)
