import numpy as np
import pytest
from jaxtyping import Float

from gola.geometry.domains import Polygon
from gola.problems.finite_elements import node_weights
from gola.problems.meshing import TriangleMesh, graded_size, sample_curve, sample_outline, triangulate
from gola.problems.navier_stokes import TaylorHood
from gola.problems.random_shapes import StarShape

from .perforated import SQUARE, observed_order

KOVASZNAY_REYNOLDS = 40.0


def kovasznay(points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, "point 3"]:
    """Return velocity and pressure of the flow behind a grid (Kovasznay, 1948), an exact solution."""
    x, y = points.T - np.array([[0.5], [0.5]])
    rate = KOVASZNAY_REYNOLDS / 2.0 - np.sqrt(KOVASZNAY_REYNOLDS**2 / 4.0 + 4.0 * np.pi**2)
    wake = np.exp(rate * x)
    return np.column_stack(
        [
            1.0 - wake * np.cos(2.0 * np.pi * y),
            rate / (2.0 * np.pi) * wake * np.sin(2.0 * np.pi * y),
            -0.5 * wake**2,
        ]
    )


def square_mesh(size: float) -> TriangleMesh:
    wanted = graded_size(SQUARE, finest=size, coarsest=size, growth=0.2)
    return triangulate(Polygon(exterior=sample_outline(SQUARE, wanted)), wanted)


def solve_kovasznay(mesh: TriangleMesh) -> Float[np.ndarray, "point 3"]:
    """Solve with the exact velocity all around, and the exact pressure at one node."""
    elements = TaylorHood(mesh)
    velocity = elements.velocity
    around = elements.velocity_on(velocity.mesh.boundary_facets())
    start = np.zeros(elements.num_unknowns)
    exact = kovasznay(velocity.doflocs.T)
    is_first = np.isin(np.arange(velocity.N), np.concatenate([velocity.nodal_dofs[0], velocity.facet_dofs[0]]))
    start[around] = np.where(is_first, exact[:, 0], exact[:, 1])[around]
    start[velocity.N] = kovasznay(mesh.points[:1])[0, 2]
    fixed = np.append(around, velocity.N)
    return elements.at_nodes(elements.solve(1.0 / KOVASZNAY_REYNOLDS, fixed, start))


def test_errors_of_an_exact_solution_have_the_order_of_the_elements() -> None:
    errors = []
    for size in (0.2, 0.1, 0.05):
        mesh = square_mesh(size)
        squares = np.square(solve_kovasznay(mesh) - kovasznay(mesh.points))
        errors.append(np.sqrt(node_weights(mesh.points, mesh.cells) @ squares))
    velocity_x, velocity_y, pressure = np.transpose(errors)
    assert observed_order(velocity_x) > 2.7
    assert observed_order(velocity_y) > 2.7
    assert observed_order(pressure) > 1.8


def test_pressure_drop_over_a_cylinder_is_that_of_the_benchmark() -> None:
    # Schäfer and Turek (1996), case 2D-1: Re = 20, pressure difference 0.11752 between front and back.
    height, radius = 0.41, 0.05
    cylinder = StarShape.circle(np.array([0.2, 0.2]), radius)
    corners = np.array([[0.0, 0.0], [2.2, 0.0], [2.2, height], [0.0, height]])
    outline = cylinder.outline(np.linspace(0.0, 1.0, 200, endpoint=False))
    size = graded_size(outline, finest=0.004, coarsest=0.06, growth=0.2)
    polygon = Polygon(exterior=sample_outline(corners, size), holes=(sample_curve(cylinder.outline, size),))
    mesh = triangulate(polygon, size)
    elements = TaylorHood(mesh)
    velocity = elements.velocity
    fixed = elements.velocity_on(velocity.mesh.facets_satisfying(lambda x: x[0] < 2.2 - 1e-9, boundaries_only=True))
    x, y = velocity.doflocs
    is_first = np.isin(np.arange(velocity.N), np.concatenate([velocity.nodal_dofs[0], velocity.facet_dofs[0]]))
    start = np.zeros(elements.num_unknowns)
    start[: velocity.N] = np.where(is_first & (x < 1e-9), 1.2 * y * (height - y) / height**2, 0.0)
    pressure = elements.at_nodes(elements.solve(1e-3, fixed, start))[:, 2]
    front, back = (
        np.argmin(np.linalg.norm(mesh.points - place, axis=1)) for place in ([0.2 - radius, 0.2], [0.2 + radius, 0.2])
    )
    assert pressure[front] - pressure[back] == pytest.approx(0.11752, rel=0.01)


def test_developed_flow_between_plates_is_exact() -> None:
    mesh = square_mesh(0.3)
    elements = TaylorHood(mesh)
    velocity = elements.velocity
    walls_and_inflow = velocity.mesh.facets_satisfying(lambda x: x[0] < 1.0 - 1e-9, boundaries_only=True)
    fixed = elements.velocity_on(walls_and_inflow)
    is_first = np.isin(np.arange(velocity.N), np.concatenate([velocity.nodal_dofs[0], velocity.facet_dofs[0]]))
    start = np.zeros(elements.num_unknowns)
    start[: velocity.N] = np.where(is_first, velocity.doflocs[1] * (1.0 - velocity.doflocs[1]), 0.0)
    # Only boundary values may stay: the inside is to be found.
    inside = np.setdiff1d(np.arange(elements.num_unknowns), fixed)
    start[inside] = 0.0
    found = elements.at_nodes(elements.solve(0.05, fixed, start))
    x, y = mesh.points.T
    expected = np.column_stack([y * (1.0 - y), np.zeros_like(y), 2.0 * 0.05 * (1.0 - x)])
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_a_start_too_far_away_is_reported() -> None:
    mesh = square_mesh(0.3)
    elements = TaylorHood(mesh)
    fixed = elements.velocity_on(elements.velocity.mesh.boundary_facets())
    rng = np.random.default_rng(0)
    with pytest.raises(ArithmeticError, match=r"did not converge .* start from the flow"):
        elements.solve(1e-7, np.append(fixed, elements.velocity.N), rng.normal(size=elements.num_unknowns))
