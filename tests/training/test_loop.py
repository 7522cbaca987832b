import pytest
import torch

from gola.data.dataset import Dataset
from gola.operators import Gola, GolaConfig
from gola.problems import make_problem
from gola.training import Scaling, TrainingConfig, train

CONFIG = GolaConfig(width=8, num_modes=8, num_blocks=1, num_heads=1, radius=0.25)


@pytest.fixture(scope="module")
def samples():
    problem = make_problem("eikonal", resolution=16)
    dataset = Dataset.from_samples(problem.generate(0, range(4)), inputs=problem.inputs, targets=problem.targets)
    return dataset.subsample(60, seed=0)


def fitted(samples, config):
    scaling = Scaling.fit(samples)
    prepared = [scaling.prepare(sample, CONFIG.radius) for sample in samples]
    torch.manual_seed(0)
    operator = Gola(CONFIG)
    losses = []
    train(operator, prepared, scaling, config, on_epoch=lambda _, loss: losses.append(loss))
    return losses, scaling.errors(operator, prepared)


def test_training_lowers_the_error_and_reports_each_epoch(samples):
    losses, errors = fitted(samples, TrainingConfig(num_epochs=30, batch_size=2, learning_rate=1e-2))
    assert len(losses) == 30
    assert errors.mean() < losses[0] / 3


def test_the_same_seed_trains_to_the_same_numbers(samples):
    config = TrainingConfig(num_epochs=2, batch_size=2)
    assert fitted(samples, config)[0] == fitted(samples, config)[0]
    other = TrainingConfig(num_epochs=2, batch_size=2, seed=1)
    assert fitted(samples, config)[0] != fitted(samples, other)[0]


def test_errors_are_in_physical_units(samples):
    scaling = Scaling.fit(samples)
    prepared = [scaling.prepare(sample, CONFIG.radius) for sample in samples]
    zero = Gola(CONFIG)
    torch.nn.init.zeros_(zero.output.weight)
    torch.nn.init.zeros_(zero.output.bias)
    mean = scaling.targets.mean[0]
    expected = [float(((sample.targets - mean) ** 2).sum() / (sample.targets**2).sum()) ** 0.5 for sample in samples]
    assert scaling.errors(zero, prepared).tolist() == pytest.approx(expected, rel=1e-5)


def test_the_learning_rate_warms_up_and_falls_to_zero():
    config = TrainingConfig(learning_rate=1.0, warmup=0.1)
    assert config.learning_rate_at(0.05) == pytest.approx(0.5)
    assert config.learning_rate_at(0.1) == pytest.approx(1.0)
    assert config.learning_rate_at(0.55) == pytest.approx(0.5)
    assert config.learning_rate_at(1.0) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("settings", [{"num_epochs": 0}, {"learning_rate": -1.0}, {"warmup": 1.0}])
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        TrainingConfig(**settings)
