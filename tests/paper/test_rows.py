import math
from dataclasses import replace
from pathlib import Path

import pytest

from gola.protocol import TrainingConfig
from gola.runs import RunConfig
from paper.rows import Errors, Key, Row
from tests.paper.examples import made_result, made_row

RUN = RunConfig(data="data/darcy.h5", operator="gola", num_train=30, num_test=100, num_points=1000)


def test_a_row_keeps_mean_spread_median_and_largest_of_the_errors():
    row = made_row(RUN, 0.2, errors=(0.1, 0.1, 0.1, 0.5))
    assert row.errors == Errors(pytest.approx(0.2), pytest.approx(0.2), pytest.approx(0.1), 0.5)
    assert math.isnan(Errors.of([0.1]).std)


def test_a_row_names_its_problem_wherever_the_data_are():
    elsewhere = replace(RUN, data="/elsewhere/darcy.h5")
    assert made_row(elsewhere, 0.1).problem == "darcy"
    assert made_row(elsewhere, 0.1).run == made_row(RUN, 0.1).run


@pytest.mark.parametrize(
    "other",
    [
        {"data": "data/eikonal.h5"},
        {"operator": "gola/paper"},
        {"settings": {"width": 8}},
        {"training": TrainingConfig(num_steps=3)},
        {"num_train": 31},
        {"num_test": 99},
        {"num_points": None},
        {"whole_training": True},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_runs_of_different_settings_have_different_keys(other):
    assert Key.of(replace(RUN, **other)) != Key.of(RUN)
    assert Key.of(RUN, "L-BFGS at the end") != Key.of(RUN)


@pytest.mark.parametrize("other", [{"seed": 3}, {"operator": "gola/default"}, {"test_points": (20,)}])
def test_seed_default_preset_and_further_points_do_not_change_the_key(other):
    assert Key.of(replace(RUN, **other)) == Key.of(RUN)


def test_the_training_counts_only_for_operators_that_are_trained():
    longer = {"training": TrainingConfig(num_steps=3)}
    for name in ("linear", "auto"):
        run = replace(RUN, operator=name)
        assert Key.of(replace(run, **longer)) == Key.of(run)


def test_a_row_answers_runs_whose_further_points_it_has():
    row = made_row(replace(RUN, test_points=(100, 500)), 0.1)
    assert row.answers(RUN)
    assert row.answers(replace(RUN, test_points=(500,)))
    assert not row.answers(replace(RUN, test_points=(500, 4000)))


def test_time_and_settings_of_a_row_are_those_of_the_result():
    result = made_result(RUN, 0.1, seconds=12.0)
    again = Row.of(result).as_result()
    assert (again.seconds, again.run.settings, again.error) == (12.0, result.run.settings, pytest.approx(result.error))
    assert Path(again.run.data).stem == "darcy"
