import numpy as np

from gola.data.constant_inputs import as_parameters, constant_inputs
from gola.data.dataset import Dataset
from gola.data.sample import Channel

POINTS = np.random.default_rng(0).random((20, 2))


def dataset():
    field = np.random.default_rng(1).random((3, 20))
    load = np.array([1.0, 2.0, 4.0])[:, None] * np.ones(20) * (1.0 + 1e-15)
    same = np.full((3, 20), 9.81)
    inputs = np.stack([field, load, same], axis=2)
    channels = ["f", Channel(name="load", unit="N"), "g"]
    return Dataset.from_arrays(POINTS, inputs, field, input_channels=channels, parameters={"angle": [3.0, 1.0, 2.0]})


def test_channels_of_one_number_per_sample_are_found():
    assert constant_inputs(dataset()) == [1]
    assert constant_inputs(dataset(), kinds=("parameter", "constant")) == [1, 2]


def test_they_become_parameters_and_nothing_else_changes():
    before = dataset()
    after = as_parameters(before, [1])
    assert [channel.name for channel in after.inputs] == ["f", "g"]
    assert after.parameters == (Channel(name="load", unit="N"), Channel(name="angle"))
    np.testing.assert_allclose(after.parameter_values, [[1.0, 3.0], [2.0, 1.0], [4.0, 2.0]])
    assert np.array_equal(after[1].inputs, before[1].inputs[:, [0, 2]])
    assert np.array_equal(after[1].targets, before[1].targets)
    assert as_parameters(before, []) is before
