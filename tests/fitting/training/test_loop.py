import math
from dataclasses import asdict, replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from gola.data.sample import Channel
from gola.fitting.training import train
from gola.fitting.training.samples import Objective, PreparedSamples
from gola.operators import Gola, GolaConfig
from gola.operators.baselines.fno import Fno, FnoConfig
from gola.operators.scaling import Scaling
from gola.protocol import FitTask, Session, TrainingConfig
from tests.fits import small_data

CONFIG = GolaConfig(width=8, num_modes=8, num_blocks=1, num_heads=1, radius=0.3)
SHORT = TrainingConfig(num_epochs=3, batch_size=3, learning_rate=1e-2)
MIXED = Session(precision="bf16-mixed", accelerator="cpu")


@pytest.fixture(scope="module")
def samples():
    """Samples of 40 points, and two of 25."""
    return [*small_data(num_samples=5, num_points=40), *list(small_data(num_samples=7, num_points=25))[5:]]


def trained(samples, config, seed=0, session=None, operator=None):
    torch.manual_seed(seed)
    operator = operator or Gola(CONFIG)
    task = FitTask(
        samples=samples,
        inputs=(Channel(name="speed"),),
        targets=(Channel(name="travel_time"),),
        training=config,
        seed=seed,
        session=session or Session(),
    )
    history = train(operator, task, Scaling.fit(samples))
    return history, operator.state_dict()


def without_seconds(history):
    return [{**asdict(epoch), "seconds": None} for epoch in history]


def assert_same(first, second):
    assert without_seconds(first[0]) == without_seconds(second[0])
    assert all(torch.equal(first[1][name], second[1][name]) for name in first[1])


def interrupted(samples, config, folder, step):
    """Train until a step, as if the process had died there."""

    def die(progress):
        if progress.step == step:
            raise RuntimeError("died")

    with pytest.raises(RuntimeError, match="died"):
        trained(samples, config, session=Session(folder=folder, checkpoint_seconds=0.0, on_progress=die))


def test_training_lowers_the_error_and_reports_each_epoch(samples):
    history, _ = trained(samples, TrainingConfig(num_epochs=30, batch_size=3, learning_rate=1e-2))
    assert [epoch.number for epoch in history] == list(range(1, 31))
    assert history[-1].training_error < history[0].training_error / 3
    assert history[-1].learning_rate == pytest.approx(0.0, abs=1e-12)
    assert all(a.seconds < b.seconds for a, b in pairwise(history))


def test_complex_weights_are_trained_too(samples):
    operator = Fno(FnoConfig(width=4, num_modes=2, num_layers=1))
    assert any(weight.is_complex() for weight in operator.parameters())
    history, _ = trained(samples, SHORT, operator=operator)
    assert history[-1].training_error < history[0].training_error


def test_the_same_seed_trains_to_the_same_weights(samples):
    assert_same(trained(samples, SHORT), trained(samples, SHORT))
    assert without_seconds(trained(samples, SHORT)[0]) != without_seconds(trained(samples, SHORT, seed=1)[0])


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"averaging": 0.9},
        {"points_per_epoch": 20},
        {"validation_share": 0.3, "validation_from": 1, "averaging": 0.9, "points_per_epoch": 20},
    ],
    ids=["plain", "averaged", "resampled", "validated"],
)
@pytest.mark.parametrize("step", [1, 3, 5])  # inside the first epoch, at its end, inside the second
def test_a_resumed_training_run_ends_with_the_very_same_weights(samples, tmp_path, changes, step):
    config = replace(SHORT, **changes)
    interrupted(samples, config, tmp_path, step)
    steps = []
    session = Session(folder=tmp_path, resume=True, on_progress=lambda progress: steps.append(progress.step))
    assert_same(trained(samples, config, session=session), trained(samples, config))
    assert steps[0] == step + 1


def test_a_finished_training_run_leaves_its_state_until_its_result_is_saved(samples, tmp_path):
    first = trained(samples, SHORT, session=Session(folder=tmp_path))
    steps = []
    session = Session(folder=tmp_path, resume=True, on_progress=steps.append)
    assert_same(trained(samples, SHORT, session=session), first)
    assert not steps


def test_a_wish_to_stop_saves_the_state_first(samples, tmp_path):
    asked = iter([False, True])
    with pytest.raises(KeyboardInterrupt):
        trained(samples, SHORT, session=Session(folder=tmp_path, stop=lambda: next(asked)))
    session = Session(folder=tmp_path, resume=True)
    assert_same(trained(samples, SHORT, session=session), trained(samples, SHORT))


def test_other_settings_do_not_continue_from_a_state(samples, tmp_path):
    interrupted(samples, SHORT, tmp_path, 2)
    other = replace(SHORT, learning_rate=1e-3)
    with pytest.raises(ValueError, match=r"learning_rate 0.01 \(now 0.001\)"):
        trained(samples, other, session=Session(folder=tmp_path, resume=True))


def test_resampled_points_change_the_errors_and_a_later_epoch_sees_others(samples):
    resampled = replace(SHORT, points_per_epoch=20)
    assert trained(samples, resampled)[0][0].training_error != trained(samples, SHORT)[0][0].training_error


def test_the_weights_of_the_best_epoch_are_kept_and_no_progress_ends_the_training(samples):
    # A rate that only does harm once the first epochs are over.
    config = TrainingConfig(
        num_epochs=60, batch_size=2, learning_rate=0.3, warmup=0.9, validation_share=0.3, validation_from=1, patience=4
    )
    history, weights = trained(samples, config)
    errors = [epoch.validation_error for epoch in history]
    best = errors.index(min(errors))
    assert len(history) == best + 1 + 4 < 60
    operator = Gola(CONFIG)
    operator.load_state_dict(weights)
    set_aside = [samples[row] for row in np.random.default_rng(0).permutation(len(samples))[:2]]
    prepared = PreparedSamples(samples=set_aside, operator=operator, scaling=Scaling.fit(samples))
    assert Objective(operator, prepared)([0, 1], 0)[0].mean().item() == pytest.approx(min(errors), rel=1e-5)


def test_the_mean_of_the_weights_replaces_them_in_the_end(samples):
    averaged = replace(SHORT, averaging=0.99)
    first, second = trained(samples, SHORT), trained(samples, averaged)
    assert without_seconds(first[0]) == without_seconds(second[0])
    assert not torch.equal(first[1]["output.weight"], second[1]["output.weight"])


def test_mixed_precision_trains_to_about_the_same_error(samples):
    config = TrainingConfig(num_epochs=10, batch_size=3, learning_rate=3e-3)
    exact = trained(samples, config)[0]
    mixed = trained(samples, config, session=MIXED)[0]
    assert mixed[0].training_error == pytest.approx(exact[0].training_error, rel=0.02)
    assert mixed[-1].training_error == pytest.approx(exact[-1].training_error, rel=0.1)
    assert mixed[-1].training_error != exact[-1].training_error


def test_mixed_precision_resumes_exactly_too(samples, tmp_path):
    asked = iter([False, False, False, True])
    with pytest.raises(KeyboardInterrupt):
        trained(samples, SHORT, session=replace(MIXED, folder=tmp_path, stop=lambda: next(asked)))
    resumed = trained(samples, SHORT, session=replace(MIXED, folder=tmp_path, resume=True))
    assert_same(resumed, trained(samples, SHORT, session=MIXED))


def test_weights_that_run_away_are_reported(samples):
    config = TrainingConfig(num_epochs=20, batch_size=3, learning_rate=1e30, warmup=0.0, clip=1e30)
    with pytest.raises(ValueError, match=r"the weights have run away. Lower the learning rate"):
        trained(samples, config)


def test_loggers_get_every_epoch(samples):
    class Notebook:
        rows: list = []  # noqa: RUF012

        def log_metrics(self, metrics, step=None):
            self.rows.append((step, metrics))

    history, _ = trained(samples, SHORT, session=Session(loggers=[Notebook()]))
    assert [step for step, _ in Notebook.rows] == [1, 2, 3]
    assert Notebook.rows[-1][1]["training_error"] == history[-1].training_error
    assert "validation_error" not in Notebook.rows[-1][1]
    assert all(math.isfinite(value) for _, metrics in Notebook.rows for value in metrics.values())
