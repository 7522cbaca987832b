"""Copies by symmetries: the same as mirrored samples, found where the operator has them, and held out together."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch

import gola
from gola.data.mirror import Mirror
from gola.geometry.symmetry import Symmetry
from gola.operators.closed_form.copies import Copy, copied_solutions
from gola.operators.closed_form.samples import Mesh, Samples
from gola.operators.cloud import Cloud
from gola.operators.scaling import Scaling
from gola.protocol import FitTask
from tests.operators.closed_form.examples import samples_of, small_operator

NUM_SAMPLES = 12
GRID = np.stack(np.meshgrid(np.linspace(0.0, 1.0, 9), np.linspace(0.0, 1.0, 9), indexing="ij"), axis=-1).reshape(-1, 2)
CORNERS = np.array([[0.0, 0.0], [1.0, 1.0]])


def potential_samples(count, *, on_grid, seed=0):
    """A random potential, and its gradient times a function of it: a vector that turns with the square."""
    rng = np.random.default_rng(seed)
    samples = []
    for _ in range(count):
        points = GRID if on_grid else np.concatenate([CORNERS, rng.random((60, 2))])
        a, b, c = rng.uniform(-1.0, 1.0, size=3)
        x, y = np.cos(np.pi * points).T
        potential = a * x + b * y + c * x * y
        slopes = -np.pi * np.sin(np.pi * points) * np.stack([a + c * y, b + c * x], axis=1)
        samples.append(
            gola.Sample(points=points, inputs=potential[:, None], targets=(1.0 + 0.5 * potential[:, None]) * slopes)
        )
    return samples


def dataset(samples, names=("flow_x", "flow_y")):
    return gola.Dataset(
        samples=tuple(samples),
        inputs=(gola.Channel(name="potential"),),
        targets=tuple(gola.Channel(name=name) for name in names),
        correspondence="same points" if samples[0].points is samples[-1].points else "none",
    )


@pytest.fixture(scope="module", params=[True, False], ids=["grid", "scattered"])
def fitted(request):
    samples = potential_samples(NUM_SAMPLES, on_grid=request.param)
    return gola.fit(dataset(samples), small_operator("kernel").config, progress=False), samples


def cloud_of(samples):
    clouds = [Cloud.of(torch.from_numpy(one.points), torch.from_numpy(one.inputs)) for one in samples]
    return Cloud.collate(clouds), torch.cat([torch.from_numpy(one.targets) for one in samples])


@pytest.mark.parametrize("on_grid", [True, False], ids=["grid", "scattered"])
@pytest.mark.parametrize("text", ["-xy", "yx", "y-x"])
def test_copies_equal_those_of_mirrored_samples(on_grid, text):
    samples, symmetry = potential_samples(4, on_grid=on_grid), Symmetry.parse(text)
    operator = small_operator("kernel", num_outputs=2)
    operator.fit(FitTask.of(dataset(samples)))
    channels = operator._channels
    mirror = Mirror(frame=Scaling.fit(samples).frame, inputs=channels.inputs, targets=channels.targets)
    images = [mirror.image(sample, symmetry) for sample in samples]
    known = Samples.of(*cloud_of(samples), Mesh())
    copy = Copy.of(symmetry, channels, torch.tensor([False]))
    found = copied_solutions(operator.solutions, operator._solutions_of(known), copy)
    if not on_grid:
        wanted = operator.solutions.coefficients(*_parts(images))
        torch.testing.assert_close(found, wanted, rtol=1e-7, atol=1e-9)
        return
    for image, values in zip(images, found, strict=True):
        order = [int(np.abs(image.points - node).sum(axis=1).argmin()) for node in GRID]
        np.testing.assert_allclose(values.numpy(), image.targets[order], atol=1e-9)


def _parts(samples):
    return [torch.from_numpy(one.points) for one in samples], [torch.from_numpy(one.targets) for one in samples]


def test_symmetries_of_vectors_are_found_and_kept_by_predictions(fitted):
    surrogate, _ = fitted
    assert len(surrogate.operator.symmetries) >= 7
    assert len(surrogate.operator.held_out) == NUM_SAMPLES
    new = potential_samples(1, on_grid=True, seed=9)[0]
    plain = surrogate.predict(new.points, new.inputs)
    # Swapped axes: the potential at (y, x), the flow with its components swapped.
    swapped = surrogate.predict(new.points[:, ::-1], new.inputs, at=new.points[:, ::-1])
    np.testing.assert_allclose(swapped[:, ::-1], plain, atol=1e-4 * np.abs(plain).max())
    assert gola.evaluate(surrogate, dataset([new])).mean < 0.3


def test_copies_make_predictions_better(fitted):
    surrogate, samples = fitted
    plain = gola.fit(dataset(samples), small_operator("kernel", symmetries=False).config, progress=False)
    assert surrogate.scores["cv_error"] < 0.7 * plain.scores["cv_error"]


def test_samples_are_held_out_with_their_copies(fitted):
    surrogate, samples = fitted
    cloud, targets = cloud_of(samples)
    operator, other = (_with_penalty(surrogate.operator, 1e-3) for _ in range(2))
    operator.refit(cloud, targets)
    held_out = operator.leave_one_out().split(cloud.sizes)
    for row in (0, 5):
        other.refit(*samples_of(cloud, targets, [one for one in range(NUM_SAMPLES) if one != row]))
        alone, _ = samples_of(cloud, targets, [row])
        torch.testing.assert_close(held_out[row], other(alone), rtol=1e-6, atol=1e-6)


def _with_penalty(operator, penalty):
    """A copy of an operator that rounding does not trouble."""
    other = deepcopy(operator)
    other.choice["penalty"] = penalty
    return other


def test_an_operator_without_symmetries_gets_no_copies():
    samples = [
        replace(
            one, targets=(one.inputs**2 * (1.0 + 3.0 * one.points[:, :1] + one.points[:, 1:] ** 2)) ** 2 + one.inputs
        )
        for one in potential_samples(NUM_SAMPLES, on_grid=True)
    ]
    surrogate = gola.fit(dataset(samples, names=("speed",)), small_operator("kernel").config, progress=False)
    assert not surrogate.operator.symmetries


def test_positive_channels_keep_their_sign():
    samples = [replace(one, inputs=np.exp(one.inputs)) for one in potential_samples(NUM_SAMPLES, on_grid=True)]
    surrogate = gola.fit(dataset(samples), small_operator("kernel").config, progress=False)
    assert all(symmetry.input_sign == 1 for symmetry in surrogate.operator.symmetries)
