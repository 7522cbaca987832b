import numpy as np
import pytest
import torch

from gola.data.sample import Channel, Sample
from gola.data.validation import alike, as_channels, checked_sample, checked_samples
from tests.data.ragged import INPUTS, TARGETS, ragged_sample

POINTS, INPUT_VALUES, TARGET_VALUES = np.zeros((4, 2)), np.zeros((4, 2)), np.zeros((4, 1))


def check(points=POINTS, inputs=INPUT_VALUES, targets=TARGET_VALUES, **optional):
    return checked_sample(points, inputs, targets, inputs=INPUTS, targets=TARGETS, label="Sample 3", **optional)


def with_bad(shape, row, column, bad):
    array = np.zeros(shape)
    array[row, column] = bad
    return array


def test_a_nan_is_named_by_sample_channel_and_first_row():
    inputs = with_bad((4, 2), 2, 1, np.nan)
    inputs[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"Sample 3, input channel 'f', row 2 is nan \(2 of 4 rows"):
        check(inputs=inputs)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"targets": with_bad((4, 1), 1, 0, np.inf)}, "Sample 3, target channel 'T', row 1 is inf"),
        ({"points": with_bad((4, 2), 0, 1, -np.inf)}, "Sample 3, coordinate y, row 0 is -inf"),
        ({"weights": np.array([1, 2, np.nan, 4])}, "Sample 3, weights, row 2 is nan"),
        ({"points": np.zeros((0, 2)), "inputs": np.zeros((0, 2)), "targets": np.zeros((0, 1))}, "has no points"),
        ({"points": np.zeros(4)}, r"shape \(points, 1, 2 or 3 coordinates\); got \(4,\)"),
        ({"points": np.zeros((4, 5))}, r"got \(4, 5\)"),
        ({"inputs": np.zeros((3, 2))}, r"each of the 4 points .* got shape \(3, 2\)"),
        ({"inputs": np.zeros((4, 3))}, r"3 input channels; the data set has 2 \(k, f\)"),
        ({"targets": np.zeros((4, 0))}, r"0 target channels; the data set has 1 \(T\)"),
        ({"targets": np.zeros((4, 1), dtype=complex)}, "complex; store real and imaginary part"),
        ({"targets": [["a"], ["b"], ["c"], ["d"]]}, "must be numbers"),
        ({"targets": [[1.0], [2.0, 3.0], [1.0], [1.0]]}, "not a rectangular array"),
        ({"boundary": np.zeros(4)}, "boundary must hold True or False"),
        ({"boundary": np.array([0, 1, 2, 0])}, "boundary must hold True or False"),
        ({"boundary": np.zeros(5, dtype=bool)}, r"shape \(4,\), one per point; got \(5,\)"),
        ({"weights": np.zeros((4, 1))}, r"weights must have shape \(4,\)"),
        ({"cells": np.array([[0, 1, 2], [1, 4, 2]])}, "cell 1 refers to point 4, but the points are numbered 0 to 3"),
        ({"cells": np.array([[0, -1, 2]])}, "cell 0 refers to point -1"),
        ({"cells": np.array([[0, 1, 2, 3]])}, "2 to 3 vertices"),
        ({"cells": np.zeros((2, 3))}, "whole numbers"),
    ],
)
def test_a_mistake_is_refused_with_a_reason(arguments, message):
    with pytest.raises(ValueError, match=message):
        check(**arguments)


def test_arrays_of_the_right_type_are_not_copied():
    points = np.random.default_rng(0).random((4, 2))
    assert check(points=points).points is points


def test_other_number_types_become_float64():
    sample = check(points=np.zeros((4, 2), dtype=int), inputs=np.zeros((4, 2), dtype=np.float32))
    assert sample.points.dtype == sample.inputs.dtype == np.float64


def test_a_vector_is_one_channel():
    assert check(targets=np.arange(4)).targets.tolist() == [[0], [1], [2], [3]]


def test_zeros_and_ones_mark_the_boundary():
    assert check(boundary=np.array([0, 1, 1, 0])).boundary.tolist() == [False, True, True, False]


def test_the_second_sample_is_named_when_it_is_the_bad_one():
    bad = Sample(points=np.zeros((4, 2)), inputs=np.full((4, 2), np.nan), targets=np.zeros((4, 1)))
    with pytest.raises(ValueError, match="Sample 1, input channel 'k', row 0"):
        list(checked_samples([ragged_sample(5, mesh=False), bad], INPUTS, TARGETS))


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (ragged_sample(5, dim=3), "B has points in 3 dimensions, the first sample in 2"),
        (
            ragged_sample(5, mesh=False),
            "boundary must be given for every sample or none: the first sample has it, B has",
        ),
    ],
)
def test_samples_must_be_alike(second, message):
    with pytest.raises(ValueError, match=message):
        list(alike([(ragged_sample(5), "A"), (second, "B")]))


def test_cells_of_different_kinds_do_not_mix():
    triangles = check(points=np.zeros((4, 3)), cells=np.array([[0, 1, 2]]))
    tetrahedra = check(points=np.zeros((4, 3)), cells=np.array([[0, 1, 2, 3]]))
    with pytest.raises(ValueError, match="B has cells of 4 vertices, the first sample of 3"):
        list(alike([(triangles, "A"), (tetrahedra, "B")]))


def test_channel_names_must_differ():
    with pytest.raises(ValueError, match="'k' comes 2 times"):
        as_channels(["k", Channel(name="k", unit="m")])


def test_a_channel_needs_a_name():
    with pytest.raises(ValueError, match="channel 1 of 2 has none"):
        as_channels(["k", ""])


def test_arrays_that_run_backwards_or_are_read_only_can_be_shared_with_pytorch():
    values = np.arange(8.0).reshape(4, 2)
    values.flags.writeable = False
    sample = check(points=values[::-1], inputs=values, boundary=np.array([True, False, False, True])[::-1])
    assert sample.points.tolist() == values[::-1].tolist()
    for array in (sample.points, sample.inputs, sample.boundary):
        assert torch.from_numpy(array).tolist() == array.tolist()
