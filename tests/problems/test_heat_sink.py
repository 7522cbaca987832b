from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import skfem
from jaxtyping import Float
from scipy.optimize import brentq
from scipy.special import j0, j1, y0, y1

from gola.geometry.domains import Polygon
from gola.problems.extrusion import PlateMesh, extrude
from gola.problems.finite_elements import element_mesh, node_weights
from gola.problems.heat_sink import HeatSink, draw_power_map, graded_levels, solve_conduction
from gola.problems.meshing import graded_size, sample_curve, triangulate
from gola.problems.random_shapes import StarShape

from .perforated import observed_order

INNER, OUTER, THICKNESS = 0.3, 1.0, 0.4
CONDUCTIVITY, HOLE_TRANSFER, BOTTOM_TRANSFER = 2.0, 3.0, 1.5


@dataclass(frozen=True)
class RingSolution:
    """The slowest mode of a ring-shaped plate, T = R(r) Z(z), harmonic and of the wanted kind on every surface.

    R = J₀(κr) Y₁(κb) − Y₀(κr) J₁(κb) has no slope at the insulated outline r = b. The wall r = a takes k R' = h R,
    which fixes κ. Z = cosh κz + (h / kκ) sinh κz takes k Z' = h Z at the bottom.
    """

    rate: float

    @classmethod
    def slowest(cls) -> "RingSolution":
        def imbalance(rate: float) -> float:
            solution = cls(rate)
            return CONDUCTIVITY * solution.radial_slope(INNER) - HOLE_TRANSFER * float(solution.radial(INNER))

        return cls(float(brentq(imbalance, 0.5, 3.0)))

    def radial(self, radii: float | Float[np.ndarray, " point"]) -> Float[np.ndarray, "..."]:
        argument, end = self.rate * np.asarray(radii), self.rate * OUTER
        return np.asarray(j0(argument) * y1(end) - y0(argument) * j1(end))

    def radial_slope(self, radius: float) -> float:
        argument, end = self.rate * radius, self.rate * OUTER
        return float(-self.rate * (j1(argument) * y1(end) - y1(argument) * j1(end)))

    def temperature(self, points: Float[np.ndarray, "point 3"]) -> Float[np.ndarray, " point"]:
        heights = self.rate * points[:, 2]
        ratio = BOTTOM_TRANSFER / (CONDUCTIVITY * self.rate)
        return self.radial(np.hypot(*points[:, :2].T)) * (np.cosh(heights) + ratio * np.sinh(heights))

    def heat_flux(self, points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, " point"]:
        height = self.rate * THICKNESS
        slope = CONDUCTIVITY * self.rate * np.sinh(height) + BOTTOM_TRANSFER * np.cosh(height)
        return self.radial(np.hypot(*points.T)) * slope


def ring_plate(size: float, num_layers: int) -> PlateMesh:
    hole, outline = StarShape.circle(np.zeros(2), INNER), StarShape.circle(np.zeros(2), OUTER)
    wanted = graded_size(np.zeros((1, 2)), finest=size, coarsest=size, growth=0.2)
    polygon = Polygon(exterior=sample_curve(outline.outline, wanted), holes=(sample_curve(hole.outline, wanted),))
    return extrude(triangulate(polygon, wanted), np.linspace(0.0, THICKNESS, num_layers + 1))


def solve_ring(mesh: PlateMesh, solution: RingSolution) -> Float[np.ndarray, " point"]:
    return solve_conduction(
        mesh,
        conductivity=CONDUCTIVITY,
        heat_flux=solution.heat_flux,
        hole_transfer=HOLE_TRANSFER,
        bottom_transfer=BOTTOM_TRANSFER,
    )


def test_halving_the_elements_quarters_the_error_in_a_ring() -> None:
    solution = RingSolution.slowest()
    errors = []
    for scale in (1, 2, 4):
        mesh = ring_plate(0.2 / scale, 2 * scale)
        squares = np.square(solve_ring(mesh, solution) - solution.temperature(mesh.points))
        errors.append(float(np.sqrt(node_weights(mesh.points, mesh.cells) @ squares)))
    assert observed_order(errors) > 1.8


def test_all_heat_that_enters_leaves_through_the_holes_and_the_bottom() -> None:
    problem = HeatSink()
    holes = [StarShape.circle(np.array(centre), 0.01) for centre in ([0.03, 0.03], [0.07, 0.06])]
    mesh = extrude(problem.mesh(holes), graded_levels(problem.thickness, 4))
    power_map = draw_power_map(np.random.default_rng(0), problem.side)
    temperature = solve_conduction(
        mesh, conductivity=30.0, heat_flux=power_map, hole_transfer=3000.0, bottom_transfer=200.0
    )
    elements = element_mesh(mesh.points, mesh.cells)

    def surface(select: Callable[[np.ndarray], np.ndarray]) -> skfem.FacetBasis:
        facets = elements.facets_satisfying(select, boundaries_only=True)
        return skfem.FacetBasis(elements, skfem.ElementTetP1(), facets=facets, intorder=4)

    def near_a_hole(x: np.ndarray) -> np.ndarray:
        distances = [np.hypot(x[0] - hole.centre[0], x[1] - hole.centre[1]) for hole in holes]
        return (np.min(distances, axis=0) < 0.0101) & (x[2] > 1e-6) & (x[2] < problem.thickness - 1e-6)

    walls, bottom = surface(near_a_hole), surface(lambda x: x[2] < 1e-9)
    top = surface(lambda x: x[2] > problem.thickness - 1e-9)
    lost = [
        transfer * np.sum(np.asarray(face.interpolate(temperature)) * face.dx)
        for transfer, face in ((3000.0, walls), (200.0, bottom))
    ]
    places = np.asarray(top.global_coordinates())
    gained = np.sum(power_map(places[:2].reshape(2, -1).T) * top.dx.ravel())
    assert min(lost) > 0.05 * gained
    assert sum(lost) == pytest.approx(gained, rel=1e-10)


def test_uniform_heat_falls_linearly_through_a_plate_without_cooled_holes() -> None:
    mesh = ring_plate(0.2, 2)
    uniform = solve_conduction(
        mesh,
        conductivity=CONDUCTIVITY,
        heat_flux=lambda points: np.full(len(points), 7.0),
        hole_transfer=1e-9,
        bottom_transfer=3.5,
    )
    # All heat crosses the plate: T = q / h at the bottom, and q z / k more above.
    np.testing.assert_allclose(uniform, 2.0 + 3.5 * mesh.points[:, 2], rtol=1e-7)


def test_the_plate_is_hottest_on_top_and_everywhere_warmer_than_the_coolant() -> None:
    for sample in HeatSink(num_layers=3).generate(0, range(4)):
        temperature = sample.targets[:, 0]
        assert temperature.min() > 0.0
        assert sample.points[np.argmax(temperature), 2] == pytest.approx(0.02)


def test_inputs_do_not_vary_with_height() -> None:
    sample = HeatSink(num_layers=3).generate(0, [0])[0]
    by_level = sample.inputs.reshape(4, -1, 2)
    np.testing.assert_array_equal(by_level, np.broadcast_to(by_level[0], by_level.shape))


def test_layers_get_thinner_towards_the_heated_top() -> None:
    levels = graded_levels(0.02, 5)
    assert levels[0] == 0.0
    assert levels[-1] == pytest.approx(0.02)
    np.testing.assert_allclose(np.diff(levels)[1:] / np.diff(levels)[:-1], 0.8)


@pytest.mark.parametrize(
    "parameters", [{"num_layers": 1}, {"max_holes": 1}, {"thickness": 0.0}, {"conductivity": -1.0}]
)
def test_impossible_parameters_are_refused(parameters: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="heat_sink needs"):
        HeatSink(**parameters)
