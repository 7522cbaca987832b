from dataclasses import replace

import pytest
import torch

from gola.fitting.auto.auto import AutoConfig
from gola.fitting.auto.choice import choose
from gola.fitting.auto.side_by_side import fitted_side_by_side
from gola.operators.closed_form.mean import Mean
from gola.operators.closed_form.nearest import Nearest
from gola.protocol import Session
from tests.fits import small_data, task_of

SIDE_BY_SIDE = Session(num_workers=2)


def choice_of(members, session):
    return choose(AutoConfig(members=members), task_of(small_data(num_samples=6), session=session))


def test_candidates_of_other_processes_are_those_of_this_one():
    members = ("nearest", "mean")
    apart, here = choice_of(members, SIDE_BY_SIDE), choice_of(members, Session())
    assert apart.choice == here.choice
    assert apart.operators.keys() == here.operators.keys()
    for name, operator in apart.operators.items():
        for key, value in operator.state_dict().items():
            assert torch.equal(value, here.operators[name].state_dict()[key])


def test_one_that_cannot_be_fitted_comes_with_the_reason():
    config = Mean.presets["default"]
    candidates = {"mean": (Mean, replace(config, num_outputs=5)), "nearest": (Nearest, Nearest.presets["default"])}
    fits = dict(fitted_side_by_side(candidates, task_of(small_data(num_samples=6), session=SIDE_BY_SIDE)))
    assert "made for 5 output channels" in str(fits["mean"])
    assert isinstance(fits["nearest"].operator, Nearest)


def test_callbacks_of_the_session_stay_in_this_process():
    stages = []
    session = Session(num_workers=2, on_stage=lambda stage: stages.append(stage))  # not to be pickled
    choice_of(("nearest", "mean"), session)
    assert stages[0] == "fitting nearest, mean"


def test_what_was_fitted_by_workers_is_kept_for_a_choice_that_is_resumed(tmp_path, monkeypatch):
    members = ("nearest", "mean")
    whole = choice_of(members, Session(num_workers=2, folder=tmp_path))
    monkeypatch.setattr("gola.fitting.auto.trial.fitted_side_by_side", lambda candidates, _: iter(candidates))
    resumed = choice_of(members, Session(num_workers=2, folder=tmp_path, resume=True))
    assert resumed.choice.candidates == whole.choice.candidates


def test_a_session_has_at_least_one_worker():
    with pytest.raises(ValueError, match="num_workers must be at least 1; got 0"):
        Session(num_workers=0)
