import numpy as np
import pytest

from gola.data.sample import Channel, Sample
from gola.plotting.fields import draw_sample
from gola.plotting.parameters import ParameterSpace
from gola.plotting.predictions import Prediction, draw_predictions
from gola.plotting.style import as_png

CHANNELS = (Channel(name="load", unit="N"), Channel(name="a_name_that_is_far_too_long_to_fit"))
SPACE = ParameterSpace(channels=CHANNELS, values=np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]]))


def made(dim=2):
    points = np.random.default_rng(0).random((60, dim))
    return Sample(points=points, inputs=np.empty((60, 0)), targets=points[:, :1], parameters=np.array([2.5, 5.0]))


def texts(axes):
    return [text.get_text() for text in axes.texts], [label.get_text() for label in axes.get_yticklabels()]


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_parameters_are_a_panel_with_names_ranges_and_numbers(dim):
    figure = draw_sample(made(dim), (), (Channel(name="u"),), title="x", parameters=SPACE)
    (panel,) = [axes for axes in figure.axes if axes.get_title() == "parameters"]
    numbers, names = texts(panel)
    assert numbers == ["2.5", "5", "1", "3", "5", "5"]
    assert names == ["load [N]", "a_name_that_is_far_to…"]
    assert as_png(figure)


def test_predictions_come_with_the_parameters_of_their_sample():
    sample = made()
    predictions = [Prediction(label="kernel", sample=sample, values=sample.targets)]
    figure = draw_predictions(predictions, (), (Channel(name="u"),), SPACE)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles.count("parameters") == 1
    assert "truth: u" in titles


def test_without_parameters_there_is_no_panel_for_them():
    sample = made()
    predictions = [Prediction(label="kernel", sample=sample, values=sample.targets)]
    figure = draw_predictions(predictions, (), (Channel(name="u"),), ParameterSpace())
    assert "parameters" not in [axes.get_title() for axes in figure.axes]


def test_many_parameters_have_no_room_for_their_ranges():
    channels = tuple(Channel(name=f"p{number}") for number in range(12))
    sample = Sample(points=made().points, inputs=np.empty((60, 0)), targets=made().targets, parameters=np.arange(12.0))
    space = ParameterSpace(channels=channels, values=np.random.default_rng(0).random((5, 12)))
    figure = draw_sample(sample, (), (Channel(name="u"),), title="", parameters=space)
    (panel,) = [axes for axes in figure.axes if axes.get_title() == "parameters"]
    assert len(texts(panel)[0]) == 12
    assert as_png(figure)
