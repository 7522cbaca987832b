import numpy as np
import pytest

from gola.data.sample import Channel, Sample
from gola.plotting.fields import draw_sample
from gola.plotting.style import write


@pytest.mark.parametrize("dim", [2, 3])
def test_every_channel_gets_a_panel_with_title_and_colour_bar(dim, tmp_path):
    rng = np.random.default_rng(0)
    sample = Sample(points=rng.random((80, dim)), inputs=rng.random((80, 4)), targets=rng.random((80, 2)))
    inputs = tuple(Channel(name=f"f{number}") for number in range(4))
    targets = (Channel(name="u", unit="m"), Channel(name="v"))
    figure = draw_sample(sample, inputs, targets, title="six channels")
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles == ["f0", "f1", "f2", "f3", "u [m]", "v"]
    assert len(figure.axes) == 12
    assert write(figure, tmp_path / "picture.png").exists()


def drawn_panel(sample):
    return draw_sample(sample, (Channel(name="f"),), (), title="").axes[0]


def test_a_picture_of_scattered_points_fills_their_box_and_keeps_the_values_in_range():
    points = np.random.default_rng(1).random((500, 2)) * [2.0, 1.0]
    (image,) = drawn_panel(Sample(points=points, inputs=points[:, :1], targets=points[:, :0])).images
    shown = image.get_array()
    assert shown.mask.sum() == 0
    assert (points[:, 0].min() <= shown).all()
    assert (shown <= points[:, 0].max()).all()
    assert image.get_extent() == pytest.approx(np.stack([points.min(axis=0), points.max(axis=0)], axis=1).ravel())


def test_a_mesh_is_drawn_by_its_cells():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    panel = drawn_panel(Sample(points=points, inputs=points[:, :1], targets=points[:, :0], cells=np.array([[0, 1, 2]])))
    assert len(panel.images) == 0
    assert [len(mesh.get_paths()) for mesh in panel.collections] == [1]


@pytest.mark.parametrize("points", [np.eye(2), np.column_stack([np.arange(9.0), np.zeros(9)])])
def test_points_that_span_no_area_are_drawn_one_by_one(points):
    panel = drawn_panel(Sample(points=points, inputs=points[:, :1], targets=points[:, :0]))
    assert len(panel.collections[0].get_offsets()) == len(points)


def test_a_function_on_a_line_is_drawn_as_a_curve_in_the_order_of_the_points(tmp_path):
    points = np.random.default_rng(0).random((30, 1))
    sample = Sample(points=points, inputs=points**2, targets=np.ones((30, 1)))
    figure = draw_sample(sample, (Channel(name="f"),), (Channel(name="u", unit="K"),), title="on a line")
    x, y = figure.axes[0].lines[0].get_data()
    assert (np.diff(x) > 0).all()
    np.testing.assert_allclose(y, x**2)
    assert figure.axes[1].get_ylabel() == "K"
    assert write(figure, tmp_path / "line.png").exists()
