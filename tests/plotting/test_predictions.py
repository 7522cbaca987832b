from dataclasses import replace

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
    assert titles[6] == "absolute error; relative 20.0%"
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


def test_inputs_that_vary_are_all_drawn_and_the_others_stand_in_the_heading():
    sample = make_sample()
    inputs = np.column_stack([sample.inputs, sample.points[:, 1]])
    channels = Channel(name="load", unit="N"), Channel(name="x"), Channel(name="y")
    figure = draw_predictions([scaled(replace(sample, inputs=inputs), 1.0)], channels, (HEAT,))
    assert [axes.get_title() for axes in panels(figure)][:3] == ["input: x", "input: y", "truth: heat"]
    assert [part.get_suptitle() for part in figure.subfigs] == ["one: load = 3 N"]


def test_inputs_are_shared_out_among_the_rows_of_several_targets():
    sample = make_sample(num_targets=2)
    inputs = np.column_stack([sample.inputs, sample.points, sample.points[:, 1] ** 2])
    channels = tuple(Channel(name=name) for name in ("load", "x", "x again", "y", "z"))
    figure = draw_predictions([scaled(replace(sample, inputs=inputs), 1.0)], channels, (HEAT, STRESS))
    shown = [axes.get_title().removeprefix("input: ") for axes in panels(figure) if "input" in axes.get_title()]
    assert shown == ["x", "x again", "y", "z"]
    assert len(panels(figure)) == 2 * (2 + 3)


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
