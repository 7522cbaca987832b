import numpy as np
import pytest
import torch
from scipy.interpolate import LinearNDInterpolator

from gola.geometry.interpolation import interpolation_weights
from gola.representation.interpolated import interpolation_weights as of_tensors


def interpolate(points, values, queries):
    rows, weights = interpolation_weights(points, queries)
    return (values[rows] * weights).sum(axis=1)


def smooth(points):
    return np.sin(5.0 * points[:, 0]) * np.cos(3.0 * points[:, 1])


@pytest.mark.parametrize("dim", [2, 3])
def test_it_meets_the_values_at_the_points(dim):
    points = np.random.default_rng(0).random((300, dim))
    np.testing.assert_allclose(interpolate(points, smooth(points), points), smooth(points), atol=1e-12)


@pytest.mark.parametrize("dim", [2, 3])
def test_it_is_exact_for_linear_functions_even_beyond_the_points(dim):
    rng = np.random.default_rng(0)
    points, queries, slope = rng.random((200, dim)), 2.0 * rng.random((100, dim)) - 0.5, rng.random(dim)
    np.testing.assert_allclose(interpolate(points, points @ slope + 1.0, queries), queries @ slope + 1.0, atol=1e-8)


def test_it_is_far_more_accurate_than_linear_interpolation_on_a_triangulation():
    rng = np.random.default_rng(0)
    points, queries = rng.random((1000, 2)), 0.05 + 0.9 * rng.random((2000, 2))
    linear = LinearNDInterpolator(points, smooth(points))(queries)
    cubic = interpolate(points, smooth(points), queries)
    exact = smooth(queries)
    assert np.linalg.norm(cubic - exact) < np.linalg.norm(linear - exact) / 10.0


def test_points_on_a_line_interpolate_along_it():
    points = np.stack([np.linspace(0.0, 1.0, 30), np.zeros(30)], axis=1)
    on_the_line, beside_it = np.array([[0.33, 0.0]]), np.array([[0.33, 0.2]])
    np.testing.assert_allclose(interpolate(points, points[:, 0] ** 2, on_the_line), 0.33**2, atol=1e-4)
    np.testing.assert_allclose(interpolate(points, points[:, 0], beside_it), 0.33, atol=1e-8)


@pytest.mark.parametrize("num_points", [1, 2, 3])
def test_a_handful_of_points_is_enough_for_a_constant(num_points):
    rng = np.random.default_rng(0)
    points, queries = rng.random((num_points, 2)), rng.random((5, 2))
    np.testing.assert_allclose(interpolate(points, np.full(num_points, 7.0), queries), 7.0, rtol=1e-4)


def test_coincident_points_do_no_harm():
    points = np.random.default_rng(0).random((100, 2))
    doubled = np.concatenate([points, points[:50]])
    queries = np.random.default_rng(1).random((20, 2))
    expected = interpolate(points, smooth(points), queries)
    np.testing.assert_allclose(interpolate(doubled, smooth(doubled), queries), expected, atol=1e-12)


def test_many_queries_are_answered_in_portions():
    points = np.random.default_rng(0).random((50, 2))
    queries = np.random.default_rng(1).random((20_000, 2))
    assert interpolate(points, points[:, 0], queries) == pytest.approx(queries[:, 0], abs=1e-8)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_quintic_splines_are_exact_for_quadratic_functions_even_beyond_the_points(dim):
    rng = np.random.default_rng(0)
    points, queries = rng.random((200, dim)), rng.uniform(-0.1, 1.1, (40, dim))
    matrix = rng.standard_normal((dim, dim))

    def quadratic(x):
        return 1.0 + x.sum(axis=1) + np.einsum("ni,ij,nj->n", x, matrix, x)

    rows, weights = interpolation_weights(points, queries, degree=2)
    np.testing.assert_allclose((weights * quadratic(points)[rows]).sum(axis=1), quadratic(queries), atol=1e-6)
    placed = torch.from_numpy(queries).requires_grad_()
    again, differentiable = of_tensors(points, placed, degree=2)
    assert np.array_equal(again.numpy(), rows)
    np.testing.assert_allclose(differentiable.detach().numpy(), weights, atol=1e-8)
