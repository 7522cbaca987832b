"""Trajectories as functions of space and time."""

import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.data.trajectories import TimeAxis, in_space_time, require_times, time_weights
from tests.data.trajectories import cooling


def test_points_are_repeated_for_each_time_which_is_their_last_coordinate():
    data = cooling(num_samples=3, num_points=4, num_times=3)
    plain = in_space_time(data)
    assert plain.dim == 3
    assert not plain.has_time
    points = plain[0].points.reshape(3, 4, 3)
    assert (points[:, :, :2] == data[0].points).all()
    assert (points[1, :, 2] == points[1, 0, 2]).all()
    assert np.array_equal(plain[0].targets.reshape(3, 4, 1), data[0].targets)
    assert np.array_equal(plain[1].parameters, data[1].parameters)


def test_all_times_together_are_as_long_as_the_domain():
    data = cooling(num_samples=3)
    points = in_space_time(data)[0].points
    assert np.ptp(points[:, 2]) == pytest.approx(np.ptp(data[0].points, axis=0).max())


def test_targets_and_shared_points_are_not_copied():
    data = cooling(num_samples=3)
    plain = in_space_time(data)
    assert np.shares_memory(plain[1].targets, data[1].targets)
    assert plain[0].points is plain[2].points
    assert plain[0].inputs.shape == (240, 0)


def test_constant_inputs_are_repeated_and_others_are_not():
    data = cooling(num_samples=3, with_field=True)
    assert np.array_equal(in_space_time(data)[0].inputs, np.tile(data[0].inputs, (6, 1)))
    per_time = np.arange(3 * 6 * 40.0).reshape(3, 6, 40, 1)
    varying = Dataset.from_arrays(
        data[0].points, per_time, [sample.targets for sample in data], times=np.linspace(0.0, 1.0, 6)
    )
    assert np.array_equal(in_space_time(varying)[2].inputs, per_time[2].reshape(-1, 1))


def test_the_same_points_at_the_same_times_are_the_same_points():
    assert in_space_time(cooling()).correspondence == "same points"
    assert in_space_time(cooling(own_times=True)).correspondence == "none"
    assert in_space_time(cooling(own_points=True)).correspondence == "none"


def test_periods_are_those_of_space():
    data = cooling()
    periodic = Dataset.from_samples(data, targets=["T"], parameters=data.parameters, periods=(1.0, None))
    assert in_space_time(periodic).periods == (1.0, None, None)


def test_weights_are_products_and_boundaries_hold_at_all_times():
    points = np.array([[0.0], [0.5], [1.0]])
    data = Dataset.from_arrays(
        points,
        targets=np.ones((2, 2, 3)),
        parameters=[1.0, 2.0],
        times=[0.0, 2.0],
        weights=np.array([0.25, 0.5, 0.25]),
        boundary=np.array([True, False, True]),
        cells=np.array([[0, 1], [1, 2]]),
    )
    plain = in_space_time(data)[0]
    assert plain.weights.sum() == pytest.approx(np.ptp(plain.points[:, 1]))
    assert plain.boundary.tolist() == [True, False, True] * 2


def test_samples_without_time_stay_as_they_are():
    data = Dataset.from_arrays(np.random.default_rng(0).random((5, 2)), targets=np.ones((2, 5)), parameters=[1.0, 2.0])
    assert in_space_time(data) is data


def test_weights_in_time_integrate_straight_lines():
    times = np.array([0.0, 0.1, 0.7, 1.0])
    assert time_weights(times) @ (3.0 * times + 1.0) == pytest.approx(2.5)
    assert time_weights(times[:1]).tolist() == [1.0]


def test_the_axis_knows_whether_times_are_shared():
    assert TimeAxis.of(cooling()).shared
    axis = TimeAxis.of(cooling(own_times=True))
    assert not axis.shared
    assert (axis.times[0], axis.times[-1], len(axis.times)) == (0.0, 2.0, 7)
    assert TimeAxis.from_dict(axis.to_dict()) == axis


def test_times_that_differ_by_rounding_are_the_same():
    axis = TimeAxis.of(cooling())
    almost = np.array(axis.times) * (1.0 + 1e-13)
    assert require_times(almost, axis).tolist() == list(axis.times)
    assert require_times(None, axis).tolist() == list(axis.times)


def test_where_times_differ_they_must_be_asked_for():
    with pytest.raises(ValueError, match=r"have different times, from 0 to 2; say at which to predict"):
        require_times(None, TimeAxis.of(cooling(own_times=True)))
    with pytest.raises(ValueError, match="times must be finite numbers"):
        require_times([np.nan], TimeAxis.of(cooling()))


def test_one_time_alone_is_refused():
    data = Dataset.from_arrays(np.ones((2, 1)), targets=np.ones((2, 1, 2)), parameters=[1.0, 2.0], times=[3.0])
    with pytest.raises(ValueError, match=r"All 2 trajectories have the one time 3.0"):
        TimeAxis.of(data)
