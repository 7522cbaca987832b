"""Learning the correction of an approximation."""

from dataclasses import replace

import numpy as np
import pytest

import gola
from gola import Dataset, Sample
from gola.fitting.auto.auto import AutoConfig
from gola.operators import MultiFidelityConfig


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def data(rng, quality=0.1, num_samples=14):
    """Solutions of amplitudes and phases, with an approximation that is too small by a fifth and a bit off."""
    samples = []
    for _ in range(num_samples):
        points = rng.random((80, 2))
        first, second = rng.normal(size=2)
        x, y = points.T
        source = first * np.sin(3 * x) + second * np.cos(2 * y)
        solution = np.sin(5 * x * y) * second + first**2 * np.cos(4 * x)
        cheap = 0.8 * solution + quality * first * y
        samples.append(Sample(points=points, inputs=np.stack([source, cheap], axis=1), targets=solution[:, None]))
    return Dataset.from_samples(samples, inputs=["source", "cheap"], targets=["solution"])


def error(surrogate, test):
    return gola.evaluate(surrogate, test, progress=False).mean


def test_a_correction_is_learned_where_that_is_better(rng):
    train, test = data(rng).split(num_train=10)
    plain = gola.fit(train, "kernel", progress=False)
    corrected = gola.fit(train.with_low_fidelity({"solution": "cheap"}), "kernel", progress=False)
    assert corrected.provenance["multi_fidelity"]["chosen"] == "corrected"
    assert error(corrected, test) < 0.3 * error(plain, test)
    assert corrected.scores["cv_error"] == pytest.approx(error(corrected, test), rel=2.0)


def test_an_exact_approximation_is_not_made_worse(rng):
    train, test = data(rng, quality=0.0).split(num_train=10)
    found = gola.fit(train.with_low_fidelity({"solution": "cheap"}), "kernel", progress=False)
    assert error(found, test) < 1e-6


@pytest.mark.parametrize("operator", ["spectral", "mean"])
def test_every_operator_adds_its_correction_in_the_units_of_the_data(rng, operator):
    train, test = data(rng, quality=0.02).split(num_train=10)
    train = train.with_low_fidelity({"solution": "cheap"})
    training = gola.TrainingConfig(num_steps=3)
    found = gola.fit(train, operator, training=training, progress=False)
    assert found.operator.name == "multi_fidelity"
    assert error(found, test) < 0.3


def test_an_approximation_that_says_nothing_does_no_harm(rng):
    drawn = data(rng)
    samples = [replace(one, inputs=np.stack([one.inputs[:, 0], rng.normal(size=80)], axis=1)) for one in drawn]
    noisy = Dataset.from_samples(samples, inputs=drawn.inputs, targets=drawn.targets)
    train, test = noisy.split(num_train=10)
    plain = gola.fit(train, "kernel", progress=False)
    found = gola.fit(train.with_low_fidelity({"solution": "cheap"}), "kernel", progress=False)
    assert error(found, test) < 1.1 * error(plain, test)


def test_a_saved_surrogate_predicts_the_same_also_elsewhere(rng, tmp_path):
    train, test = data(rng).split(num_train=10)
    found = gola.fit(train.with_low_fidelity({"solution": "cheap"}), "kernel", progress=False)
    found.save(tmp_path / "kept.gola")
    again = gola.Surrogate.load(tmp_path / "kept.gola")
    sample = test[0]
    np.testing.assert_allclose(
        again.predict(sample.points, sample.inputs), found.predict(sample.points, sample.inputs), rtol=1e-9
    )
    np.testing.assert_allclose(
        again.predict(sample.points, sample.inputs, at=sample.points[:5]),
        found.predict(sample.points, sample.inputs)[:5],
        rtol=1e-3,
        atol=1e-3,
    )


def test_the_automatic_choice_corrects_too(rng):
    train, test = data(rng).split(num_train=10)
    found = gola.fit(
        train.with_low_fidelity({"solution": "cheap"}), AutoConfig(members=("kernel", "linear")), progress=False
    )
    assert found.provenance["multi_fidelity"]["chosen"] == "corrected"
    assert error(found, test) < 0.2


def test_settings_say_which_channels_there_are():
    with pytest.raises(ValueError, match="an input channel, 0 to 0, or −1 for each of 2 targets"):
        MultiFidelityConfig(num_outputs=2, approximations=(0, 1))
