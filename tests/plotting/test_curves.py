import pytest

from gola.plotting.curves import draw_curves
from gola.plotting.style import as_png
from gola.protocol import Epoch


def history(*errors, validation=None):
    validation = validation or [None] * len(errors)
    return [
        Epoch(number=number, training_error=error, validation_error=other, learning_rate=1e-3, seconds=1.0)
        for number, (error, other) in enumerate(zip(errors, validation, strict=True), start=1)
    ]


def test_both_errors_are_drawn_on_a_logarithmic_scale():
    axes = draw_curves(history(0.9, 0.3, 0.1, validation=[0.8, None, 0.4]), title="gola").axes[0]
    training, validation = axes.lines
    assert list(training.get_ydata()) == [0.9, 0.3, 0.1]
    assert list(validation.get_xdata()) == [1, 3]
    assert list(validation.get_ydata()) == [0.8, 0.4]
    assert axes.get_yscale() == "log"


def test_without_validation_there_is_one_curve_and_a_line_for_every_level():
    axes = draw_curves(history(0.9, 0.3), title="gola", levels={"test": 0.5}).axes[0]
    assert [line.get_label() for line in axes.lines] == ["training samples", "test"]


@pytest.mark.parametrize("errors", [(0.5,), (0.31, 0.3), (1.4, 0.04), (3e-5, 1e-7)])
def test_at_least_two_numbers_stand_along_the_scale(errors):
    figure = draw_curves(history(*errors), title="gola")
    assert as_png(figure)
    axes = figure.axes[0]
    low, high = axes.get_ylim()
    shown = [text.get_text() for text in axes.get_yticklabels() if low <= text.get_position()[1] <= high]
    assert len(shown) >= 2
    assert all(float(text) > 0 for text in shown)
