import json

import numpy as np
import pytest

from gola.data.frame import Frame
from gola.data.sample import Sample


def sample(points):
    points = np.array(points, dtype=float)
    return Sample(points=points, inputs=points[:, :1], targets=points[:, :1])


def test_the_longest_side_becomes_one_and_lengths_keep_their_proportions():
    frame = Frame.around([sample([[10.0, 5.0], [30.0, 5.0]]), sample([[20.0, 10.0]])])
    assert frame.encode(np.array([[10.0, 5.0], [30.0, 10.0]])).tolist() == [[0.0, 0.0], [1.0, 0.25]]


def test_axes_of_very_different_lengths_are_scaled_each_by_itself():
    frame = Frame.around([sample([[0.0, 0.0], [1000.0, 1.0]])])
    assert frame.encode(np.array([[500.0, 0.5]])).tolist() == [[0.5, 0.5]]


def test_an_axis_without_extent_takes_the_scale_of_the_longest():
    frame = Frame.around([sample([[0.0, 3.0], [2.0, 3.0]])])
    assert frame.encode(np.array([[1.0, 4.0]])).tolist() == [[0.5, 0.5]]
    with pytest.raises(ValueError, match="All points of all samples lie at"):
        Frame.around([sample([[1.0, 1.0], [1.0, 1.0]])])


def test_it_knows_the_box_of_the_points():
    frame = Frame.around([sample([[10.0, 5.0], [30.0, 10.0]])])
    assert frame.lower.tolist() == [10.0, 5.0]
    assert frame.upper.tolist() == [30.0, 10.0]


def test_it_survives_json():
    frame = Frame.around([sample([[0.1, 0.2], [0.7, 0.3]])])
    assert Frame.from_dict(json.loads(json.dumps(frame.to_dict()))) == frame
