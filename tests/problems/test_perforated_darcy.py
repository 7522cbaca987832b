from collections.abc import Sequence

import numpy as np
import pytest
from jaxtyping import Float

from gola.geometry.domains import Polygon
from gola.problems.finite_elements import node_weights
from gola.problems.meshing import TriangleMesh, graded_size, sample_outline, triangulate
from gola.problems.perforated_darcy import PerforatedDarcy, solve_darcy
from gola.problems.random_functions import PlaneFunction
from gola.problems.random_shapes import StarShape

from .perforated import SQUARE, observed_order, refined_twice

HOLE = StarShape.circle(np.array([0.45, 0.55]), 0.2)


def exact_pressure(points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, " point"]:
    """u = s q with s = sin πx sin πy, 0 on the square, and q = (r² − R²)², which has no slope at the hole."""
    square = np.square(points - HOLE.centre).sum(axis=1) - HOLE.radius**2
    return np.prod(np.sin(np.pi * points), axis=1) * square**2


def exact_permeability(points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, " point"]:
    return np.exp(points[:, 0] - 2.0 * points[:, 1])


def exact_source(points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, " point"]:
    """f = −a (Δu + ∇(log a) · ∇u), with the product rule for u = s q."""
    sines, cosines = np.sin(np.pi * points), np.cos(np.pi * points)
    arms = points - HOLE.centre
    radii2 = np.square(arms).sum(axis=1)
    offset = radii2 - HOLE.radius**2
    s, q = sines[:, 0] * sines[:, 1], offset**2
    slope_s = np.pi * np.stack([cosines[:, 0] * sines[:, 1], sines[:, 0] * cosines[:, 1]], axis=1)
    slope_q = 4.0 * offset[:, None] * arms
    laplacian = -2.0 * np.pi**2 * s * q + 2.0 * (slope_s * slope_q).sum(axis=1) + s * 8.0 * (radii2 + offset)
    slope = q[:, None] * slope_s + s[:, None] * slope_q
    return -exact_permeability(points) * (laplacian + slope @ np.array([1.0, -2.0]))


def order_of(solved: Sequence[tuple[TriangleMesh, Float[np.ndarray, " point"]]], exact: PlaneFunction) -> float:
    errors = []
    for mesh, pressure in solved:
        squares = np.square(pressure - exact(mesh.points))
        errors.append(float(np.sqrt(node_weights(mesh.points, mesh.cells) @ squares)))
    return observed_order(errors)


def test_halving_the_elements_more_than_quarters_the_error_around_a_round_hole() -> None:
    # The polygon that stands for the circle limits the order to two.
    meshes = refined_twice(HOLE, size=0.1, growth=0.2)
    solved = [(mesh, solve_darcy(mesh, exact_permeability, exact_source)) for mesh in meshes]
    assert order_of(solved, exact_pressure) > 2.0


def test_halving_the_elements_divides_the_error_by_eight_where_no_edge_is_curved() -> None:
    solved = []
    for size in (0.1, 0.05, 0.025):
        wanted = graded_size(SQUARE, finest=size, coarsest=size, growth=0.2)
        mesh = triangulate(Polygon(exterior=sample_outline(SQUARE, wanted)), wanted)
        solved.append((mesh, solve_darcy(mesh, exact_permeability, exact_source)))
    assert order_of(solved, exact_pressure) > 2.7


def test_pressure_vanishes_around_the_square_but_not_at_the_holes() -> None:
    sample = PerforatedDarcy(finest=0.013).generate(0, [1])[0]
    pressure = sample.targets[:, 0]
    at_hole = sample.inputs[:, 2] == 0.0
    np.testing.assert_array_equal(pressure[sample.boundary & ~at_hole], 0.0)
    assert (pressure[at_hole] != 0.0).all()


def test_a_positive_source_makes_a_positive_pressure() -> None:
    mesh = PerforatedDarcy(finest=0.013).mesh([HOLE])
    pressure = solve_darcy(mesh, exact_permeability, lambda points: np.ones(len(points)))
    assert (pressure[len(mesh.loops[0]) :] > 0.0).all()


def test_inputs_are_the_permeability_the_source_and_the_distance_to_the_nearest_hole() -> None:
    samples = PerforatedDarcy(finest=0.013).generate(3, range(6))
    permeability, source, _ = np.concatenate([sample.inputs for sample in samples]).T
    assert permeability.min() > 0.0
    assert np.log(permeability).std() == pytest.approx(1.0, abs=0.35)
    assert source.mean() == pytest.approx(1.0, abs=0.5)
    assert source.min() < 0.0


@pytest.mark.parametrize("parameters", [{"max_holes": 0}, {"log_deviation": -1.0}, {"length_scale": 0.0}])
def test_impossible_parameters_are_refused(parameters: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="perforated_darcy needs"):
        PerforatedDarcy(**parameters)
