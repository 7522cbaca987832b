import warnings
from dataclasses import replace

import numpy as np
import pytest

import gola
from gola.data.sample import Channel
from gola.surrogate import coverage
from gola.surrogate.coverage import Coverage


def plate(hole, num_samples=6, num_points=400, seed=0):
    """Samples on a square with a round hole, each at its own points."""
    rng = np.random.default_rng(seed)
    points, inputs, targets = [], [], []
    for _ in range(num_samples):
        own = rng.random((3 * num_points, 2))
        own = own[np.linalg.norm(own - 0.5, axis=1) > hole][:num_points]
        rate = rng.uniform(1.0, 3.0)
        points.append(own)
        inputs.append(np.sin(rate * own[:, 0]))
        targets.append(np.cos(rate * own[:, 0]))
    return gola.Dataset.from_arrays(points, inputs, targets, input_channels=["load"], target_channels=["u"])


@pytest.fixture(scope="module")
def surrogate():
    return gola.fit(plate(hole=0.2), "mean")


def predicted(surrogate, points, values, at=None):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        surrogate.predict(points, values, at=at)
    return [str(warning.message) for warning in caught]


def test_samples_like_those_of_training_bring_no_warning(surrogate):
    for sample in plate(hole=0.2, seed=1):
        at = np.random.default_rng(0).permutation(sample.points)[:50] + 0.002
        assert predicted(surrogate, sample.points, sample.inputs, at=at) == []


def test_places_in_a_hole_are_told(surrogate):
    sample = plate(hole=0.2, seed=1)[0]
    (message,) = predicted(surrogate, sample.points, sample.inputs, at=[[0.5, 0.5], [0.1, 0.1]])
    assert "1 of 2 places to predict at lie outside the domain of the known points, the first at [0.5, 0.5]" in message


def test_inputs_far_outside_the_training_range_are_told_by_channel(surrogate):
    sample = plate(hole=0.2, seed=1)[0]
    (message,) = predicted(surrogate, sample.points, 10.0 * sample.inputs)
    assert message.startswith("load goes from")
    assert "the prediction is a guess" in message


def test_an_input_known_at_few_points_is_told(surrogate):
    sample = plate(hole=0.2, seed=1)[0]
    (message,) = predicted(surrogate, sample.points[:5], sample.inputs[:5])
    assert "known at 5 points, and at 400 or more in the training samples" in message


def test_a_network_that_saw_few_points_at_a_time_needs_no_more():
    training = gola.TrainingConfig(num_steps=1, points_per_epoch=40, validation_share=0.0, patience=None)
    surrogate = gola.fit(plate(hole=0.2), "deeponet", training=training)
    sample = plate(hole=0.2, seed=1)[0]
    assert predicted(surrogate, sample.points[:40], sample.inputs[:40], at=sample.points[:40]) == []


def test_samples_with_their_own_domains_keep_no_common_one():
    holes = [plate(hole=hole, num_samples=1, seed=3)[0] for hole in (0.05, 0.3, 0.45)]
    assert len(Coverage.of(holes).points) == 0
    assert len(Coverage.of(list(plate(hole=0.2))).points) == 2400


def test_it_is_kept_in_the_file(surrogate, tmp_path):
    surrogate.save(tmp_path / "plate.gola")
    loaded = gola.Surrogate.load(tmp_path / "plate.gola")
    assert np.array_equal(loaded.coverage.points, surrogate.coverage.points)
    assert loaded.coverage.to_dict() == surrogate.coverage.to_dict()


def test_parameters_over_decades_are_judged_by_their_logarithms():
    def said(low, high, value):
        coverage = replace(whole, lowest_parameters=(low,), highest_parameters=(high,), num_samples=30)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            coverage.warn_of_parameters(np.array([value]), [Channel(name="k")])
        return len(caught)

    whole = Coverage(points=np.empty((0, 2)), lower=(), upper=(), fewest_points=4)
    # A tenth of the range is allowed: of 9 it is 0.9, of the decades from 1 to 100 a factor of 1.6.
    assert [said(1.0, 10.0, value) for value in (10.8, 11.0, 0.2, -0.1)] == [0, 1, 0, 1]
    assert [said(1.0, 100.0, value) for value in (155.0, 170.0, 0.65, 0.5, -1.0)] == [0, 1, 0, 1, 1]


def test_of_very_many_points_some_are_compared(monkeypatch):
    monkeypatch.setattr(coverage, "_MOST_COMPARED", 300)
    test_samples_with_their_own_domains_keep_no_common_one()
