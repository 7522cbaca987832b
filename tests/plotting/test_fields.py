import numpy as np
import pytest
from scipy.spatial import Delaunay

from gola.data.sample import Channel, Sample
from gola.plotting.fields import draw_sample, outer_faces, triangulate
from gola.plotting.style import write


def ring(num_points=600):
    angles = np.random.default_rng(0).random(num_points) * 2 * np.pi
    radii = 0.5 + 0.5 * np.random.default_rng(1).random(num_points)
    return np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)


def test_triangles_leave_a_hole_open():
    points = ring()
    triangles = triangulate(points)
    centres = np.linalg.norm(points[triangles].mean(axis=1), axis=1)
    assert centres.min() > 0.35
    edges = points[triangles][:, 1:] - points[triangles][:, :1]
    area = 0.5 * np.abs(np.linalg.det(edges)).sum()
    assert area == pytest.approx(np.pi * 0.75, rel=0.08)


def test_points_on_a_line_have_no_triangles():
    assert len(triangulate(np.column_stack([np.arange(5.0), np.zeros(5)]))) == 0


def test_the_outer_faces_of_two_tetrahedra_leave_out_the_one_they_share():
    faces = outer_faces(np.array([[0, 1, 2, 3], [1, 2, 3, 4]]))
    assert len(faces) == 6
    assert {1, 2, 3} not in [set(face) for face in faces.tolist()]


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


def test_few_clouds_without_holes_get_a_false_one():
    rng = np.random.default_rng(0)
    torn = 0
    for _ in range(20):
        points = rng.random((1000, 2))
        centres = points[triangulate(points)].mean(axis=1)
        inside = np.abs(centres - 0.5).max(axis=1) < 0.4
        whole = points[Delaunay(points).simplices].mean(axis=1)
        torn += inside.sum() < (np.abs(whole - 0.5).max(axis=1) < 0.4).sum()
    assert torn <= 1


def test_a_function_on_a_line_is_drawn_as_a_curve_in_the_order_of_the_points(tmp_path):
    points = np.random.default_rng(0).random((30, 1))
    sample = Sample(points=points, inputs=points**2, targets=np.ones((30, 1)))
    figure = draw_sample(sample, (Channel(name="f"),), (Channel(name="u", unit="K"),), title="on a line")
    x, y = figure.axes[0].lines[0].get_data()
    assert (np.diff(x) > 0).all()
    np.testing.assert_allclose(y, x**2)
    assert figure.axes[1].get_ylabel() == "K"
    assert write(figure, tmp_path / "line.png").exists()
