import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.protocol import TrainingConfig
from gola.runs import RunConfig
from tests.runs.examples import small_run


def inputs_of(dataset):
    return {sample.inputs.sum() for sample in dataset}


def test_settings_survive_json(data):
    run = small_run(data, "gola", test_points=(20, 40), num_folds=3, fold=1)
    assert RunConfig.from_dict(json.loads(json.dumps(run.to_dict()))) == run
    run = small_run(data, "auto", settings={"members": ("linear", "kernel")})
    assert RunConfig.from_dict(json.loads(json.dumps(run.to_dict()))) == run


def test_every_fold_is_held_out_once_and_only_training_samples_are_split(data):
    run = small_run(data, num_points=None)
    train, test = run.samples()
    folds = [replace(run, num_folds=3, fold=fold).samples() for fold in range(3)]
    held_out = [inputs_of(tested) for _, tested in folds]
    assert set.union(*held_out) == inputs_of(train)
    assert sum(map(len, held_out)) == 6
    for fitted, tested in folds:
        assert inputs_of(fitted) == inputs_of(train) - inputs_of(tested)
        assert not inputs_of(fitted) & inputs_of(test)


def test_the_number_of_test_samples_alone_leaves_the_others_for_training(data):
    train, test = replace(small_run(data), num_train=None, num_test=4).whole_samples()
    assert (len(train), len(test)) == (8, 4)


def test_further_numbers_of_points_are_drawn_from_the_whole_test_samples(data):
    run = small_run(data, num_points=60, test_points=(20, 200))
    train, tests = run.samples_by_points()
    assert set(train.num_points) == {60}
    assert {number: set(tested.num_points) for number, tested in tests.items()} == {60: {60}, 20: {20}, 200: {200}}
    assert [sample.points.tolist() for sample in run.samples()[1]] == [s.points.tolist() for s in tests[60]]


def test_a_run_is_known_by_content_wherever_the_data_lie(data, tmp_path):
    run = small_run(data)
    moved = tmp_path / "moved.h5"
    shutil.copy(data, moved)
    assert replace(run, data=str(moved)).name == run.name
    Dataset.load(data).select(range(11)).save(moved)
    assert replace(run, data=str(moved)).name != run.name


def test_what_decides_the_result_changes_the_identity(data):
    run = small_run(data, "gola")
    others = [
        replace(run, settings={"width": 9}),
        replace(run, training=TrainingConfig(num_epochs=2)),
        replace(run, seed=1),
        replace(run, num_points=59),
        replace(run, test_points=(20,)),
        replace(run, num_folds=2, fold=0),
        replace(run, num_folds=2, fold=1),
    ]
    assert len({one.identity("x") for one in (run, *others)}) == 1 + len(others)
    assert replace(run, operator="gola/default").identity("x") == run.identity("x")


def test_training_settings_do_not_matter_to_an_operator_that_ignores_them(data):
    run = small_run(data, "linear")
    assert replace(run, training=TrainingConfig(num_epochs=7)).identity("x") == run.identity("x")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fold": 0}, "go together"),
        ({"num_folds": 3, "fold": 3}, "fold 3 of 3"),
        ({"num_folds": 1, "fold": 0}, "at least 2 folds"),
        ({"seed": -1}, "must not be negative"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        RunConfig(data="data.h5", **settings)


def test_more_folds_than_samples_are_refused(data):
    with pytest.raises(ValueError, match="6 training samples into 7 folds"):
        small_run(data, num_folds=7, fold=0).samples()


def test_folds_are_drawn_at_random(data):
    held_out = [small_run(data, num_points=None, num_folds=2, fold=0, seed=seed).samples()[1] for seed in (0, 1)]
    assert not np.array_equal(held_out[0][0].inputs, held_out[1][0].inputs)
