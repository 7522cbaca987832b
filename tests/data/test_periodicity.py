"""Axes that look periodic are suggested; others are not."""

import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.data.inspection.periodicity import suggested_periods
from gola.problems import make_problem


def waves(points, rng, periodic):
    """A random smooth function, periodic along the axes that are named."""
    total = np.zeros(len(points))
    for _ in range(4):
        numbers = [rng.integers(0, 3) if one else rng.uniform(0.3, 1.7) for one in periodic]
        total += rng.standard_normal() * np.cos(2 * np.pi * points @ np.array(numbers) + rng.uniform(0, 6))
    return total


def grid(num_x, num_y, *, closed):
    x = np.linspace(0.0, 1.0, num_x) if closed else np.arange(num_x) / num_x
    return np.stack(np.meshgrid(x, np.linspace(0.0, 1.0, num_y), indexing="ij"), axis=-1).reshape(-1, 2)


def dataset(points, periodic, *, boundary=1.0, num_samples=8):
    rng = np.random.default_rng(0)
    values = [np.array([waves(points, rng, periodic) for _ in range(num_samples)]) for _ in range(2)]
    return Dataset.from_arrays(points, values[0], values[1] * boundary)


@pytest.mark.parametrize("closed", [True, False])
def test_a_periodic_grid_is_recognised_with_its_last_points_and_without(closed):
    points = grid(16, 9, closed=closed)
    (text,) = suggested_periods(dataset(points, (True, False)))
    assert "periodic along x with the period 1;" in text
    assert list(suggested_periods(dataset(points, (False, False)))) == []


def test_a_line_is_recognised():
    (text,) = suggested_periods(dataset(2.0 * np.arange(24)[:, None] / 24, (True,)))
    assert "period 2;" in text


def test_a_declared_axis_is_not_suggested_again():
    data = dataset(grid(16, 9, closed=False), (True, False))
    declared = Dataset.from_samples(list(data), inputs=data.inputs, targets=data.targets, periods=(1.0, None))
    assert list(suggested_periods(declared)) == []


@pytest.mark.parametrize("closed", [True, False])
def test_a_boundary_value_is_no_period(closed):
    points = grid(16, 9, closed=closed)
    bump = np.sin(np.pi * (points[:, 0] - points[:, 0].min()) / np.ptp(points[:, 0]))
    assert list(suggested_periods(dataset(points, (True, False), boundary=bump))) == []


def test_bumps_in_the_middle_of_a_box_are_not_taken_for_periodic():
    """Values near both sides are small and differ by little, but what they go on to do does not fit."""
    points, rng = grid(17, 17, closed=True), np.random.default_rng(0)
    sizes, middles = np.exp(rng.uniform(-2.0, 2.0, 14)), rng.uniform(0.2, 0.8, 14)
    bumps = [
        size * np.exp(-((points[:, 0] - middle) ** 2 + (points[:, 1] - 0.4) ** 2) / 0.1)
        for size, middle in zip(sizes, middles, strict=True)
    ]
    data = Dataset.from_arrays(points, parameters=np.stack([sizes, middles], axis=1), targets=np.array(bumps))
    assert list(suggested_periods(data)) == []


@pytest.mark.parametrize("name", ["darcy", "eikonal", "nonlinear_diffusion"])
def test_problems_with_walls_are_not_taken_for_periodic(name):
    problem = make_problem(name, resolution=16)
    samples = problem.generate(0, range(6))
    data = Dataset.from_samples(samples, inputs=problem.inputs, targets=problem.targets)
    assert list(suggested_periods(data)) == []


def held_at_zero(points, rng, num_waves=4):
    """Solutions that are zero all over the boundary of the unit box."""
    numbers = np.pi * np.arange(1, num_waves + 1)
    sizes = rng.standard_normal((num_waves, num_waves)) / (numbers[:, None] ** 2 + numbers**2)
    return np.einsum("pa,ab,pb->p", np.sin(points[:, :1] * numbers), sizes, np.sin(points[:, 1:] * numbers))


@pytest.mark.parametrize("inner", ["with walls", "within walls", "in cells"])
@pytest.mark.parametrize(
    "solution",
    [
        lambda points, rng: held_at_zero(points, rng),
        lambda points, rng: held_at_zero(points, rng, num_waves=20),
        lambda points, rng: held_at_zero(points, rng) + 3.0 * rng.random(),  # held at a value of each sample
        lambda points, rng: np.sin(np.pi * points[:, 0]) * (1.0 + rng.random() * points[:, 1]),  # a mirror image
        lambda points, rng: np.stack(
            [held_at_zero(points, rng), np.cos(2.0 * np.pi * points[:, 0]) * points[:, 1]], axis=1
        ),
    ],
)
def test_walls_on_opposite_sides_are_no_period(inner, solution):
    ends = np.linspace(0.0, 1.0, 33)
    axis = {"with walls": ends, "within walls": ends[1:-1], "in cells": (ends[1:] + ends[:-1]) / 2}[inner]
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    solutions = [solution(points, np.random.default_rng(seed)) for seed in range(6)]
    data = Dataset.from_arrays(points, parameters=np.arange(6.0), targets=solutions)
    assert list(suggested_periods(data)) == []


@pytest.mark.parametrize("held", [0.0, 1.0])
def test_both_ends_of_a_line_held_at_a_value_are_no_period(held):
    points, rng = np.linspace(0.0, 1.0, 33)[:, None], np.random.default_rng(0)
    waves = np.sin(np.pi * points * np.arange(1, 5))
    solutions = [waves @ rng.standard_normal(4) + held * rng.random() for _ in range(6)]
    data = Dataset.from_arrays(points, parameters=np.arange(6.0), targets=solutions)
    assert list(suggested_periods(data)) == []


def test_a_line_with_both_its_ends_is_recognised():
    (text,) = suggested_periods(dataset(np.linspace(0.0, 2.0, 49)[:, None], (True,)))
    assert "period 2;" in text


def test_scattered_points_tell_nothing():
    assert list(suggested_periods(dataset(np.random.default_rng(3).random((80, 2)), (True, True)))) == []
