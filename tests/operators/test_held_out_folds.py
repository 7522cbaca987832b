"""Networks that predict training samples they have not seen, in further training runs."""

import numpy as np
import pytest
import torch

from gola.fitting.configs import config_for
from gola.operators import GcnConfig
from gola.operators.baselines.gcn import Gcn
from gola.operators.held_out_folds import held_out_by_folds, predicted_at_points
from gola.protocol import Session, TrainingConfig
from tests.fits import small_data, task_of

SETTINGS = {"width": 8, "output_width": 8}


@pytest.fixture(scope="module")
def data():
    return small_data(num_samples=6, num_points=40)


def task_with(data, num_folds, **settings):
    return task_of(list(data), training=TrainingConfig(num_epochs=2, held_out_folds=num_folds), **settings)


def test_each_sample_is_predicted_by_a_network_trained_without_its_fold(data):
    config = config_for(data, "gcn", **SETTINGS)
    task = task_with(data, 3, seed=4)
    found = held_out_by_folds(Gcn(config), task)
    fold = np.array_split(np.random.default_rng(4).permutation(6), 3)[1]
    others = task_with(data, 0, seed=4).select([row for row in range(6) if row not in fold])
    torch.manual_seed(4)
    result = Gcn(config).fit(others)
    for row in fold:
        wanted = predicted_at_points(result.operator, result.scaling, data[int(row)])
        np.testing.assert_allclose(found[row], wanted, rtol=1e-5)


def test_a_fit_that_is_asked_for_it_brings_held_out_predictions_and_their_error(data):
    config = config_for(data, "gcn", **SETTINGS)
    assert Gcn(config).fit(task_with(data, 0)).held_out is None
    result = Gcn(config).fit(task_with(data, 2))
    assert result.held_out.method == "2-fold cross-validation"
    assert [one.shape for one in result.held_out.predictions] == [(40, 1)] * 6
    assert result.scores["cv_error"] > 0.0


def test_states_of_all_folds_are_kept_apart(data, tmp_path):
    config = config_for(data, "gcn", **SETTINGS)
    session = Session(folder=tmp_path, checkpoint_seconds=0.0)
    first = Gcn(config).fit(task_with(data, 2, session=session))
    assert (tmp_path / "without-fold-2" / "checkpoint.pt").exists()
    again = Gcn(config).fit(task_with(data, 2, session=Session(folder=tmp_path, resume=True)))
    np.testing.assert_array_equal(first.held_out.predictions[0], again.held_out.predictions[0])


def test_more_folds_than_samples_and_several_devices_are_refused(data):
    with pytest.raises(ValueError, match="Cannot hold out 7 folds of 6 training samples"):
        held_out_by_folds(Gcn(GcnConfig(**SETTINGS)), task_with(data, 7))
    with pytest.raises(ValueError, match="trains on one device"):
        held_out_by_folds(Gcn(GcnConfig(**SETTINGS)), task_with(data, 2, session=Session(devices=2)))
    with pytest.raises(ValueError, match="held_out_folds must be 0, for none, or at least 2"):
        TrainingConfig(held_out_folds=1)
