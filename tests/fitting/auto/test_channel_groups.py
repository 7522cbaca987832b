from dataclasses import replace

import numpy as np
import pytest

import gola
from gola.data.sample import Channel
from gola.fitting.auto.auto import AutoConfig
from gola.fitting.auto.channel_groups import channel_groups
from tests.fits import small_data


def with_noise():
    rng = np.random.default_rng(0)
    data = small_data(num_samples=10)
    samples = [replace(one, targets=np.hstack([rng.standard_normal(one.targets.shape), one.targets])) for one in data]
    return gola.Dataset.from_samples(samples, inputs=data.inputs, targets=["noise", "time"]), data


def test_channels_that_are_about_as_hard_stay_together():
    channels = [Channel(name=name) for name in "abc"]
    assert channel_groups(np.array([0.1, 0.15, 0.12]), channels) == [(0, 1, 2)]
    assert channel_groups(np.array([0.1, 0.9, 0.0]), channels) == [(0,), (1,), (2,)]


def test_a_channel_of_noise_does_not_spoil_the_others(tmp_path):
    noisy, clean = with_noise()
    config = AutoConfig(members=("kernel", "mean"))
    both, alone = gola.fit(noisy, config), gola.fit(clean, config)
    sample = noisy[0]
    predicted = both.predict(sample.points, sample.inputs)
    np.testing.assert_allclose(predicted[:, 1:], alone.predict(sample.points, sample.inputs))
    choice = both.provenance["choice"]
    assert "For noise: Errors" in choice["why"]
    assert "For time: Errors" in choice["why"]
    assert [group["channels"] for group in choice["groups"]] == [[0], [1]]
    assert both.scores["cv_error"] == pytest.approx(choice["error"])

    both.save(tmp_path / "both.gola")
    loaded = gola.Surrogate.load(tmp_path / "both.gola")
    assert np.array_equal(loaded.predict(sample.points, sample.inputs), predicted)
    at = [[0.3, 0.4]]
    assert both.predict(sample.points, sample.inputs, at=at).shape == (1, 2)


def test_channels_are_treated_apart_within_a_time_limit_too(tmp_path):
    noisy, _ = with_noise()
    limited = gola.fit(noisy, AutoConfig(members=("kernel", "mean")), time_limit=1000.5, progress=False)
    limited.save(tmp_path / "both.gola")
    loaded = gola.Surrogate.load(tmp_path / "both.gola")
    sample = noisy[0]
    assert len(loaded.operator.config.groups) == 2
    assert np.array_equal(loaded.predict_sample(sample), limited.predict_sample(sample))
