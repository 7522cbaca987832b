import numpy as np
import pytest

from gola.data.mirror import Mirror
from gola.data.sample import Channel
from gola.fitting.training import train
from gola.fitting.training.augmentation import augmented
from gola.operators import Spectral, SpectralConfig
from gola.operators.scaling import Scaling
from gola.protocol import FitTask, Session, TrainingConfig
from tests.fits import small_data

SQUARE = ("-xy", "yx")


def samples_and_mirror(num_samples=3, inputs=(), targets=()):
    samples = list(small_data(num_samples=num_samples, num_points=40))
    return samples, Mirror.of(Scaling.fit(samples).frame, inputs, targets)


def test_all_copies_of_all_samples_follow_the_samples():
    samples, mirror = samples_and_mirror()
    found = augmented(samples, SQUARE, mirror, seed=0)
    assert len(found) == 3 * 8
    assert all(own is sample for own, sample in zip(found, samples, strict=False))
    assert len({one.points.tobytes() for one in found[3:10]}) == 7
    assert all(np.array_equal(one.targets, samples[0].targets) for one in found[3:10])


def test_without_symmetries_there_are_only_the_samples():
    samples, mirror = samples_and_mirror()
    assert augmented(samples, (), mirror, seed=0) == samples
    assert augmented([], SQUARE, mirror, seed=0) == []


def test_where_all_copies_are_too_many_each_sample_has_some(monkeypatch):
    samples, mirror = samples_and_mirror()
    monkeypatch.setattr("gola.fitting.training.augmentation._MOST", 10)
    found = augmented(samples, SQUARE, mirror, seed=0)
    assert len(found) == 9
    again = augmented(samples, SQUARE, mirror, seed=0)
    assert all(np.array_equal(one.points, other.points) for one, other in zip(found, again, strict=True))
    monkeypatch.setattr("gola.fitting.training.augmentation._MOST", 2)
    assert augmented(samples, SQUARE, mirror, seed=0) == samples


def test_symmetries_that_do_not_fit_the_samples_are_refused():
    samples, mirror = samples_and_mirror()
    with pytest.raises(ValueError, match="'-xyz' is for points with 3 coordinates; these have 2"):
        augmented(samples, ("-xyz",), mirror, seed=0)
    _, mirror = samples_and_mirror(inputs=[Channel(name="flow_x")])
    with pytest.raises(ValueError, match="'yx' maps components of vectors to each other"):
        augmented(samples, ("yx",), mirror, seed=0)


def test_a_network_learns_from_copies_but_not_from_those_of_samples_set_aside():
    config = TrainingConfig(num_epochs=1, batch_size=1, symmetries=("yx",), validation_from=4, validation_share=0.25)
    network = Spectral(SpectralConfig(num_modes=2, width=4, num_blocks=1))
    steps = []
    session = Session(on_progress=lambda now: steps.append(now.step))
    task = FitTask.of(small_data(num_samples=4, num_points=40), training=config, session=session)
    train(network, task, Scaling.fit(task.samples))
    assert steps == [1, 2, 3, 4, 5, 6], "three samples and a copy of each"
