import numpy as np
import pytest

from gola.plotting.heatmap import Shares, draw_heatmaps
from gola.plotting.style import as_png

TABLE = Shares(rows=(5, 30), columns=(20, 100, 1000), values={(5, 20): -0.4, (5, 100): 0.25, (30, 1000): 0.58})


def drawn(tables):
    return draw_heatmaps(tables, across="points", up="samples", label="error reduction")


def test_every_share_is_written_in_per_cent_and_what_is_missing_is_a_dash():
    axes = drawn({"Darcy": TABLE}).axes[0]
    texts = {tuple(map(int, text.get_position())): text.get_text() for text in axes.texts}
    assert texts == {(0, 0): "−40", (1, 0): "25", (2, 0): "–", (0, 1): "–", (1, 1): "–", (2, 1): "58"}


def test_colours_are_symmetric_around_zero_and_the_same_for_all():
    figure = drawn({"Darcy": TABLE, "Eikonal": Shares(rows=(5,), columns=(20,), values={(5, 20): -3.0})})
    pictures = [axes.images[0] for axes in figure.axes[:2]]
    assert {picture.get_clim() for picture in pictures} == {(-1.0, 1.0)}
    blue, red = (pictures[0].to_rgba(share) for share in (0.5, -0.5))
    assert blue[2] > blue[0]
    assert red[0] > red[2]
    assert as_png(figure)


def test_missing_shares_have_no_colour():
    assert np.isnan(TABLE.as_array()).sum() == 3
    picture = drawn({"Darcy": TABLE}).axes[0].images[0]
    assert picture.get_array().mask.sum() == 3


@pytest.mark.parametrize(("num_columns", "side_by_side"), [(5, True), (18, False)])
def test_wide_tables_stand_below_each_other(num_columns, side_by_side):
    columns = tuple(range(1, num_columns + 1))
    table = Shares(rows=(5,), columns=columns, values={})
    figure = drawn({"one": table, "two": table})
    as_png(figure)  # lays the panels out
    first, second = (axes.get_position() for axes in figure.axes[:2])
    assert bool(abs(first.y0 - second.y0) < 0.01) is side_by_side
