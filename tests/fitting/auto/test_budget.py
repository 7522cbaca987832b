import itertools
import math

import pytest

import gola
from gola.fitting.auto.auto import AutoConfig
from gola.fitting.auto.budget import Budget
from tests.fits import small_data

QUICK = {"num_networks": 2, "num_modes": 3, "symmetries": False, "corrections": False, "residual_weight": 0.0}


def test_without_a_limit_there_is_always_time():
    budget = Budget()
    assert budget.left == math.inf
    assert budget.allows_another_fit(slowest=1e6)
    assert not budget.is_over


def test_a_limit_passes():
    budget = Budget(seconds=1e-9)
    assert budget.left == 0.0
    assert not budget.allows_another_fit()
    assert budget.is_over


def test_no_fit_is_begun_that_would_outlast_the_limit_if_it_took_twice_as_long_as_the_slowest():
    budget = Budget(seconds=1e6)
    assert budget.allows_another_fit(slowest=0.45e6)
    assert not budget.allows_another_fit(slowest=0.55e6)


def test_networks_get_as_many_steps_as_the_time_allows_or_none():
    budget = Budget(seconds=100.0)
    assert budget.num_steps(2000, seconds_for_all=50.0) == 2000
    assert 900 < budget.num_steps(2000, seconds_for_all=200.0) <= 1000
    assert budget.num_steps(2000, seconds_for_all=5000.0) == 0


def test_out_of_time_the_first_operator_is_kept_and_the_rest_is_named():
    data = small_data(num_samples=6, num_points=60)
    config = AutoConfig(members=("mean", "nearest", "spectral"), **QUICK)
    surrogate = gola.fit(data, config, time_limit=1e-6, progress=False)
    why = surrogate.provenance["choice"]["why"]
    assert surrogate.provenance["choice"]["members"] == ("mean",)
    assert "There was no time left for nearest." in why
    assert "no time for networks (spectral)" in why


def test_where_time_is_short_the_costly_operators_are_left_out():
    order = AutoConfig().members.index
    assert order("pod_gp") < order("kernel") < order("linear") < order("fitted_pde") < order("spectral")


def test_with_time_enough_a_limit_changes_nothing_but_the_record():
    data = small_data(num_samples=6, num_points=60)
    config = AutoConfig(members=("mean", "spectral"), num_steps=4, **QUICK)
    free, limited = (gola.fit(data, config, time_limit=limit, progress=False) for limit in (None, 1000.0))
    assert limited.provenance["choice"] == free.provenance["choice"]


@pytest.fixture
def over_while_training(monkeypatch):
    """Let a long time be over after a few steps of a network, however fast the machine is."""
    asked = itertools.count()
    monkeypatch.setattr(Budget, "is_over", property(lambda _: next(asked) > 5))
    return 10_000.0


def test_networks_that_outlast_the_limit_are_given_up(monkeypatch, over_while_training):
    monkeypatch.setattr("gola.fitting.auto.training_plans.EnsembleTrainer.seconds_per_step", lambda _: 0.0)
    data = small_data(num_samples=6, num_points=60)
    config = AutoConfig(members=("mean", "spectral"), num_steps=100_000, **QUICK)
    surrogate = gola.fit(data, config, time_limit=over_while_training, progress=False)
    assert "were given up when the time was over" in surrogate.provenance["choice"]["why"]


def test_time_that_ends_while_the_pace_is_taken_gives_networks_up(monkeypatch, over_while_training):
    monkeypatch.setattr("gola.fitting.auto.training_plans._PACE_STEPS", 100_000)
    data = small_data(num_samples=6, num_points=60)
    config = AutoConfig(members=("mean", "spectral"), num_steps=4, **QUICK)
    surrogate = gola.fit(data, config, time_limit=over_while_training, progress=False)
    assert "were given up when the time was over" in surrogate.provenance["choice"]["why"]


def test_a_surrogate_fitted_within_a_limit_is_read_again(tmp_path):
    data = small_data(num_samples=6, num_points=60)
    surrogate = gola.fit(data, AutoConfig(members=("mean", "nearest")), time_limit=2.5, progress=False)
    surrogate.save(tmp_path / "a.gola")
    assert gola.Surrogate.load(tmp_path / "a.gola").operator.config.time_limit == 2.5


def test_a_whole_number_that_is_left_open_takes_no_fraction():
    with pytest.raises(ValueError, match="num_modes must be like its default"):
        AutoConfig.from_dict({"num_modes": 2.5})


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan")])
def test_a_limit_must_be_positive(limit):
    with pytest.raises(ValueError, match="positive number of seconds"):
        AutoConfig(time_limit=limit)


def test_operators_that_take_as_long_as_they_need_say_so():
    with pytest.raises(ValueError, match="setting of the automatic choice"):
        gola.fit(small_data(num_samples=6, num_points=60), "mean", time_limit=1.0)
