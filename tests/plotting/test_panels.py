import pytest

from gola.plotting.panels import Curve, Panel, draw_panels
from gola.plotting.style import as_png


def panel(*curves, title="Darcy"):
    return Panel(title=title, across="samples", up="error", curves=curves)


def labels(axes):
    return [text.get_text() for text in axes.get_xticklabels()]


def test_curves_of_the_same_name_look_the_same_in_all_panels():
    first, second = (Curve(label=name, values={1.0: 1.0, 2.0: 0.5}) for name in ("a", "b"))
    left, right = draw_panels([panel(first, second), panel(second)]).axes
    assert left.lines[1].get_color() == right.lines[0].get_color() != left.lines[0].get_color()
    assert left.lines[1].get_marker() == right.lines[0].get_marker() != left.lines[0].get_marker()


def test_marks_look_like_the_curve_that_they_belong_to():
    curve = Curve(label="ours", values={30.0: 0.2, 100.0: 0.1})
    marks = Curve(label="theirs", values={30.0: 0.3}, look="marks", like="ours")
    (axes,) = draw_panels([panel(curve, marks)]).axes
    line, mark = axes.lines
    assert mark.get_color() == line.get_color()
    assert mark.get_marker() == line.get_marker()
    assert mark.get_linestyle() == "None"


def test_a_wide_curve_shows_on_both_sides_of_one_that_lies_on_it():
    values = {30.0: 0.2, 100.0: 0.1}
    (axes,) = draw_panels(
        [panel(Curve(label="narrow", values=values), Curve(label="wide", values=values, wide=True))]
    ).axes
    narrow, wide = axes.lines
    assert wide.get_linewidth() > 2 * narrow.get_linewidth()
    assert wide.get_zorder() < narrow.get_zorder()


def test_both_scales_are_logarithmic_with_the_sizes_as_ticks():
    figure = draw_panels([panel(Curve(label="a", values={5.0: 1.0, 30.0: 0.3, 100.0: 0.1}, spreads={5.0: 2.0}))])
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert as_png(figure)
    assert labels(axes) == ["5", "30", "100"]
    assert axes.get_ylim()[0] > 0


def test_numbers_that_would_touch_each_other_are_left_out():
    sizes = (5, 10, 20, 30, 40, 50, 80, 100)
    (axes,) = draw_panels([panel(Curve(label="a", values={float(size): 1.0 / size for size in sizes}))]).axes
    assert labels(axes) == ["5", "10", "20", "30", "50", "100"]


def test_one_legend_serves_all_panels():
    curve = Curve(label="a", values={1.0: 1.0})
    figure = draw_panels([panel(curve), panel(curve)])
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a"]
    assert not any(axes.get_legend() for axes in figure.axes)


def test_a_panel_without_results_says_so():
    figure = draw_panels([panel(Curve(label="a", values={}))])
    assert [text.get_text() for text in figure.axes[0].texts] == ["no results yet"]
    assert as_png(figure)


def test_an_order_is_shown_by_shades():
    curves = [Curve(label=f"{number}", values={1.0: 1.0}) for number in range(20)]
    (axes,) = draw_panels([panel(*curves)], ordered=True).axes
    assert len({line.get_color() for line in axes.lines}) == 20


@pytest.mark.parametrize(("number", "shape"), [(3, (2, 2)), (2, (1, 2))])
def test_panels_fill_rows_and_what_is_left_stays_empty(number, shape):
    figure = draw_panels([panel(Curve(label="a", values={1.0: 1.0}))] * number, num_columns=2)
    assert len(figure.axes) == shape[0] * shape[1]
    assert sum(axes.axison for axes in figure.axes) == number
