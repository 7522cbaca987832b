import math
from dataclasses import replace

import pytest
import torch

from gola.data.sample import Channel
from gola.fitting.training import train
from gola.fitting.training.rates import with_chosen_rate
from gola.operators import Gola, GolaConfig
from gola.operators.scaling import Scaling
from gola.protocol import FitTask, TrainingConfig
from tests.fits import small_data

BRIEF = TrainingConfig(num_epochs=20, batch_size=3, rates=(1e-9, 1e-2), points_per_epoch=30)


@pytest.fixture(scope="module")
def task():
    samples = list(small_data(num_samples=6, num_points=40))
    channels = {"inputs": (Channel(name="speed"),), "targets": (Channel(name="travel_time"),)}
    return FitTask(samples=samples, **channels, training=BRIEF)


def operator():
    torch.manual_seed(0)
    return Gola(GolaConfig(width=8, num_modes=8, num_heads=1, radius=0.3))


def chosen(task):
    return with_chosen_rate(operator(), task, Scaling.fit(task.samples), train)


def test_a_rate_that_learns_is_preferred_to_one_that_does_not(task):
    config = chosen(task)
    assert config == replace(BRIEF, rates=(), learning_rate=1e-2)


def test_the_operator_that_rates_are_tried_for_does_not_change(task):
    mine = operator()
    before = {name: value.clone() for name, value in mine.state_dict().items()}
    with_chosen_rate(mine, task, Scaling.fit(task.samples), train)
    assert all(torch.equal(value, before[name]) for name, value in mine.state_dict().items())


def test_training_goes_on_with_the_chosen_rate(task):
    history = train(operator(), task, Scaling.fit(task.samples))
    assert len(history) == 20
    assert max(epoch.learning_rate for epoch in history) > 1e-3


def test_trials_see_four_fifths_of_the_samples_for_a_fifth_of_the_steps(task):
    seen = []

    def count(trial, part, scaling):
        seen.append((len(part.samples), part.training.num_epochs, part.training.learning_rate))
        return train(trial, replace(part, training=replace(part.training, num_epochs=1)), scaling)

    with_chosen_rate(operator(), task, Scaling.fit(task.samples), count)
    assert seen == [(5, 5, 1e-9), (5, 5, 1e-2)]


def test_two_samples_are_too_few_to_choose_by(task):
    assert chosen(task.select([0, 1])) == replace(BRIEF, rates=())


def test_nothing_is_tried_without_rates(task):
    def never(*_):
        raise AssertionError

    plain = replace(BRIEF, rates=())
    assert with_chosen_rate(operator(), replace(task, training=plain), Scaling.fit(task.samples), never) == plain


@pytest.mark.parametrize("rates", [(0.0, 1e-3), (-1.0,), (math.nan,)])
def test_rates_that_are_none_are_refused(rates):
    with pytest.raises(ValueError, match="rates must be learning rates greater than 0"):
        TrainingConfig(rates=rates)
