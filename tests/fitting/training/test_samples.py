import numpy as np
import pytest
import torch

from gola.fitting.training.samples import Objective, PreparedSamples
from gola.operators import Gola, GolaConfig
from gola.operators.scaling import Scaling
from tests.fits import small_data

CONFIG = GolaConfig(width=8, num_modes=8, num_blocks=1, num_heads=1, radius=0.3)


@pytest.fixture(scope="module")
def ragged():
    """Samples with 30 to 45 points."""
    many, few = small_data(num_samples=2, num_points=45), small_data(num_samples=4, num_points=30)
    return [*many, *list(few)[2:]]


def prepared(samples, num_points=None, seed=0):
    torch.manual_seed(0)
    return PreparedSamples(
        samples=samples, operator=Gola(CONFIG), scaling=Scaling.fit(samples), num_points=num_points, seed=seed
    )


def test_graphs_are_built_once(ragged, monkeypatch):
    samples = prepared(ragged)
    first, _ = samples.batch([0, 2], epoch=0)
    monkeypatch.setattr("gola.operators.cloud.radius_neighbourhood", None)
    again, _ = samples.batch([0, 2], epoch=1)
    assert torch.equal(first.neighbourhood.senders, again.neighbourhood.senders)


def test_points_are_drawn_again_in_every_epoch_and_the_same_for_the_same_seed(ragged):
    def points(epoch, seed=0):
        return prepared(ragged, num_points=20, seed=seed).batch([0], epoch)[0].points

    assert len(points(0)) == 20
    assert torch.equal(points(3), points(3))
    assert not torch.equal(points(3), points(4))
    assert not torch.equal(points(3), points(3, seed=1))


def test_a_sample_with_fewer_points_than_are_drawn_keeps_all(ragged):
    cloud, targets = prepared(ragged, num_points=40).batch([0, 2], epoch=0)
    assert cloud.sizes == [40, 30]
    assert len(targets) == 70


def test_a_batch_of_ragged_samples_has_the_errors_of_its_samples(ragged):
    samples = prepared(ragged)
    objective = Objective(samples.operator, samples)
    together, penalties = objective([0, 2, 3], 0)
    alone = torch.cat([objective([row], 0)[0] for row in (0, 2, 3)])
    assert penalties is None
    assert torch.allclose(together, alone, rtol=1e-5)


def test_errors_are_in_physical_units(ragged):
    samples = prepared(ragged)
    torch.nn.init.zeros_(samples.operator.output.weight)
    torch.nn.init.zeros_(samples.operator.output.bias)
    mean = samples.scaling.targets.mean[0]
    expected = [float(np.linalg.norm(one.targets - mean) / np.linalg.norm(one.targets)) for one in ragged]
    assert Objective(samples.operator, samples)([0, 1, 2, 3], 0)[0].tolist() == pytest.approx(expected, rel=1e-5)
