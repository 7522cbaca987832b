from dataclasses import replace

import numpy as np
import pytest
import torch

from gola.fitting.auto.auto import Auto, AutoConfig
from gola.fitting.auto.choice import choose
from gola.metrics import relative_l2
from gola.operators.closed_form.mean import Mean
from gola.operators.scaling import Scaling
from gola.protocol import Session
from tests.fits import small_data, task_of
from tests.fitting.auto.examples import QUICK, chosen


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
    assert "The representation of solutions by kernel alone leaves" in whole.details["choice"]["why"]
    assert resumed.details["choice"] == whole.details["choice"]


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
