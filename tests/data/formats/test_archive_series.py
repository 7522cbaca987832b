"""Trajectories in NumPy archives."""

import numpy as np
import pytest

from gola.data.formats import import_files

RNG = np.random.default_rng(0)
POINTS, TIMES = RNG.random((7, 2)), np.linspace(0.0, 1.0, 4)


def imported(tmp_path, inputs, targets, **arrays):
    np.savez(tmp_path / "a.npz", points=POINTS, **{"times": TIMES, **arrays})
    return import_files(tmp_path / "a.npz", inputs=inputs, targets=targets)


def test_several_trajectories_are_stacked_along_a_first_axis(tmp_path):
    fields, vectors, k = RNG.random((3, 4, 7)), RNG.random((3, 4, 7, 2)), RNG.random((3, 7))
    data = imported(tmp_path, ["k", "p"], ["T", "U"], T=fields, U=vectors, k=k, p=[1.0, 2.0, 3.0])
    assert repr(data) == "Dataset(3 trajectories in 2D: k p -> T U_x U_y)"
    assert np.array_equal(data[1].targets[..., 0], fields[1])
    assert np.array_equal(data[1].targets[..., 1:], vectors[1])
    assert np.array_equal(data[1].inputs[:, 0], k[1])


def test_one_trajectory_needs_no_axis_for_samples(tmp_path):
    fields = RNG.random((4, 7))
    data = imported(tmp_path, ["p"], ["T"], T=fields, p=2.0)
    assert len(data) == 1
    assert np.array_equal(data[0].targets[..., 0], fields)
    assert data.parameters[0].name == "p"


def test_numbers_that_change_with_time_are_functions_of_time(tmp_path):
    loads = RNG.random((3, 4))
    data = imported(tmp_path, ["load"], ["T"], T=RNG.random((3, 4, 7)), load=loads)
    assert np.array_equal(data[2].inputs[..., 0], np.repeat(loads[2], 7).reshape(4, 7))


def test_every_trajectory_may_have_its_own_times_and_points(tmp_path):
    times, points = np.cumsum(RNG.random((3, 4)), axis=1), RNG.random((3, 7, 2))
    data = imported(tmp_path, [], ["T"], T=RNG.random((3, 4, 7)), times=times, p=[1.0, 2.0, 3.0])
    assert np.array_equal(data[2].times, times[2])
    np.savez(tmp_path / "b.npz", points=points, times=TIMES, T=RNG.random((3, 4, 7)))
    moved = import_files(tmp_path / "b.npz", targets=["T"])
    assert np.array_equal(moved[1].points, points[1])


def test_as_many_samples_as_times_leave_doubt(tmp_path):
    arrays = {"T": RNG.random((4, 4, 7)), "k": RNG.random((4, 7)), "p": RNG.random(4)}
    for name in ("k", "p"):
        with pytest.raises(ValueError, match=rf"'{name}' cannot be a channel: its shape fits 4 samples as well as 4"):
            imported(tmp_path, [name], ["T"], **arrays)
    data = imported(tmp_path, ["q"], ["T"], **arrays, parameters=RNG.random((4, 1)), parameter_names=["q"])
    assert len(data) == 4


def test_bad_times_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"`times` must be numbers of the shape"):
        imported(tmp_path, [], ["T"], T=RNG.random((4, 7)), times=np.zeros((1, 1, 4)))
    with pytest.raises(ValueError, match="times must ascend"):
        imported(tmp_path, [], ["T"], T=RNG.random((4, 7)), times=TIMES[::-1])
