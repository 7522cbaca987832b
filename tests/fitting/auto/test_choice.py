from dataclasses import replace

import numpy as np
import pytest
import torch

from gola.data.sample import Channel
from gola.fitting.auto import choose
from gola.fitting.auto.blend import relative_error
from gola.fitting.auto.candidates import Candidates
from gola.fitting.auto.choice import _Trial
from gola.metrics import relative_l2
from gola.operators import Auto, AutoConfig
from gola.operators.scaling import Scaling
from gola.protocol import Session
from tests.fits import small_data

QUICK = AutoConfig(num_networks=2, num_steps=4, num_modes=3, symmetries=False, start="")


def chosen(members=QUICK.members, session=None, **settings):
    samples = list(small_data(num_samples=6, num_points=60))
    config = replace(QUICK, members=members, **settings)
    return choose(config, samples, Scaling.fit(samples, normalised=False), session=session), samples


def assert_same_state(first, second):
    states = first.state_dict(), second.state_dict()
    assert states[0].keys() == states[1].keys()
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_where_a_closed_form_suffices_it_is_kept_alone_and_the_rest_is_dropped():
    (auto, choice), _ = chosen(members="kernel,spectral", law=0.0)
    assert choice.members == ("kernel",)
    assert choice.weights == (1.0,)
    assert list(auto.closed_forms) == ["kernel"]
    assert not len(auto.networks)
    assert choice.error == pytest.approx(choice.candidates["kernel"])
    assert "kernel is best" in choice.why


def test_a_network_that_gains_little_on_the_first_part_is_given_up(monkeypatch):
    monkeypatch.setattr("gola.fitting.auto.choice._LEAST_GAIN", 0.9)
    monkeypatch.setattr("gola.fitting.auto.choice._FAR_BEHIND", np.inf)
    steps = []
    (_, choice), _ = chosen(session=Session(on_progress=lambda now: steps.append(now.step)))
    assert "A network, tried on 3 of 6 samples, did not help" in choice.why
    assert "spectral" not in choice.candidates
    assert len(steps) == 2 + 4 + 4, "a probe of one epoch, a network with and one without a law"


def test_a_network_that_is_far_behind_is_given_up_after_a_probe(monkeypatch):
    monkeypatch.setattr("gola.fitting.auto.choice._FAR_BEHIND", 0.0)
    steps = []
    (_, choice), _ = chosen(session=Session(on_progress=lambda now: steps.append(now.step)))
    assert "A network, tried on 3 of 6 samples, did not help" in choice.why
    assert len(steps) == 2


def test_an_ensemble_of_networks_predicts_with_the_mean_of_all():
    (auto, choice), samples = chosen(members="spectral")
    assert choice.members == ("spectral",)
    assert len(auto.networks) == 2
    sample = samples[0]
    scaling = Scaling.fit(samples, normalised=False)
    cloud = auto.prepare(scaling.cloud(sample.points, sample.inputs, torch.float64))
    seen, _ = auto._seen_cloud(cloud)
    mean = sum(network(seen) for network in auto.networks).double() / 2
    expected = mean * scaling.targets.scale[0] + scaling.targets.mean[0]
    torch.testing.assert_close(auto(cloud), expected, rtol=1e-5, atol=1e-6)


def test_the_error_of_a_network_is_that_of_samples_it_has_not_seen():
    (auto, choice), samples = chosen(members="spectral", law=0.0)
    parts = np.array_split(np.random.default_rng(0).permutation(6), 2)
    scaling = Scaling.fit(samples)
    errors = []
    for network, part in zip(auto.networks, parts, strict=True):
        for row in part:
            sample = samples[row]
            cloud = network.prepare(scaling.cloud(sample.points, sample.inputs))
            found = scaling.decode(network(cloud).detach().double())
            errors.append(float(relative_l2(found, torch.from_numpy(sample.targets), [sample.num_points])))
    assert choice.error == pytest.approx(np.mean(errors), rel=1e-5)


def test_the_choice_repeats():
    (first, _), _ = chosen(members="kernel,spectral")
    (second, _), _ = chosen(members="kernel,spectral")
    assert_same_state(first, second)


def test_an_interrupted_choice_goes_on_where_it_stopped(tmp_path):
    steps = []

    def die(progress):
        steps.append(progress.step)
        if len(steps) == 9:
            raise RuntimeError("died")

    with pytest.raises(RuntimeError, match="died"):
        chosen(members="spectral", session=Session(folder=tmp_path, checkpoint_seconds=0.0, on_progress=die))
    again = []
    (resumed, _), _ = chosen(
        members="spectral", session=Session(folder=tmp_path, resume=True, on_progress=again.append)
    )
    (whole, _), _ = chosen(members="spectral")
    assert len(again) < again[-1].num_steps - 4
    assert_same_state(resumed, whole)


def test_too_few_samples_are_told():
    samples = list(small_data(num_samples=3, num_points=30))
    with pytest.raises(ValueError, match="needs at least 4; got 3"):
        choose(QUICK, samples, Scaling.fit(samples, normalised=False))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"members": "linear,fno"}, "members must be some of linear, kernel, spectral; got 'linear,fno'"),
        ({"members": ""}, "got ''"),
        ({"num_networks": 1}, "num_networks must be at least 2"),
        ({"law": -1.0}, "law must not be negative"),
    ],
)
def test_bad_settings_are_told(settings, message):
    with pytest.raises(ValueError, match=message):
        AutoConfig(**settings)


def test_an_operator_without_its_spectra_says_so():
    (auto, _), samples = chosen(members="spectral")
    cloud = Scaling.fit(samples, normalised=False).cloud(samples[0].points, samples[0].inputs)
    assert isinstance(auto, Auto)
    with pytest.raises(ValueError, match="needs spectra"):
        auto(cloud)


def test_networks_see_reciprocals_where_the_kernel_prefers_them(monkeypatch):
    samples = [replace(one, inputs=np.exp(one.inputs)) for one in small_data(num_samples=6, num_points=60)]
    monkeypatch.setattr("gola.operators.closed_form.kernel.transforms", lambda _: ("reciprocal",))
    config = replace(QUICK, members="kernel,spectral", law=0.0)
    monkeypatch.setattr("gola.fitting.auto.choice._FAR_BEHIND", np.inf)
    monkeypatch.setattr("gola.fitting.auto.choice._LEAST_GAIN", -np.inf)
    scaling = Scaling.fit(samples, normalised=False)
    trial = _Trial(config=config, samples=samples, scaling=scaling, seed=0, session=Session())
    trial.add_closed_form("kernel", trial.auto.closed_forms["kernel"])
    trial.add_networks()
    np.testing.assert_allclose(trial.views[""].samples[0].inputs, 1.0 / samples[0].inputs)

    kept = Auto(replace(config, members="spectral"))
    kept.networks = trial.auto.networks
    kept.see_like(trial.auto.closed_forms["kernel"])
    kept.set_units(trial.views[""].scaling.inputs, trial.views[""].scaling.targets)
    cloud = kept.prepare(scaling.cloud(samples[0].points, samples[0].inputs, torch.float64))
    seen = trial.views[""].scaling.cloud(samples[0].points, trial.views[""].samples[0].inputs)
    torch.testing.assert_close(kept._seen_cloud(cloud)[0].values, seen.values)
    with pytest.raises(ValueError, match="takes reciprocals or logarithms of input channels"):
        kept(replace(cloud, values=-cloud.values))


def trial_of(samples, monkeypatch, **settings):
    monkeypatch.setattr("gola.fitting.auto.choice._FAR_BEHIND", np.inf)
    monkeypatch.setattr("gola.fitting.auto.choice._LEAST_GAIN", -np.inf)
    config = replace(QUICK, members="kernel,spectral", law=0.0, symmetries=True, **settings)
    trial = _Trial(
        config=config, samples=samples, scaling=Scaling.fit(samples, normalised=False), seed=0, session=Session()
    )
    trial.add_closed_form("kernel", trial.auto.closed_forms["kernel"])
    return trial


def test_symmetries_that_the_closed_form_refutes_are_not_tried(monkeypatch):
    waves_from_a_corner = list(small_data(num_samples=12, num_points=80))
    trial = trial_of(waves_from_a_corner, monkeypatch)
    assert trial._symmetries() == "yx"
    assert trial._courses([""])[-1].symmetries == "yx"
    pointwise = [replace(one, targets=one.inputs**2) for one in waves_from_a_corner]
    assert len(trial_of(pointwise, monkeypatch)._symmetries().split()) == 7


def test_symmetries_are_not_tried_if_not_wanted():
    samples = list(small_data(num_samples=6, num_points=60))
    trial = _Trial(config=QUICK, samples=samples, scaling=Scaling.fit(samples), seed=0, session=Session())
    assert trial._symmetries() == ""


def test_without_a_closed_form_all_symmetries_of_the_domain_are_tried():
    samples = list(small_data(num_samples=6, num_points=60))
    config = replace(QUICK, members="spectral", symmetries=True)
    trial = _Trial(config=config, samples=samples, scaling=Scaling.fit(samples), seed=0, session=Session())
    assert len(trial._symmetries().split()) == 7


def test_components_seen_as_logarithms_do_not_turn(monkeypatch):
    samples = [replace(one, inputs=np.exp(one.inputs)) for one in small_data(num_samples=6, num_points=60)]
    monkeypatch.setattr("gola.operators.closed_form.kernel.transforms", lambda _: ("logarithm",))
    trial = trial_of(samples, monkeypatch)
    assert trial._symmetries()
    trial.inputs = (Channel(name="wind_x"),)
    assert trial._symmetries() == ""


def test_the_reason_tells_how_networks_were_trained():
    (_, choice), _ = chosen(members="spectral")
    assert choice.why.endswith(("Networks were trained with a local law.", "without law or symmetries."))


def test_amplitudes_that_the_operator_scales_with_are_taken_out_and_named(monkeypatch):
    monkeypatch.setattr("gola.fitting.auto.choice._FAR_BEHIND", np.inf)
    monkeypatch.setattr("gola.fitting.auto.choice._LEAST_GAIN", -np.inf)
    monkeypatch.setattr("gola.operators.closed_form.kernel.transforms", lambda _: ("identity",))
    scales = np.geomspace(0.1, 10.0, 8)
    samples = [
        replace(one, inputs=scale * one.inputs, targets=scale * one.targets)
        for one, scale in zip(small_data(num_samples=8, num_points=60), scales, strict=True)
    ]
    config = replace(QUICK, members="kernel,spectral", law=0.0)
    scaling = Scaling.fit(samples, normalised=False)
    trial = _Trial(
        config=config, samples=samples, scaling=scaling, seed=0, session=Session(), inputs=(Channel(name="load"),)
    )
    trial.add_closed_form("kernel", trial.auto.closed_forms["kernel"])
    trial.add_networks()
    amplitudes = [np.sqrt(np.mean(seen.inputs**2)) for seen in trial.views[""].samples]
    np.testing.assert_allclose(amplitudes, amplitudes[0])
    trial.candidates.held_out.pop("kernel")
    auto, choice = trial.conclude()
    assert choice.members == ("spectral",)
    assert "Solutions scale like load." in choice.why
    cloud = scaling.cloud(samples[0].points, samples[0].inputs, torch.float64)
    weak, strong = (auto(auto.prepare(replace(cloud, values=factor * cloud.values))) for factor in (1.0, 7.0))
    torch.testing.assert_close(strong, 7.0 * weak, rtol=1e-4, atol=0.0)
    at = torch.rand(5, 2, dtype=torch.float64)
    weak, strong = (auto(auto.prepare(replace(cloud, values=one * cloud.values)), at=at) for one in (1.0, 7.0))
    torch.testing.assert_close(strong, 7.0 * weak, rtol=1e-4, atol=0.0)
    # Each sample is predicted, in its own units, by a network that has not seen it.
    found = trial.candidates.held_out["spectral"]
    assert max(relative_error(found[row], one.targets, np.ones(1)) for row, one in enumerate(samples)) < 1.5


def stacked(**settings):
    """A trial whose networks start from the kernel operator."""
    samples = list(small_data(num_samples=6, num_points=60))
    config = replace(QUICK, members="kernel,spectral", law=0.0, start="kernel", **settings)
    scaling = Scaling.fit(samples, normalised=False)
    trial = _Trial(config=config, samples=samples, scaling=scaling, seed=0, session=Session())
    trial.add_closed_form("kernel", trial.auto.closed_forms["kernel"])
    return trial


@pytest.fixture
def always_worth_it(monkeypatch):
    monkeypatch.setattr(_Trial, "_is_promising", lambda *_: True)
    monkeypatch.setattr("gola.fitting.auto.choice._LEAST_GAIN", -np.inf)


@pytest.mark.usefixtures("always_worth_it")
def test_networks_that_start_from_a_closed_form_see_and_learn_from_samples_held_out():
    trial = stacked()
    trial.add_networks()
    seen, sample, held_out = trial.views["kernel"].samples[0], trial.samples[0], trial.candidates.held_out["kernel"][0]
    np.testing.assert_allclose(seen.inputs[:, 1:], held_out)
    np.testing.assert_allclose(seen.targets, sample.targets - held_out)


@pytest.mark.usefixtures("always_worth_it")
def test_a_network_that_starts_from_a_closed_form_adds_to_its_prediction():
    trial = stacked()
    trial.add_networks()
    kernel = trial.candidates.held_out.pop("kernel")
    auto, choice = trial.conclude()
    assert choice.members == ("spectral",)
    assert "Networks were trained to correct kernel." in choice.why
    assert (auto.config.start, list(auto.closed_forms)) == ("kernel", ["kernel"])
    assert auto.networks[0].config.num_inputs == 2

    sample = trial.samples[0]
    cloud = auto.prepare(trial.scaling.cloud(sample.points, sample.inputs, torch.float64))
    again = Auto(auto.config)
    again.load_state_dict(auto.state_dict())
    assert torch.equal(again(cloud), auto(cloud))
    start = auto.closed_forms["kernel"](cloud)
    for network in auto.networks:
        torch.nn.init.zeros_(network.output[-1].weight)
        torch.nn.init.zeros_(network.output[-1].bias)
    torch.testing.assert_close(auto(cloud), start + auto.target_mean)
    at = torch.rand(5, 2, dtype=torch.float64)
    torch.testing.assert_close(auto(cloud, at=at), auto.closed_forms["kernel"](cloud, at=at) + auto.target_mean)
    assert kernel.keys() == trial.candidates.held_out["spectral"].keys()


def test_a_start_that_gains_nothing_in_a_short_training_is_given_up(monkeypatch):
    trial = stacked()
    monkeypatch.setattr(Candidates, "mean_error", lambda *_: 1.0)
    trial.add_networks()
    assert "spectral" not in trial.candidates.held_out
    assert "did not help" in trial.remark


def test_by_default_networks_with_and_without_a_start_are_tried():
    trial = stacked()
    trial.config = replace(trial.config, start=None)
    assert trial._starts() == ["", "kernel"]
    assert [course.start for course in trial._courses(["", "kernel"])] == ["", "kernel"]
    assert [course.start for course in trial._courses(["kernel"])] == ["kernel"]


def test_networks_start_from_members_only():
    with pytest.raises(ValueError, match="add linear to the members"):
        chosen(members="kernel,spectral", start="linear")
    with pytest.raises(ValueError, match="start must be one of linear, kernel"):
        replace(QUICK, start="gola")
