import numpy as np
import pytest

from gola.data.sample import Channel, Sample
from gola.plotting.predictions import Prediction, draw_predictions
from gola.plotting.style import as_png

SOURCE, HEAT, STRESS = Channel(name="source"), Channel(name="heat", unit="K"), Channel(name="stress", unit="Pa")


def make_sample(dim=2, num_targets=1, seed=0):
    rng = np.random.default_rng(seed)
    points = rng.random((60, dim))
    inputs = np.column_stack([np.full(60, 3.0), points[:, 0]])
    return Sample(points=points, inputs=inputs, targets=1.0 + rng.random((60, num_targets)))


def scaled(sample, factor, label="one"):
    return Prediction(label=label, sample=sample, values=sample.targets * factor)


def panels(figure):
    return [axes for axes in figure.axes if axes.get_title()]


def scales(figure):
    """The ends of all colour bars, in the order of the panels."""
    return [axes.get_ylim() for axes in figure.axes if not axes.get_title()]


def test_the_title_of_the_error_gives_the_relative_error_of_the_channel():
    sample = make_sample(num_targets=2)
    figure = draw_predictions([scaled(sample, np.array([1.1, 0.8]))], (SOURCE, SOURCE), (HEAT, STRESS))
    titles = [axes.get_title() for axes in panels(figure)]
    assert titles[3] == "absolute error; relative 10.0%"
    assert titles[7] == "absolute error; relative 20.0%"
    assert titles[1:3] == ["truth: heat", "prediction: heat"]


def test_truth_and_prediction_share_a_scale_that_holds_both():
    sample = make_sample()
    figure = draw_predictions([scaled(sample, 1.5)], (SOURCE, SOURCE), (HEAT,))
    _, truth, prediction, _ = scales(figure)
    assert truth == prediction == pytest.approx((sample.targets.min(), 1.5 * sample.targets.max()))


def test_errors_begin_at_zero_and_have_one_scale_for_two_operators_on_the_same_sample():
    sample, other = make_sample(), make_sample(seed=1)
    predictions = [scaled(sample, 1.1), scaled(sample, 1.5), scaled(other, 1.2)]
    errors = scales(draw_predictions(predictions, (SOURCE, SOURCE), (HEAT,)))[3::4]
    assert errors[0] == errors[1] == pytest.approx((0.0, 0.5 * sample.targets.max()))
    assert errors[2] == pytest.approx((0.0, 0.2 * other.targets.max()))


def test_the_input_shown_is_one_that_varies():
    figure = draw_predictions([scaled(make_sample(), 1.0)], (SOURCE, Channel(name="x")), (HEAT,))
    assert panels(figure)[0].get_title() == "input: x"


def test_colour_bars_carry_name_and_unit():
    figure = draw_predictions([scaled(make_sample(), 1.1)], (SOURCE, SOURCE), (HEAT,))
    assert [axes.get_ylabel() for axes in figure.axes if not axes.get_title()] == ["source", *["heat [K]"] * 3]


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_samples_in_every_dimension_can_be_drawn(dim):
    figure = draw_predictions([scaled(make_sample(dim), 1.1), scaled(make_sample(dim), 1.2)], (SOURCE, SOURCE), (HEAT,))
    assert as_png(figure).startswith(b"\x89PNG")
    assert len(panels(figure)) == 8


def test_a_perfect_prediction_of_a_constant_can_be_drawn():
    points = np.random.default_rng(0).random((30, 2))
    sample = Sample(points=points, inputs=np.ones((30, 1)), targets=np.ones((30, 1)))
    assert as_png(draw_predictions([scaled(sample, 1.0)], (SOURCE,), (HEAT,)))


def test_equal_figures_make_equal_files():
    first, second = (
        as_png(draw_predictions([scaled(make_sample(), 1.1)], (SOURCE, SOURCE), (HEAT,))) for _ in range(2)
    )
    assert first == second
