import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gola.data.statistics import moments
from gola.operators.normaliser import Normaliser


def test_training_values_get_zero_mean_and_unit_spread():
    values = [np.random.default_rng(seed).normal(5.0, 3.0, size=(40, 2)) * [1.0, 1e-4] for seed in range(6)]
    encoded = Normaliser.fit(values).encode(torch.tensor(np.stack(values)))
    np.testing.assert_allclose(encoded.mean(dim=(0, 1)), 0.0, atol=1e-12)
    np.testing.assert_allclose(encoded.std(dim=(0, 1), correction=0), 1.0, rtol=1e-12)


def test_every_sample_counts_equally_however_many_points_it_has():
    mean, std = moments([np.zeros((1000, 1)), np.full((10, 1), 2.0)])
    assert mean == pytest.approx(1.0)
    assert std == pytest.approx(1.0)


@pytest.mark.parametrize("value", [0.0, 0.1, -1e8, 1e-30])
def test_a_constant_channel_becomes_zero_and_comes_back(value):
    normaliser = Normaliser.fit([np.full((n, 1), value) for n in (3, 7, 11)])
    encoded = normaliser.encode(torch.full((4, 1), value, dtype=torch.float64))
    assert normaliser.scale == (1.0,)
    np.testing.assert_allclose(encoded, 0.0, atol=1e-12 * max(abs(value), 1.0))
    np.testing.assert_allclose(normaliser.decode(encoded), value, rtol=1e-12)


def test_small_variations_of_a_large_value_keep_their_digits():
    pressure = 101325.0 + 0.05 * np.random.default_rng(0).standard_normal((500, 1))
    encoded = Normaliser.fit([pressure]).encode(torch.tensor(pressure))
    assert encoded.std() == pytest.approx(1.0, rel=0.01)


@given(arrays(np.float64, (7, 3), elements=st.floats(-1e6, 1e6)))
def test_decoding_undoes_encoding(values):
    normaliser = Normaliser.fit([values])
    back = normaliser.decode(normaliser.encode(torch.tensor(values)))
    np.testing.assert_allclose(back, values, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(values).max()))


def test_keeps_the_precision_of_the_values():
    normaliser = Normaliser(mean=(1.0,), scale=(2.0,))
    assert normaliser.encode(torch.ones(3, 1, dtype=torch.float32)).dtype == torch.float32
    assert normaliser.decode(torch.ones(3, 1, dtype=torch.float64)).dtype == torch.float64


def test_survives_json_to_the_last_bit():
    normaliser = Normaliser.fit([np.random.default_rng(0).random((5, 3))])
    assert Normaliser.from_dict(json.loads(json.dumps(normaliser.to_dict()))) == normaliser


def test_refuses_values_with_other_channels():
    with pytest.raises(ValueError, match="fitted to 2 channels; got values with 3"):
        Normaliser(mean=(0.0, 0.0), scale=(1.0, 1.0)).encode(torch.zeros(4, 3))


@pytest.mark.parametrize("scale", [(0.0,), (float("nan"),), (1.0, 1.0)])
def test_refuses_scales_that_cannot_be_divided_by(scale):
    with pytest.raises(ValueError, match=r"positive scales|finite numbers"):
        Normaliser(mean=(0.0,), scale=scale)


def test_needs_a_sample():
    with pytest.raises(ValueError, match="at least one sample"):
        Normaliser.fit([])
