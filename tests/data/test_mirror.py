import numpy as np
import pytest

from gola.data.frame import Frame
from gola.data.mirror import Components, Mirror
from gola.data.sample import Channel, Sample
from gola.geometry.symmetry import Symmetry, candidates

SQUARE = [one for one in candidates(2) if one.input_sign == one.output_sign == 1]


def channels(*names):
    return [Channel(name=name) for name in names]


def matrix_of(symmetry):
    """The linear part of a map of the plane."""
    matrix = np.zeros((2, 2))
    for row, (axis, flip) in enumerate(zip(symmetry.axes, symmetry.flips, strict=True)):
        matrix[row, axis] = -1.0 if flip else 1.0
    return matrix


@pytest.mark.parametrize("symmetry", SQUARE, ids=str)
def test_vectors_and_tensors_turn_as_matrices_say(symmetry):
    rng = np.random.default_rng(0)
    vector, tensor = rng.normal(size=(5, 2)), rng.normal(size=(5, 2, 2))
    tensor = tensor + tensor.transpose(0, 2, 1)
    turn = matrix_of(symmetry)
    parts = Components.of(channels("flow_y", "p", "stress_xx", "stress_yx", "stress_yy", "flow_x"))
    pressure = rng.normal(size=5)

    def written(vectors, tensors):
        columns = [vectors[:, 1], pressure, tensors[:, 0, 0], tensors[:, 0, 1], tensors[:, 1, 1], vectors[:, 0]]
        return np.stack(columns, axis=1)

    turned = parts.turned(written(vector, tensor), symmetry)
    np.testing.assert_allclose(turned, written(vector @ turn.T, turn @ tensor @ turn.T))


def test_a_component_alone_is_reflected_but_not_swapped():
    parts = Components.of(channels("flow_x"))
    assert parts.allow(Symmetry.parse("-xy"))
    assert not parts.allow(Symmetry.parse("yx"))
    assert parts.turned(np.ones((1, 1)), Symmetry.parse("-xy")).item() == -1.0


def test_what_points_out_of_the_plane_stays():
    parts = Components.of(channels("u_z"))
    values = np.array([[2.0]])
    assert all(parts.allow(one) and parts.turned(values, one).item() == 2.0 for one in SQUARE)


@pytest.mark.parametrize("name", ["x", "flux", "temperature", "max", "stress_xyz", "u_w"])
def test_other_names_are_scalars(name):
    assert Components.of(channels(name)).names == ((name, ()),)


def test_the_image_of_a_field_is_the_field_that_the_image_of_a_formula_has():
    rng = np.random.default_rng(1)
    points = rng.uniform([1.0, 2.0], [3.0, 4.0], size=(20, 2))
    sample = Sample(points=points, inputs=np.sin(points[:, :1]), targets=np.cos(points * [1.0, 2.0]))
    frame = Frame(origin=(1.0, 2.0), extent=(2.0, 2.0), sides=(2.0, 2.0))
    mirror = Mirror.of(frame, channels("f"), channels("u_x", "u_y"))
    image = mirror.image(sample, Symmetry.parse("-xy"))
    np.testing.assert_allclose(image.points, points * [-1.0, 1.0] + [4.0, 0.0])
    np.testing.assert_allclose(image.inputs, np.sin(4.0 - image.points[:, :1]))
    np.testing.assert_allclose(image.targets[:, 0], -np.cos(4.0 - image.points[:, 0]))
    np.testing.assert_allclose(image.targets[:, 1], np.cos(2.0 * image.points[:, 1]))
