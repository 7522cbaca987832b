"""Networks that are trained side by side."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gola.fitting.auto.preprocessed import PreprocessedSamples
from gola.fitting.auto.training_plans import EnsembleTrainer, TrainingPlan
from gola.operators import Spectral, SpectralConfig
from gola.operators.closed_form.preprocessing import Preprocessing
from gola.operators.scaling import Scaling
from gola.protocol import Session
from tests.fits import small_data, task_of

PLANS = [TrainingPlan(name=f"network-{fold}", fold=fold, num_steps=4, residual_weight=0.1) for fold in range(3)]


@pytest.fixture(autouse=True)
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def trainer(session=None, **changes):
    samples = list(small_data(num_samples=6, num_points=60))
    scaling = Scaling.fit(samples, normalised=False)
    return EnsembleTrainer(
        kind=Spectral,
        config=SpectralConfig(num_modes=2, width=4, num_blocks=1),
        samples={"": PreprocessedSamples.of(samples, scaling, Preprocessing(1))},
        folds=np.array_split(np.arange(6), 3),
        task=replace(task_of(samples, session=session or Session()), **changes),
        num_steps=12,
    )


def test_networks_side_by_side_are_those_trained_one_by_one():
    together = trainer().trained(*PLANS)
    for plan, (network, predictions) in zip(PLANS, together, strict=True):
        ((alone, expected),) = trainer().trained(plan)
        for name, values in alone.state_dict().items():
            torch.testing.assert_close(network.state_dict()[name], values, rtol=1e-4, atol=1e-5)
        assert predictions.keys() == expected.keys() == {2 * plan.fold, 2 * plan.fold + 1}


def test_steps_of_all_networks_are_counted_together():
    steps = []
    trainer(Session(on_progress=lambda now: steps.append((now.step, now.num_steps)))).trained(*PLANS)
    assert steps == [(step, 12) for step in range(1, 13)]


def test_when_one_network_fails_the_others_keep_their_state_and_end(tmp_path):
    def fail(now):
        if now.step == 5:
            raise RuntimeError("failed")

    session = Session(folder=tmp_path, checkpoint_seconds=1e9, on_progress=fail)
    with pytest.raises(RuntimeError, match="failed"):
        trainer(session).trained(*[replace(plan, num_steps=2000, residual_weight=0.0) for plan in PLANS])
    assert any(path.is_file() for path in tmp_path.rglob("*"))
    assert torch.get_num_threads() == 2


def test_all_end_when_asked_to_stop(tmp_path):
    steps = []
    session = Session(folder=tmp_path, on_progress=steps.append, stop=lambda: len(steps) > 2)
    with pytest.raises(KeyboardInterrupt):
        trainer(session).trained(*PLANS)
    assert len(steps) < 7


def test_networks_learn_from_some_of_many_points_and_predict_at_all(monkeypatch):
    monkeypatch.setattr("gola.fitting.auto.training_plans._MOST_POINTS", 40)
    learned = []

    def train(_network, task, _scaling):
        learned.append(task.samples)
        return []

    trained = trainer(train=train).trained(*PLANS[:2])
    first, second = learned
    assert {sample.num_points for sample in [*first, *second]} == {40}
    assert not np.array_equal(first[-1].points, second[-1].points), "every network has its own"
    assert {len(values) for _, predictions in trained for values in predictions.values()} == {60}
