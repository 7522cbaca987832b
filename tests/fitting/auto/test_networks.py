from dataclasses import replace

import numpy as np
import pytest
import torch

from gola.data.sample import Channel
from gola.fitting.auto.auto import Auto
from gola.fitting.auto.candidates import Candidates
from gola.fitting.auto.choice import concluded
from gola.fitting.auto.networks import Networks, add_networks
from gola.fitting.auto.trial import Trial
from gola.fitting.training import train
from gola.protocol import Session
from tests.fits import small_data, task_of
from tests.fitting.auto.examples import QUICK, chosen


def test_a_network_that_gains_little_on_the_first_fold_is_given_up(monkeypatch):
    monkeypatch.setattr("gola.fitting.auto.networks._LEAST_GAIN", 0.9)
    monkeypatch.setattr("gola.fitting.auto.networks._FAR_BEHIND", np.inf)
    steps = []
    found, _ = chosen(session=Session(on_progress=lambda now: steps.append(now.step)))
    assert "A network (spectral), tried on 6 of 6 samples, did not help" in found.choice.why
    assert "spectral" not in found.choice.candidates
    expected = 2 + 2 + 2 + 4 + 4
    assert len(steps) == expected, "a glance, one epoch with and one without a PDE residual, then two networks"


def test_a_network_that_is_far_behind_is_given_up_after_a_probe(monkeypatch):
    monkeypatch.setattr("gola.fitting.auto.networks._FAR_BEHIND", 0.0)
    steps = []
    found, _ = chosen(session=Session(on_progress=lambda now: steps.append(now.step)))
    assert "A network (spectral), tried on 3 of 6 samples, did not help" in found.choice.why
    assert len(steps) == 2 + 2


def test_a_hopeless_network_is_given_up_at_a_glance(monkeypatch):
    monkeypatch.setattr("gola.fitting.auto.networks._HOPELESS", 0.0)
    steps = []
    found, _ = chosen(session=Session(on_progress=lambda now: steps.append(now.step)))
    assert "A network (spectral), tried on 3 of 6 samples, did not help" in found.choice.why
    assert len(steps) == 2


def test_the_reason_says_how_networks_were_trained():
    found, _ = chosen(members=("spectral",))
    ways = ("with a learned PDE residual.", "without PDE residual or augmentation.")
    assert found.choice.why.endswith(tuple(f"Networks were trained {way}" for way in ways))


def trial_of(samples, members=("kernel", "spectral"), inputs="f", **settings):
    """A trial whose closed forms are fitted."""
    config = replace(QUICK, members=members, residual_weight=0.0, **settings)
    trial = Trial(config=config, task=replace(task_of(samples), inputs=(Channel(name=inputs),)))
    for name in members:
        if name != "spectral":
            trial.try_operators([name])
    return trial


def symmetries_of(*args, **settings):
    return Networks(trial=trial_of(*args, **settings), name="spectral")._symmetries()


@pytest.fixture
def always_worth_it(monkeypatch):
    for judge in ("_has_hope", "_is_promising", "_is_worth_it"):
        monkeypatch.setattr(Networks, judge, lambda *_: True)


@pytest.mark.usefixtures("always_worth_it")
def test_networks_see_reciprocals_where_the_kernel_prefers_them(monkeypatch):
    samples = [replace(one, inputs=np.exp(one.inputs)) for one in small_data(num_samples=6, num_points=60)]
    monkeypatch.setattr("gola.operators.closed_form.kernel.transforms", lambda _: ("reciprocal",))
    trial = trial_of(samples)
    add_networks(trial, "spectral")
    ensemble = trial.ensembles["spectral"]
    cloud = trial.scaling.cloud(samples[0].points, samples[0].inputs, torch.float64)
    seen, _ = ensemble.seen(cloud, None)
    expected = (1.0 / cloud.values - ensemble.input_mean) / ensemble.input_scale
    torch.testing.assert_close(seen.values, expected.float())
    with pytest.raises(ValueError, match="takes reciprocals or logarithms of input channels"):
        ensemble.seen(replace(cloud, values=-cloud.values), None)


def test_symmetries_that_the_closed_form_refutes_are_not_tried():
    waves_from_a_corner = list(small_data(num_samples=12, num_points=80))
    trial = trial_of(waves_from_a_corner, symmetries=True)
    networks = Networks(trial=trial, name="spectral")
    assert networks._symmetries() == ("yx",)
    assert networks._plans([""], 4)[-1].symmetries == ("yx",)
    pointwise = [replace(one, targets=one.inputs**2) for one in waves_from_a_corner]
    assert len(symmetries_of(pointwise, symmetries=True)) == 7


def test_symmetries_are_not_tried_if_not_wanted():
    assert symmetries_of(list(small_data(num_samples=6, num_points=60)), members=("spectral",)) == ()


def test_without_a_closed_form_all_symmetries_of_the_domain_are_tried():
    samples = list(small_data(num_samples=6, num_points=60))
    assert len(symmetries_of(samples, members=("spectral",), symmetries=True)) == 7


def test_components_seen_as_logarithms_do_not_turn(monkeypatch):
    samples = [replace(one, inputs=np.exp(one.inputs)) for one in small_data(num_samples=6, num_points=60)]
    monkeypatch.setattr("gola.operators.closed_form.kernel.transforms", lambda _: ("logarithm",))
    assert symmetries_of(samples, symmetries=True)
    assert symmetries_of(samples, symmetries=True, inputs="wind_x") == ()


@pytest.mark.usefixtures("always_worth_it")
def test_amplitudes_that_the_operator_scales_with_are_taken_out_and_named(monkeypatch):
    monkeypatch.setattr("gola.operators.closed_form.kernel.transforms", lambda _: ("identity",))
    scales = np.geomspace(0.1, 10.0, 8)
    samples = [
        replace(one, inputs=scale * one.inputs, targets=scale * one.targets)
        for one, scale in zip(small_data(num_samples=8, num_points=60), scales, strict=True)
    ]
    trial = trial_of(samples, inputs="load")
    add_networks(trial, "spectral")
    trial.candidates.held_out.pop("kernel")
    found = concluded(trial)
    assert found.choice.members == ("spectral",)
    assert "Solutions scale like load." in found.choice.why
    auto = Auto.of(trial.config, found.operators, found.ensembles, found.weights)
    cloud = trial.scaling.cloud(samples[0].points, samples[0].inputs, torch.float64)
    weak, strong = (auto(auto.prepare(replace(cloud, values=factor * cloud.values))) for factor in (1.0, 7.0))
    torch.testing.assert_close(strong, 7.0 * weak, rtol=1e-4, atol=0.0)
    at = torch.rand(5, 2, dtype=torch.float64)
    weak, strong = (auto(auto.prepare(replace(cloud, values=factor * cloud.values)), at=at) for factor in (1.0, 7.0))
    torch.testing.assert_close(strong, 7.0 * weak, rtol=1e-4, atol=0.0)
    # Each sample is predicted, in its own units, by a network that has not seen it.
    errors = [
        trial.candidates.error(values, sample)
        for values, sample in zip(found.held_out.predictions, samples, strict=True)
    ]
    assert max(errors) < 1.5


@pytest.fixture
def correcting(monkeypatch):
    """A trial whose networks may correct the kernel operator, and only that."""
    monkeypatch.setattr(Networks, "_bases", lambda _: ["kernel"])
    return trial_of(list(small_data(num_samples=6, num_points=60)), corrections=True)


@pytest.mark.usefixtures("always_worth_it")
def test_networks_that_correct_a_closed_form_see_and_learn_from_held_out_predictions(correcting):
    seen = []

    def recorded(network, task, scaling):
        seen.append(task)
        return train(network, task, scaling)

    trial = correcting
    trial.task = replace(trial.task, train=recorded)
    add_networks(trial, "spectral")
    held_out = trial.candidates.held_out["kernel"]
    row = next(row for row in range(6) if row not in trial.folds[0])
    sample = next(one for one in seen[0].samples if np.array_equal(one.points, trial.task.samples[row].points))
    np.testing.assert_allclose(sample.inputs[:, 1:], held_out[row])
    np.testing.assert_allclose(sample.targets, trial.task.samples[row].targets - held_out[row])


@pytest.mark.usefixtures("always_worth_it")
def test_a_network_that_corrects_a_closed_form_adds_to_its_prediction(correcting):
    trial = correcting
    add_networks(trial, "spectral")
    kernel = trial.candidates.held_out.pop("kernel")
    found = concluded(trial)
    assert found.choice.members == ("spectral",)
    assert "Networks were trained to correct kernel." in found.choice.why
    auto = Auto.of(trial.config, found.operators, found.ensembles, found.weights)
    assert list(auto.operators) == ["kernel"]
    assert auto.config.chosen["spectral"]["base"] == "kernel"
    assert auto.ensembles["spectral"].network(0).config.num_inputs == 2

    sample = trial.task.samples[0]
    cloud = auto.prepare(trial.scaling.cloud(sample.points, sample.inputs, torch.float64))
    again = Auto(auto.config)
    again.load_state_dict(auto.state_dict())
    assert torch.equal(again(cloud), auto(cloud))
    ensemble, base = auto.ensembles["spectral"], auto.operators["kernel"]
    for network in ensemble:
        torch.nn.init.zeros_(network.output[-1].weight)
        torch.nn.init.zeros_(network.output[-1].bias)
    torch.testing.assert_close(auto(cloud), base(cloud) + ensemble.target_mean)
    at = torch.rand(5, 2, dtype=torch.float64)
    torch.testing.assert_close(auto(cloud, at=at), base(cloud, at=at) + ensemble.target_mean)
    assert kernel.keys() == trial.candidates.held_out["spectral"].keys()


def test_a_correction_that_gains_nothing_in_a_short_training_run_is_given_up(correcting, monkeypatch):
    trial = correcting
    monkeypatch.setattr(Candidates, "mean_error", lambda *_: 1.0)
    add_networks(trial, "spectral")
    assert "spectral" not in trial.candidates.held_out
    assert "did not help" in trial.remarks[-1]


def test_by_default_networks_are_tried_alone_and_as_corrections():
    trial = trial_of(list(small_data(num_samples=6, num_points=60)), corrections=True)
    networks = Networks(trial=trial, name="spectral")
    assert networks.bases == ["", "kernel"]
    assert [plan.base for plan in networks._plans(["", "kernel"], 4)] == ["", "kernel"]
    assert [plan.base for plan in networks._plans(["kernel"], 4)] == ["kernel"]
