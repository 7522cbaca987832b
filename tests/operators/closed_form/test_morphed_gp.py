"""Samples that differ in shape, on a reference shape."""

from functools import cache

import numpy as np
import pytest
import torch

import gola
from gola.data.dataset import Dataset
from gola.data.mirror import Components
from gola.data.sample import Channel, Sample
from gola.fitting.auto.auto import AutoConfig
from gola.geometry.outline import outline
from gola.geometry.symmetry import Symmetry
from gola.geometry.voids import signed_volumes
from gola.operators import MorphedGp, MorphedGpConfig
from gola.operators.closed_form.covariance import Covariance, Groups, Pairs
from gola.operators.closed_form.morphed_samples import ShapeCopies, ShapedSample
from gola.protocol import FitTask
from tests.geometry.shapes import hollow_ball, plate


def flow(count, seed=0, fastest=1.0):
    """A uniform stream of any direction around a cylinder of any place and size: velocity, and its size."""
    rng = np.random.default_rng(seed)
    samples = []
    for _ in range(count):
        centre, radius, stream = rng.uniform(0.4, 0.6, 2), rng.uniform(0.15, 0.25), rng.uniform(-fastest, fastest, 2)
        points = plate(centre, radius, spacing=0.04)
        x, y = (points - centre).T
        squares = (x**2 + y**2) / radius**2
        cosine, sine = (x**2 - y**2) / (x**2 + y**2) / squares, 2.0 * x * y / (x**2 + y**2) / squares
        velocity = np.stack(
            [stream[0] * (1.0 - cosine) - stream[1] * sine, stream[1] * (1.0 + cosine) - stream[0] * sine], axis=1
        )
        speed = np.linalg.norm(velocity, axis=1, keepdims=True)
        inputs = np.tile(stream, (len(points), 1))
        samples.append(Sample(points=points, inputs=inputs, targets=np.concatenate([velocity, speed], axis=1)))
    vector = [Channel(name=f"velocity_{axis}") for axis in "xy"]
    return Dataset(
        samples=tuple(samples),
        inputs=tuple(Channel(name=f"stream_{axis}") for axis in "xy"),
        targets=(*vector, Channel(name="speed")),
    )


@cache
def fitted():
    return gola.fit(flow(12), "morphed_gp", progress=False)


def test_it_learns_a_flow_around_a_cylinder_from_few_samples():
    test = flow(8, seed=1, fastest=0.8)
    without = gola.fit(flow(12), "kernel", progress=False)
    assert gola.evaluate(fitted(), test).mean < 0.15 * gola.evaluate(without, test).mean


def test_it_finds_symmetries_and_how_solutions_follow_the_stream():
    operator = fitted().operator
    assert len(operator.choice["symmetries"]) == 8
    assert operator.choice["channels"] == [[0, 1], [2]]
    velocity, speed = operator.parts
    assert velocity.layout.response == "linear"
    assert any(velocity.layout.is_linear)
    assert speed.layout.response == "even"


def test_it_is_saved_with_its_reference(tmp_path):
    fitted().save(tmp_path / "flow.gola")
    loaded = gola.Surrogate.load(tmp_path / "flow.gola")
    (sample,) = flow(1, seed=2, fastest=0.8)
    np.testing.assert_array_equal(
        loaded.predict(sample.points, sample.inputs), fitted().predict(sample.points, sample.inputs)
    )


def test_a_shape_of_another_topology_is_refused():
    points = np.random.default_rng(0).random((300, 2))
    with pytest.raises(ValueError, match=r"fitted to shapes with 1 holes, and the points of sample 0 leave 0"):
        fitted().predict(points, np.ones((300, 2)))


def test_it_is_tried_where_samples_differ_in_shape_alone():
    data = flow(5)
    assert MorphedGp.is_worth_trying(FitTask.of(data))
    points = [np.random.default_rng(seed).random((100, 2)) for seed in range(5)]
    square = [Sample(points=one, inputs=one, targets=one[:, :1]) for one in points]
    assert not MorphedGp.is_worth_trying(FitTask(samples=square, inputs=data.inputs, targets=data.targets[2:]))


def hollows(count, seed=0):
    """The potential of a uniform stream around a hollow of any place in an ellipsoid."""
    rng = np.random.default_rng(seed)
    samples = []
    for _ in range(count):
        centre, radius, stream = rng.uniform(-0.1, 0.1, 3), rng.uniform(0.43, 0.53), rng.uniform(-1.0, 1.0, 3)
        points = rng.permutation(hollow_ball(centre, radius, (1.2, 1.0, 0.8), 0.2))
        offsets = points - centre
        potential = (offsets @ stream) * (1.0 + 0.5 * (radius / np.linalg.norm(offsets, axis=1)) ** 3)
        inputs = np.tile(stream, (len(points), 1))
        samples.append(Sample(points=points, inputs=inputs, targets=potential[:, None]))
    stream = tuple(Channel(name=f"stream_{axis}") for axis in "xyz")
    return Dataset(samples=tuple(samples), inputs=stream, targets=(Channel(name="potential"),))


def test_it_learns_a_flow_around_a_hollow_in_space(tmp_path):
    train, test = hollows(8), hollows(4, seed=1)
    assert MorphedGp.is_worth_trying(FitTask.of(train))
    surrogate = gola.fit(train, "morphed_gp", progress=False)
    assert gola.evaluate(surrogate, test).mean < 0.1  # `kernel` has 0.113
    surrogate.save(tmp_path / "flow.gola")
    sample = test.samples[0]
    loaded, first = (
        one.predict(sample.points, sample.inputs) for one in (gola.Surrogate.load(tmp_path / "flow.gola"), surrogate)
    )
    np.testing.assert_array_equal(loaded, first)


def test_shapes_on_a_line_are_refused():
    with pytest.raises(ValueError, match=r"maps shapes of the plane or of space to each other, without time; got"):
        MorphedGpConfig(dim=1)


def test_the_automatic_choice_takes_it_where_it_is_best():
    surrogate = gola.fit(flow(6), AutoConfig(members=("morphed_gp", "nearest")), progress=False)
    assert set(surrogate.provenance["choice"]["members"]) == {"morphed_gp"}


@pytest.mark.parametrize("symmetry", ["-xy", "yx", "-yx", "-x-y"])
def test_images_of_samples_have_boundaries_of_the_same_sense_of_rotation(symmetry):
    channels = (Components.of([Channel(name=name) for name in names]) for names in (["a_x", "a_y"], ["u"], []))
    shape = outline(plate((0.3, 0.4), 0.15))
    values = torch.from_numpy(np.concatenate([shape.points - 0.5, shape.points[:, :1]], axis=1))
    sample = ShapedSample(shape=shape, values=values, parameters=torch.empty(0, dtype=torch.float64))
    image = ShapeCopies.of([1.0, 1.0], *channels).image(sample, Symmetry.parse(symmetry))
    assert signed_volumes(image.shape.points[image.shape.cells]).min() >= 0.0
    np.testing.assert_allclose(image.values[:, :2], image.shape.points - 0.5)
    np.testing.assert_allclose(image.values[:, 2], shape.points[:, 0])
    hole = image.shape.curves[1]
    fan = np.stack([np.tile(hole.mean(axis=0), (len(hole), 1)), hole, np.roll(hole, -1, axis=0)], axis=1)
    assert signed_volumes(fan).min() > 0.0


@pytest.mark.parametrize(("response", "sign"), [("linear", -1.0), ("even", 1.0), ("homogeneous", None)])
def test_covariances_scale_with_loads(response, sign):
    generator = torch.Generator().manual_seed(0)
    shape, loads = (torch.randn(6, 3, generator=generator, dtype=torch.float64) for _ in range(2))
    covariance = Covariance(is_linear=(False, True), scales=(2.0, 0.5), is_affine=False, response=response)

    def matrix(factor):
        rows, columns = (Groups(smooth=[shape, by * loads], linear=[shape, by * loads]) for by in (factor, 1.0))
        return covariance(Pairs.of(rows, columns))

    torch.testing.assert_close(matrix(3.0), 3.0 * matrix(1.0))
    assert torch.linalg.eigvalsh(matrix(1.0)).min() > 0.0
    if sign is not None:
        torch.testing.assert_close(matrix(-1.0), sign * matrix(1.0))
