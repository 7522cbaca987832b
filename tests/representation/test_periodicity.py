"""Functions that repeat along an axis of the bounding box."""

import pytest
import torch

from gola.operators.closed_form.input_features import InputFeatures
from gola.operators.cloud import Cloud
from gola.representation.function_space import FunctionSpace
from gola.representation.periodicity import repeating_axes, with_copies
from gola.representation.smoothness import with_chosen_penalties
from tests.operators.closed_form.examples import small_operator

NUM_SAMPLES = 6


def random_points(seed, count=150):
    corners = torch.tensor([[2.0, 1.0], [3.0, 4.0]], dtype=torch.float64)
    inside = torch.rand(count, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return torch.cat([corners, corners[0] + inside * (corners[1] - corners[0])])


def wave(points, repeats, seed):
    """A rough function that goes through whole periods along the axes that it repeats along, and not along others."""
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.cartesian_prod(torch.arange(-4, 5), torch.arange(-4, 5)).double()
    stretch = torch.tensor([1.0 if one else 0.85 for one in repeats], dtype=torch.float64)
    amplitudes, phases = torch.randn(2, len(numbers), generator=generator, dtype=torch.float64)
    fractions = points / torch.tensor([1.0, 3.0], dtype=torch.float64)
    angles = 2.0 * torch.pi * (fractions * stretch) @ numbers.T + phases
    return (torch.cos(angles) @ (amplitudes / (1.0 + numbers.square().sum(dim=1))))[:, None]


def samples(repeats):
    points = [random_points(seed) for seed in range(NUM_SAMPLES)]
    return points, [wave(places, repeats, seed) for seed, places in enumerate(points)]


def space_of(points, padding=1.25):
    return FunctionSpace.around(torch.cat(points), padding=padding, num_modes=100)


@pytest.mark.parametrize("repeats", [(True, True), (True, False), (False, True), (False, False)])
def test_the_axes_along_which_functions_repeat_are_found(repeats):
    points, values = samples(repeats)
    space = with_chosen_penalties(space_of(points), points, values)
    assert repeating_axes(space, points, values) == [axis for axis in range(2) if repeats[axis]]


def test_where_no_place_is_left_beyond_the_box_nothing_is_copied():
    points, values = samples((True, True))
    space = with_chosen_penalties(space_of(points, padding=1.0), points, values)
    assert repeating_axes(space, points, values) == []


def test_copies_are_the_same_function_one_period_further():
    points, values = samples((True, True))
    copied, copied_values = with_copies(space_of(points), [0, 1], points[0], values[0])
    assert len(copied) > len(points[0])
    torch.testing.assert_close(copied[: len(points[0])], points[0])
    torch.testing.assert_close(copied_values, wave(copied, (True, True), 0))
    outside = (copied <= torch.tensor([2.0, 1.0])) | (copied >= torch.tensor([3.0, 4.0]))
    assert outside[len(points[0]) :].any(dim=1).all()


def test_fits_of_repeating_functions_are_better_near_the_boundary():
    points, values = samples((True, True))
    elsewhere = random_points(100, count=2000)
    fractions = (elsewhere - elsewhere[0]) / (elsewhere[1] - elsewhere[0])
    near = (torch.minimum(fractions, 1.0 - fractions) < 0.05).any(dim=1)

    def error(features):
        coefficients = features.of(points, values)[:, 0, :, None] * features.scales
        found = features.space.values(elsewhere[near], coefficients[0])
        return float((found - wave(elsewhere[near], (True, True), 0)).norm())

    repeating, _ = InputFeatures.fitted(space_of(points), points, values)
    plain, _ = InputFeatures.fitted(space_of(points), points, values)
    plain.repeats = torch.zeros_like(plain.repeats)
    assert repeating.repeats.tolist() == [True, True]
    assert error(repeating) < 0.7 * error(plain)


def test_a_saved_operator_knows_along_which_axes_inputs_repeat():
    points, values = samples((True, True))
    cloud = Cloud.collate([Cloud.of(places, own) for places, own in zip(points, values, strict=True)])
    operator, other = small_operator("linear", num_modes=100), small_operator("linear", num_modes=100)
    operator.fit_cloud(cloud, cloud.values.square())
    other.load_state_dict(operator.state_dict())
    assert other.inputs.repeats.tolist() == [True, True]
    torch.testing.assert_close(other(cloud), operator(cloud))
