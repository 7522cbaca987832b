import numpy as np
import pytest

from gola.geometry import Box, ImplicitDomain, Polygon, uniform_points
from gola.operators.spectral.transforms import domain_transform
from gola.operators.spectral.waves import evaluate_waves, wave_gram, wave_numbers


@pytest.mark.parametrize(("dim", "count"), [(1, 4), (2, 25), (3, 172)])
def test_one_wave_of_each_opposite_pair_is_kept(dim, count):
    numbers = wave_numbers(3, dim)
    assert len(numbers) == count
    assert not numbers[0].any()
    pairs = {tuple(row) for row in numbers} & {tuple(-row) for row in numbers}
    assert pairs == {(0,) * dim}
    assert np.abs(numbers).max() == 3


def test_waves_are_orthonormal_on_their_box():
    sides = (2.0, 3.0)
    numbers = wave_numbers(3, 2)
    box = Box(lower=np.zeros(2), upper=np.array(sides))
    gram = wave_gram(domain_transform(box, sides, 6), numbers)
    expected = np.eye(len(gram))
    # The sine of wave number zero is no function at all.
    expected[len(numbers), len(numbers)] = 0.0
    np.testing.assert_allclose(gram, expected, atol=1e-14)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_gram_of_a_box_is_the_mean_of_products(dim):
    rng = np.random.default_rng(0)
    box = Box(lower=rng.uniform(-0.5, 0.0, dim), upper=rng.uniform(0.5, 1.0, dim))
    sides = tuple(rng.uniform(1.5, 3.0, dim))
    numbers = wave_numbers(2, dim)
    # Gauss-Legendre nodes integrate products of so few waves to rounding error.
    nodes, weights = np.polynomial.legendre.leggauss(24)
    axes = [low + (high - low) * (nodes + 1) / 2 for low, high in zip(box.lower, box.upper, strict=True)]
    points = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    shares = np.prod(np.meshgrid(*[weights / 2] * dim, indexing="ij"), axis=0).ravel()
    waves = evaluate_waves(points, numbers, sides)
    expected = waves.T @ (shares[:, None] * waves)
    np.testing.assert_allclose(wave_gram(domain_transform(box, sides, 4), numbers), expected, atol=1e-12)


def l_shape_with_a_hole():
    """Clockwise outline and a hole against the clock: the corners of a polygon may go either way round."""
    outline = np.array([[0.0, 0.0], [0.0, 1.0], [0.5, 1.0], [0.5, 0.5], [1.0, 0.5], [1.0, 0.0]])
    hole = np.array([[0.1, 0.1], [0.3, 0.1], [0.3, 0.4], [0.1, 0.4]])
    return Polygon(exterior=outline, holes=(hole,))


def test_transform_of_a_polygon_with_a_hole_is_that_of_the_boxes_it_is_made_of():
    polygon, sides = l_shape_with_a_hole(), (2.0, 2.5)
    parts = [((0.0, 0.0), (1.0, 0.5), 1.0), ((0.0, 0.5), (0.5, 1.0), 1.0), ((0.1, 0.1), (0.3, 0.4), -1.0)]
    expected = 0.0
    for lower, upper, sign in parts:
        box = Box(lower=np.array(lower), upper=np.array(upper))
        expected = expected + sign * box.measure * domain_transform(box, sides, 8)
    found = domain_transform(polygon, sides, 8)
    np.testing.assert_allclose(found * polygon.measure, expected, atol=1e-14)


def test_transform_on_a_lattice_is_nearly_the_exact_one():
    polygon, sides = l_shape_with_a_hole(), (2.0, 2.5)
    distance_only = ImplicitDomain(distance=polygon.signed_distance, lower=polygon.lower, upper=polygon.upper)
    exact = domain_transform(polygon, sides, 8)
    np.testing.assert_allclose(domain_transform(distance_only, sides, 8), exact, atol=2e-4)


def test_transform_in_three_dimensions_is_that_of_many_points():
    box = Box(lower=np.zeros(3), upper=np.array([1.0, 0.5, 0.8]))
    points = uniform_points(box, 20000, np.random.default_rng(0))
    transform = domain_transform(box, (2.0, 2.0, 2.0), 2)
    phases = np.pi * points @ np.array([2, -1, 1])
    np.testing.assert_allclose(transform[4, 1, 3], np.exp(1j * phases).mean(), atol=0.02)
