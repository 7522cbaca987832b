from dataclasses import replace

import numpy as np
import pytest
import torch

from gola.data.sample import Channel
from gola.fitting.auto.auto import Auto, AutoConfig
from gola.fitting.auto.candidates import Candidates
from gola.fitting.auto.choice import _Trial, choose
from gola.fitting.training import train
from gola.metrics import relative_l2
from gola.operators.closed_form.mean import Mean
from gola.operators.scaling import Scaling
from gola.protocol import Session
from tests.fits import small_data, task_of

QUICK = AutoConfig(num_networks=2, num_steps=4, num_modes=3, symmetries=False, corrections=False)


def chosen(members=QUICK.members, session=None, **settings):
    samples = list(small_data(num_samples=6, num_points=60))
    config = replace(QUICK, members=members, **settings)
    return choose(config, task_of(samples, session=session or Session())), samples


def fitted(members=QUICK.members, session=None, **settings):
    samples = list(small_data(num_samples=6, num_points=60))
    torch.manual_seed(0)
    return Auto(replace(QUICK, members=members, **settings)).fit(task_of(samples, session=session or Session()))


def assert_same_state(first, second):
    states = first.state_dict(), second.state_dict()
    assert states[0].keys() == states[1].keys()
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_where_a_closed_form_suffices_it_is_kept_alone_and_the_rest_is_dropped():
    found, _ = chosen(members=("kernel", "spectral"), residual_weight=0.0)
    assert found.choice.members == ("kernel",)
    assert found.weights == {"kernel": 1.0}
    assert list(found.operators) == ["kernel"]
    assert not found.ensembles
    assert found.choice.error == pytest.approx(found.choice.candidates["kernel"])
    assert "kernel is best" in found.choice.why
    assert found.held_out.method == "leave-one-out"


def test_the_result_has_held_out_predictions_with_the_error_that_it_says():
    result = fitted(members=("kernel", "mean"))
    samples = list(small_data(num_samples=6, num_points=60))
    errors = [
        float(relative_l2(torch.from_numpy(values), torch.from_numpy(sample.targets)))
        for values, sample in zip(result.held_out.predictions, samples, strict=True)
    ]
    assert result.scores["cv_error"] == pytest.approx(np.mean(errors), rel=0.02)
    assert result.details["choice"]["error"] == result.scores["cv_error"]


def test_any_registered_operators_may_be_members():
    result = fitted(members=("mean", "nearest", "gcn"), num_steps=2)
    assert set(result.details["choice"]["candidates"]) >= {"mean", "nearest"}
    assert "gcn" in result.details["choice"]["why"]


def refuse(*_):
    raise ValueError("These samples are nothing for it.")


def test_a_member_that_cannot_be_fitted_is_left_out_with_the_reason(monkeypatch):
    monkeypatch.setattr("gola.operators.closed_form.nearest.Nearest.fit", refuse)
    chosen = choose(AutoConfig(members=("nearest", "mean")), task_of(small_data(num_samples=5)))
    assert chosen.choice.members == ("mean",)
    assert "nearest could not be fitted: These samples are nothing for it." in chosen.choice.why


def test_where_no_member_can_be_fitted_the_first_one_says_why(monkeypatch):
    monkeypatch.setattr("gola.operators.closed_form.nearest.Nearest.fit", refuse)
    with pytest.raises(ValueError, match="These samples are nothing for it"):
        choose(AutoConfig(members=("nearest",)), task_of(small_data(num_samples=5)))


def test_a_member_whose_held_out_predictions_are_not_finite_is_left_out(monkeypatch):
    fit = Mean.fit

    def spoilt(self, task):
        result = fit(self, task)
        result.held_out.predictions[0][0] = np.nan
        return result

    monkeypatch.setattr(Mean, "fit", spoilt)
    chosen = choose(AutoConfig(members=("mean", "nearest")), task_of(small_data(num_samples=5)))
    assert chosen.choice.members == ("nearest",)
    assert "mean could not be fitted: its predictions of held-out samples are not finite." in chosen.choice.why


def test_a_network_that_gains_little_on_the_first_fold_is_given_up(monkeypatch):
    monkeypatch.setattr("gola.fitting.auto.choice._LEAST_GAIN", 0.9)
    monkeypatch.setattr("gola.fitting.auto.choice._FAR_BEHIND", np.inf)
    steps = []
    found, _ = chosen(session=Session(on_progress=lambda now: steps.append(now.step)))
    assert "A network (spectral), tried on 6 of 6 samples, did not help" in found.choice.why
    assert "spectral" not in found.choice.candidates
    expected = 2 + 2 + 2 + 4 + 4
    assert len(steps) == expected, "a glance, one epoch with and one without a PDE residual, then two networks"


def test_a_network_that_is_far_behind_is_given_up_after_a_probe(monkeypatch):
    monkeypatch.setattr("gola.fitting.auto.choice._FAR_BEHIND", 0.0)
    steps = []
    found, _ = chosen(session=Session(on_progress=lambda now: steps.append(now.step)))
    assert "A network (spectral), tried on 3 of 6 samples, did not help" in found.choice.why
    assert len(steps) == 2 + 2


def test_a_hopeless_network_is_given_up_at_a_glance(monkeypatch):
    monkeypatch.setattr("gola.fitting.auto.choice._HOPELESS", 0.0)
    steps = []
    found, _ = chosen(session=Session(on_progress=lambda now: steps.append(now.step)))
    assert "A network (spectral), tried on 3 of 6 samples, did not help" in found.choice.why
    assert len(steps) == 2


def test_an_ensemble_of_networks_predicts_with_the_mean_of_all():
    result = fitted(members=("spectral",))
    samples = list(small_data(num_samples=6, num_points=60))
    auto, ensemble = result.operator, result.operator.ensembles["spectral"]
    assert len(ensemble.networks) == 2
    scaling = Scaling.fit(samples, normalised=False)
    cloud = auto.prepare(scaling.cloud(samples[0].points, samples[0].inputs, torch.float64))
    seen, _ = ensemble.seen(cloud, None)
    mean = sum(network(seen) for network in ensemble).double() / 2
    expected = mean * scaling.targets.scale[0] + scaling.targets.mean[0]
    torch.testing.assert_close(auto(cloud), expected, rtol=1e-5, atol=1e-6)


def test_the_error_of_a_network_is_that_of_samples_it_has_not_seen():
    found, samples = chosen(members=("spectral",), residual_weight=0.0)
    folds = np.array_split(np.random.default_rng(0).permutation(6), 2)
    scaling = Scaling.fit(samples)
    errors = []
    for network, fold in zip(found.ensembles["spectral"], folds, strict=True):
        for row in fold:
            sample = samples[row]
            cloud = network.prepare(scaling.cloud(sample.points, sample.inputs))
            values = scaling.decode(network(cloud).detach().double())
            errors.append(float(relative_l2(values, torch.from_numpy(sample.targets))))
    assert found.choice.error == pytest.approx(np.mean(errors), rel=1e-5)
    assert found.held_out.method == "2-fold"


def test_the_choice_repeats():
    first, second = (fitted(members=("kernel", "spectral")).operator for _ in range(2))
    assert_same_state(first, second)


def test_an_interrupted_choice_resumes_where_it_stopped(tmp_path):
    steps = []

    def die(progress):
        steps.append(progress.step)
        if len(steps) == 9:
            raise RuntimeError("died")

    with pytest.raises(RuntimeError, match="died"):
        fitted(members=("spectral",), session=Session(folder=tmp_path, checkpoint_seconds=0.0, on_progress=die))
    again = []
    resumed = fitted(members=("spectral",), session=Session(folder=tmp_path, resume=True, on_progress=again.append))
    whole = fitted(members=("spectral",))
    assert len(again) < again[-1].num_steps - 4
    assert_same_state(resumed.operator, whole.operator)


def test_a_resumed_choice_keeps_closed_forms_that_were_fitted(tmp_path, monkeypatch):
    def die(stage):
        if stage.startswith("probing"):
            raise RuntimeError("died")

    members = ("kernel", "spectral")
    with pytest.raises(RuntimeError, match="died"):
        fitted(members=members, session=Session(folder=tmp_path, on_stage=die))
    whole = fitted(members=members)
    monkeypatch.setattr("gola.operators.closed_form.kernel.Kernel.fit", None)
    resumed = fitted(members=members, session=Session(folder=tmp_path, resume=True))
    assert_same_state(resumed.operator, whole.operator)
    assert resumed.details["choice"]["candidates"] == whole.details["choice"]["candidates"]


def test_what_begins_is_announced_with_what_is_known():
    stages = []
    chosen(members=("kernel", "mean", "spectral"), session=Session(on_stage=stages.append))
    assert stages[0] == "fitting kernel"
    assert stages[1].startswith("fitting mean; held-out errors: kernel 0.")
    assert stages[2].startswith("probing spectral; held-out errors: kernel 0.")


def test_too_few_samples_are_refused_with_the_number_that_it_takes():
    with pytest.raises(ValueError, match="automatic choice needs at least 4 training samples; got 3"):
        Auto(QUICK).fit(task_of(list(small_data(num_samples=3, num_points=30))))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"members": ("linear", "fnoo")}, "There is no operator 'fnoo'; did you mean 'fno'"),
        ({"members": ()}, r"got \(\)"),
        ({"num_networks": 1}, "num_networks must be at least 2"),
        ({"residual_weight": -1.0}, "residual_weight must not be negative"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        AutoConfig(**settings)


def test_an_operator_without_its_spectra_says_so():
    result = fitted(members=("spectral",))
    sample = small_data(num_samples=6, num_points=60)[0]
    cloud = result.scaling.cloud(sample.points, sample.inputs)
    with pytest.raises(ValueError, match="needs spectra"):
        result.operator(cloud)


def trial_of(samples, members=("kernel", "spectral"), inputs="f", **settings):
    """A trial whose closed forms are fitted."""
    config = replace(QUICK, members=members, residual_weight=0.0, **settings)
    trial = _Trial(config=config, task=replace(task_of(samples), inputs=(Channel(name=inputs),)))
    for name in members:
        if name != "spectral":
            trial.add_operator(name, trial._fitted(name))
    return trial


@pytest.fixture
def always_worth_it(monkeypatch):
    for judge in ("_has_hope", "_is_promising", "_is_worth_it"):
        monkeypatch.setattr(_Trial, judge, lambda *_: True)


@pytest.mark.usefixtures("always_worth_it")
def test_networks_see_reciprocals_where_the_kernel_prefers_them(monkeypatch):
    samples = [replace(one, inputs=np.exp(one.inputs)) for one in small_data(num_samples=6, num_points=60)]
    monkeypatch.setattr("gola.operators.closed_form.kernel.transforms", lambda _: ("reciprocal",))
    trial = trial_of(samples)
    trial.add_networks("spectral")
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
    assert trial._symmetries() == ("yx",)
    assert trial._plans("spectral", [""], 4)[-1].symmetries == ("yx",)
    pointwise = [replace(one, targets=one.inputs**2) for one in waves_from_a_corner]
    assert len(trial_of(pointwise, symmetries=True)._symmetries()) == 7


def test_symmetries_are_not_tried_if_not_wanted():
    assert trial_of(list(small_data(num_samples=6, num_points=60)), members=("spectral",))._symmetries() == ()


def test_without_a_closed_form_all_symmetries_of_the_domain_are_tried():
    samples = list(small_data(num_samples=6, num_points=60))
    assert len(trial_of(samples, members=("spectral",), symmetries=True)._symmetries()) == 7


def test_components_seen_as_logarithms_do_not_turn(monkeypatch):
    samples = [replace(one, inputs=np.exp(one.inputs)) for one in small_data(num_samples=6, num_points=60)]
    monkeypatch.setattr("gola.operators.closed_form.kernel.transforms", lambda _: ("logarithm",))
    assert trial_of(samples, symmetries=True)._symmetries()
    assert trial_of(samples, symmetries=True, inputs="wind_x")._symmetries() == ()


def test_the_reason_says_how_networks_were_trained():
    found, _ = chosen(members=("spectral",))
    ways = ("with a learned PDE residual.", "without PDE residual or augmentation.")
    assert found.choice.why.endswith(tuple(f"Networks were trained {way}" for way in ways))


@pytest.mark.usefixtures("always_worth_it")
def test_amplitudes_that_the_operator_scales_with_are_taken_out_and_named(monkeypatch):
    monkeypatch.setattr("gola.operators.closed_form.kernel.transforms", lambda _: ("identity",))
    scales = np.geomspace(0.1, 10.0, 8)
    samples = [
        replace(one, inputs=scale * one.inputs, targets=scale * one.targets)
        for one, scale in zip(small_data(num_samples=8, num_points=60), scales, strict=True)
    ]
    trial = trial_of(samples, inputs="load")
    trial.add_networks("spectral")
    trial.candidates.held_out.pop("kernel")
    found = trial.conclude()
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


def correcting():
    """A trial whose networks may correct the kernel operator, and only that."""
    trial = trial_of(list(small_data(num_samples=6, num_points=60)), corrections=True)
    trial._bases = lambda: ["kernel"]
    return trial


@pytest.mark.usefixtures("always_worth_it")
def test_networks_that_correct_a_closed_form_see_and_learn_from_held_out_predictions():
    seen = []

    def recorded(network, task, scaling):
        seen.append(task)
        return train(network, task, scaling)

    trial = correcting()
    trial.task = replace(trial.task, train=recorded)
    trial.add_networks("spectral")
    held_out = trial.candidates.held_out["kernel"]
    row = next(row for row in range(6) if row not in trial.folds[0])
    sample = next(one for one in seen[0].samples if np.array_equal(one.points, trial.task.samples[row].points))
    np.testing.assert_allclose(sample.inputs[:, 1:], held_out[row])
    np.testing.assert_allclose(sample.targets, trial.task.samples[row].targets - held_out[row])


@pytest.mark.usefixtures("always_worth_it")
def test_a_network_that_corrects_a_closed_form_adds_to_its_prediction():
    trial = correcting()
    trial.add_networks("spectral")
    kernel = trial.candidates.held_out.pop("kernel")
    found = trial.conclude()
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


def test_a_correction_that_gains_nothing_in_a_short_training_run_is_given_up(monkeypatch):
    trial = correcting()
    monkeypatch.setattr(Candidates, "mean_error", lambda *_: 1.0)
    trial.add_networks("spectral")
    assert "spectral" not in trial.candidates.held_out
    assert "did not help" in trial.remarks[-1]


def test_by_default_networks_are_tried_alone_and_as_corrections():
    trial = trial_of(list(small_data(num_samples=6, num_points=60)), corrections=True)
    assert trial._bases() == ["", "kernel"]
    assert [plan.base for plan in trial._plans("spectral", ["", "kernel"], 4)] == ["", "kernel"]
    assert [plan.base for plan in trial._plans("spectral", ["kernel"], 4)] == ["kernel"]
