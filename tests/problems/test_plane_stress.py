import numpy as np
import pytest
from jaxtyping import Float

from gola.problems.finite_elements import node_weights
from gola.problems.plane_stress import Material, solve_plane_stress, von_mises, without_rigid_motion
from gola.problems.random_shapes import StarShape

from .perforated import draw_holes, observed_order, perforated_square, refined_twice

STEEL = Material(young=210e9, poisson=0.3)
CENTRE = np.array([0.5, 0.5])


def kirsch_stress(points: Float[np.ndarray, "point 2"], radius: float) -> Float[np.ndarray, "point 3"]:
    """The stress around a circular hole at the centre of an infinite plate pulled along x by 1 Pa."""
    x, y = (points - CENTRE).T
    angle, inverse = np.arctan2(y, x), radius**2 / (x**2 + y**2)
    cos2, sin2, cos4, sin4 = np.cos(2 * angle), np.sin(2 * angle), np.cos(4 * angle), np.sin(4 * angle)
    xx = 1.0 - inverse * (1.5 * cos2 + cos4) + 1.5 * inverse**2 * cos4
    yy = -inverse * (0.5 * cos2 - cos4) - 1.5 * inverse**2 * cos4
    xy = -inverse * (0.5 * sin2 + sin4) + 1.5 * inverse**2 * sin4
    return np.stack([xx, yy, xy], axis=1)


def pulled_along_x(points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, "point 3"]:
    return np.tile([1.0, 0.0, 0.0], (len(points), 1))


def test_a_plate_pulled_bent_and_sheared_without_a_hole_is_solved_exactly() -> None:
    # The hole of the mesh is loaded as well here: its loop counts as part of the outline.
    mesh, _ = perforated_square(draw_holes(0), finest=0.013, coarsest=0.2)
    whole = type(mesh)(points=mesh.points, cells=mesh.cells, loops=(np.concatenate(mesh.loops),))

    def applied(points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, "point 3"]:
        x, y = points.T
        return np.stack([2.0 + 3.0 * y, -1.0 + 4.0 * x, np.full_like(x, 0.5)], axis=1)

    displacement, stress = solve_plane_stress(whole, Material(young=2.0, poisson=0.25), applied)
    np.testing.assert_allclose(stress, applied(mesh.points), atol=1e-9)
    x, y = mesh.points.T
    # The strains of that stress: εxx = (σxx − ν σyy) / E and so on, integrated by hand.
    expected = np.stack(
        [
            1.125 * x - 0.25 * x**2 + 1.5 * x * y - y**2 + 0.625 * y,
            -0.75 * y - 0.1875 * y**2 + 2.0 * x * y - 0.75 * x**2,
        ],
        axis=1,
    )
    weights = node_weights(mesh.points, mesh.cells)
    np.testing.assert_allclose(displacement, without_rigid_motion(mesh.points, expected, weights), atol=1e-9)


def test_stress_around_a_circular_hole_converges_to_kirsch_with_second_order() -> None:
    radius = 0.2
    errors = []
    for mesh in refined_twice(StarShape.circle(CENTRE, radius), size=0.12, growth=0.2):
        _, stress = solve_plane_stress(mesh, STEEL, lambda points: kirsch_stress(points, radius))
        squares = np.square(stress - kirsch_stress(mesh.points, radius)).sum(axis=1)
        errors.append(float(np.sqrt(node_weights(mesh.points, mesh.cells) @ squares)))
    assert observed_order(errors) > 1.8
    assert errors[-1] < 4e-3


def test_a_small_hole_in_a_large_plate_triples_the_stress() -> None:
    diameter = 0.05
    mesh, _ = perforated_square([StarShape.circle(CENTRE, diameter / 2)], finest=0.001, coarsest=0.06)
    _, stress = solve_plane_stress(mesh, STEEL, pulled_along_x)
    rays, at_hole = mesh.points[mesh.loops[1]] - CENTRE, stress[mesh.loops[1]]
    across, along = np.argmin(np.abs(rays), axis=0)
    # Heywood's formula for a strip as wide as the plate: (2 + (1 − d/W)³) / (1 − d/W) times the remote stress, 3.008.
    in_strip = (2.0 + (1.0 - diameter) ** 3) / (1.0 - diameter)
    assert at_hole[across, 0] == pytest.approx(in_strip, rel=0.005)
    assert von_mises(stress).max() == pytest.approx(3.0, rel=0.01)
    assert at_hole[along, 1] == pytest.approx(-1.0, rel=0.02)


def test_the_edge_of_a_hole_carries_no_traction() -> None:
    hole = draw_holes(3)[0]
    mesh, _ = perforated_square([hole], finest=0.003, coarsest=0.05)
    _, stress = solve_plane_stress(mesh, STEEL, pulled_along_x)
    corners = mesh.points[mesh.loops[1]]
    tangents = np.roll(corners, -1, axis=0) - np.roll(corners, 1, axis=0)
    normals = np.stack([tangents[:, 1], -tangents[:, 0]], axis=1) / np.linalg.norm(tangents, axis=1)[:, None]
    xx, yy, xy = stress[mesh.loops[1]].T
    traction = np.stack([xx * normals[:, 0] + xy * normals[:, 1], xy * normals[:, 0] + yy * normals[:, 1]], axis=1)
    assert np.sqrt(np.square(traction).sum(axis=1).mean()) < 0.02 * von_mises(stress).max()


def test_displacements_have_no_mean_and_no_mean_rotation() -> None:
    mesh, _ = perforated_square(draw_holes(2))
    displacement, _ = solve_plane_stress(mesh, STEEL, pulled_along_x)
    weights = node_weights(mesh.points, mesh.cells)
    scale = np.abs(displacement).max()
    arms = mesh.points - weights @ mesh.points / weights.sum()
    moments = arms[:, 0] * displacement[:, 1] - arms[:, 1] * displacement[:, 0]
    np.testing.assert_allclose(weights @ displacement, 0.0, atol=1e-12 * scale)
    np.testing.assert_allclose(weights @ moments, 0.0, atol=1e-12 * scale)


def test_von_mises_stress_of_simple_states() -> None:
    states = np.array([[5.0, 0.0, 0.0], [0.0, 0.0, 1.0], [2.0, 2.0, 0.0]])
    np.testing.assert_allclose(von_mises(states), [5.0, np.sqrt(3.0), 2.0])


@pytest.mark.parametrize(("young", "poisson"), [(0.0, 0.3), (1.0, 0.6), (1.0, -1.0)])
def test_impossible_materials_are_refused(young: float, poisson: float) -> None:
    with pytest.raises(ValueError, match="A material needs"):
        Material(young=young, poisson=poisson)
