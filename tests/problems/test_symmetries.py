"""Problems have the symmetries that they declare: solvers map the image of an input to the image of its solution."""

from dataclasses import replace

import numpy as np
import pytest

from gola.data.mirror import Components
from gola.geometry.symmetry import Symmetry, generated_group
from gola.problems.burgers import Burgers, solve_burgers
from gola.problems.nonlinear_diffusion import NonlinearDiffusion, solve_diffusion
from gola.problems.perforated_darcy import PerforatedDarcy, solve_darcy
from gola.problems.periodic_problem import sample_series
from gola.problems.plane_stress import Material, solve_plane_stress, von_mises
from gola.problems.plate_elasticity import PlateElasticity, draw_applied_stress
from gola.problems.random_shapes import StarShape
from gola.problems.vorticity import Vorticity, solve_vorticity
from gola.registry import PROBLEMS

HOLE = StarShape.circle(np.array([0.4, 0.55]), 0.15)


def declared(problem):
    return generated_group(map(Symmetry.parse, problem.symmetries), problem.dim)[1:]


def mirrored(mesh, symmetry):
    points = symmetry.images(mesh.points)
    is_turned = np.linalg.det(np.eye(2)[list(symmetry.axes)]) * (-1) ** sum(symmetry.flips) > 0
    return replace(mesh, points=points, cells=mesh.cells if is_turned else mesh.cells[:, ::-1].copy())


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=list(PROBLEMS))
def test_what_is_declared_is_a_symmetry_that_the_channels_allow(problem):
    for one in declared(problem):
        assert Components.of(problem.inputs).allow(one)
        assert Components.of(problem.targets).allow(one)


def test_nonlinear_diffusion():
    assert NonlinearDiffusion.symmetries == ("-xy",), "x is the first axis, t the second"
    forcings = np.random.default_rng(0).normal(size=(2, 9, 12))
    np.testing.assert_allclose(solve_diffusion(forcings[:, ::-1]), solve_diffusion(forcings)[:, ::-1])


@pytest.mark.parametrize("problem", [Burgers(resolution=32), Vorticity(resolution=16, time=1.0)], ids=["1D", "2D"])
def test_fields_on_periodic_grids(problem):
    before, after = (spectra[:1] for spectra in problem.simulate([np.random.default_rng(0)]))
    solve = {1: solve_burgers, 2: solve_vorticity}[problem.dim]
    inputs, targets = Components.of(problem.inputs), Components.of(problem.targets)
    num_grid = 2 * (before.shape[-1] - 1)
    axis = np.arange(num_grid) / num_grid
    points = np.stack(np.meshgrid(*[axis] * problem.dim, indexing="ij"), axis=-1).reshape(-1, problem.dim)
    for symmetry in declared(problem):
        # The image has at each grid point the value of the point that is mapped there, up to whole periods.
        sources = np.rint((symmetry.inverse.images(points) % 1.0) * num_grid).astype(int) % num_grid
        rows = np.ravel_multi_index(tuple(sources.T), (num_grid,) * problem.dim)

        def image(spectra, components, symmetry=symmetry, rows=rows):
            values = sample_series(spectra, num_grid, problem.dim).reshape(-1, 1)[rows]
            turned = components.turned(values, symmetry).reshape((1,) + (num_grid,) * problem.dim)
            return np.fft.rfftn(turned, axes=range(1, problem.dim + 1), norm="forward")

        found = solve(image(before, inputs), problem.viscosity, problem.time)
        np.testing.assert_allclose(found, image(after, targets), atol=1e-9)


@pytest.mark.parametrize("symmetry", declared(PerforatedDarcy), ids=str)
def test_darcy_flow_around_obstacles(symmetry):
    mesh = PerforatedDarcy(finest=0.013, coarsest=0.1).mesh([HOLE])

    def permeability(points):
        return np.exp(points[:, 0] - 2.0 * points[:, 1])

    def source(points):
        return 1.0 + points[:, 0] * points[:, 1] ** 2

    pressure = solve_darcy(
        mirrored(mesh, symmetry),
        lambda points: permeability(symmetry.inverse.images(points)),
        lambda points: source(symmetry.inverse.images(points)),
    )
    np.testing.assert_allclose(pressure, solve_darcy(mesh, permeability, source), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("symmetry", declared(PlateElasticity), ids=str)
def test_a_plate_with_a_hole(symmetry):
    mesh = PlateElasticity(finest=0.03, coarsest=0.1).mesh([HOLE])
    material = Material(young=210e9, poisson=0.3)
    applied = draw_applied_stress(np.random.default_rng(0), 100e6)
    stresses = Components.of(PlateElasticity.inputs[1:])

    def turned(points):
        return stresses.turned(applied(symmetry.inverse.images(points)), symmetry)

    def solution(mesh, stress):
        displacement, found = solve_plane_stress(mesh, material, stress)
        return np.column_stack([displacement, von_mises(found)])

    expected = Components.of(PlateElasticity.targets).turned(solution(mesh, applied), symmetry)
    found = solution(mirrored(mesh, symmetry), turned)
    sizes = np.abs(expected).max(axis=0)
    np.testing.assert_allclose(found / sizes, expected / sizes, atol=1e-6)
