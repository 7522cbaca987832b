"""Times of trajectories as they enter a data set."""

import numpy as np
import pytest

from gola.data.dataset import Dataset
from tests.data.trajectories import cooling

POINTS = np.random.default_rng(0).random((5, 2))
TIMES = np.array([0.0, 0.5, 1.0])


def made(inputs=None, targets=None, times=TIMES, **options):
    options.setdefault("parameters", [[1.0], [2.0]])
    targets = np.ones((2, 3, 5)) if targets is None else targets
    return Dataset.from_arrays(POINTS, inputs, targets, times=times, **options)


def test_targets_of_a_single_channel_need_no_axis_for_it():
    assert made()[0].targets.shape == made(targets=np.ones((2, 3, 5, 1)))[0].targets.shape == (3, 5, 1)
    assert [channel.name for channel in made(targets=np.ones((2, 3, 5, 2))).targets] == ["target_0", "target_1"]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((2, 5), (5, 1)),  # a single constant channel
        ((2, 5, 2), (5, 2)),  # two constant channels
        ((2, 3, 5), (3, 5, 1)),  # a single channel per time
        ((2, 3, 5, 2), (3, 5, 2)),
    ],
)
def test_inputs_are_constant_or_given_for_each_time(shape, expected):
    data = made(inputs=np.ones(shape))
    assert data[1].inputs.shape == expected
    assert len(data.inputs) == expected[-1]
    assert data[1].has_inputs_per_time == (len(expected) == 3)


def test_as_many_points_as_times_leave_no_doubt():
    points = POINTS[:3]
    channels = Dataset.from_arrays(points, np.ones((2, 3, 2)), np.ones((2, 3, 3)), times=TIMES)
    assert channels[0].inputs.shape == (3, 2)
    per_time = Dataset.from_arrays(points, np.ones((2, 3, 3)), np.ones((2, 3, 3)), times=TIMES)
    assert per_time[0].inputs.shape == (3, 3, 1)


def test_times_may_be_a_list_for_all_or_one_list_each():
    assert made(times=[0, 1, 2])[1].times.tolist() == [0.0, 1.0, 2.0]
    data = made(targets=[np.ones((2, 5)), np.ones((3, 5))], times=[[0.0, 1.0], [0.0, 1.0, 2.0]])
    assert [len(times) for times in data.times] == [2, 3]
    assert [sample.targets.shape for sample in data] == [(2, 5, 1), (3, 5, 1)]


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([0.0, 1.0, 1.0], r"times must ascend, none twice; number 2 is 1.0 after 1.0"),
        ([0.0, np.nan, 1.0], "times must be finite numbers; number 1 is not"),
        (["a", "b", "c"], "times must be a list of numbers"),
        ([[0.0, 1.0, 2.0]], "There are 2 samples, and times for 1"),
        ([0.0, 1.0], r"Sample 0: targets must have one row for each of the 5 points .* for each of 2 times; got shape"),
    ],
)
def test_bad_times_are_refused(times, message):
    with pytest.raises(ValueError, match=message):
        made(times=times)


def test_a_bad_value_is_named_by_its_time():
    targets = np.ones((2, 3, 5))
    targets[1, 2, 4] = np.nan
    with pytest.raises(ValueError, match=r"Sample 1, target channel 'target', time 2, row 4 is nan \(1 of 15 rows"):
        made(targets=targets)


def test_an_axis_of_times_without_times_is_explained():
    with pytest.raises(ValueError, match="Several times of one simulation make a trajectory: give times too"):
        Dataset.from_arrays(POINTS, np.ones((2, 5)), np.ones((2, 3, 5, 1)), target_channels=["u"])


def test_all_samples_are_trajectories_or_none():
    with_time, without = made()[0], Dataset.from_arrays(POINTS, targets=np.ones((2, 5)), parameters=[1.0, 2.0])[0]
    with pytest.raises(
        ValueError, match=r"times for every sample or none: the first sample has them, Sample 1 has not"
    ):
        Dataset.from_samples([with_time, without], targets=["u"], parameters=["p"])
    per_time, constant = made(inputs=np.ones((2, 3, 5)))[0], made(inputs=np.ones((2, 5)))[0]
    with pytest.raises(ValueError, match=r"inputs for each time for every sample or none: Sample 1 has them"):
        Dataset.from_samples([constant, per_time], inputs=["f"], targets=["u"], parameters=["p"])


def test_nothing_divides_a_trajectory():
    data = cooling(own_times=True)
    train, test = data.split(8)
    assert all(len(sample.targets) == len(sample.times) for part in (train, test) for sample in part)
    fewer = data.subsample(10)
    assert fewer[1].targets.shape == (7, 10, 1)
    assert fewer[1].times.tolist() == data[1].times.tolist()
    rows = [int(np.flatnonzero((data[1].points == point).all(axis=1))[0]) for point in fewer[1].points]
    assert np.array_equal(fewer[1].targets, data[1].targets[:, rows])


def test_times_count_in_the_fingerprint():
    assert made().fingerprint() != made(times=TIMES + 1.0).fingerprint()
    assert made().fingerprint() == made().fingerprint()
