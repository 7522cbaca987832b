from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from gola.problems.advection import Advection
from gola.problems.darcy import Darcy
from gola.problems.eikonal import Eikonal
from gola.problems.grid_problem import GridProblem
from gola.problems.nonlinear_diffusion import NonlinearDiffusion

PROBLEMS = [
    Darcy(resolution=24),
    Advection(resolution=24),
    Eikonal(resolution=24),
    NonlinearDiffusion(resolution=24),
]

every_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=[problem.name for problem in PROBLEMS])


@every_problem
def test_points_are_the_row_major_grid_of_the_unit_square_with_its_end_points(problem: GridProblem) -> None:
    points = problem.generate(0, [0])[0].points
    grid = points.reshape(24, 24, 2)
    np.testing.assert_allclose(grid[3, 5], [3 / 23, 5 / 23])
    np.testing.assert_array_equal(grid[0, 0], [0.0, 0.0])
    np.testing.assert_array_equal(grid[-1, -1], [1.0, 1.0])


@every_problem
def test_samples_share_their_points_and_carry_one_column_per_channel_in_float64(problem: GridProblem) -> None:
    samples = problem.generate(0, range(3))
    assert all(sample.points is samples[0].points for sample in samples)
    for sample in samples:
        assert sample.inputs.shape == (24 * 24, len(problem.inputs))
        assert sample.targets.shape == (24 * 24, len(problem.targets))
        assert sample.inputs.dtype == sample.targets.dtype == sample.points.dtype == np.float64
        assert np.isfinite(sample.inputs).all()
        assert np.isfinite(sample.targets).all()


@every_problem
def test_boundary_flags_mark_the_points_on_the_four_sides(problem: GridProblem) -> None:
    sample = problem.generate(0, [0])[0]
    on_a_side = np.any((sample.points == 0.0) | (sample.points == 1.0), axis=1)
    np.testing.assert_array_equal(sample.boundary, on_a_side)


@every_problem
def test_same_seed_same_data_whichever_chunks_came_before(problem: GridProblem) -> None:
    fresh = problem.generate(5, range(4, 8))
    problem.generate(5, range(4))
    problem.generate(6, range(4, 8))
    for first, second in zip(fresh, problem.generate(5, range(4, 8)), strict=True):
        np.testing.assert_array_equal(first.inputs, second.inputs)
        np.testing.assert_array_equal(first.targets, second.targets)


@every_problem
def test_a_sample_depends_on_its_seed_and_index_alone(problem: GridProblem) -> None:
    alone = problem.generate(5, [6])[0]
    among_others = problem.generate(5, [1, 6, 2])[1]
    np.testing.assert_array_equal(alone.inputs, among_others.inputs)
    np.testing.assert_allclose(alone.targets, among_others.targets, rtol=1e-12, atol=1e-15)


@every_problem
def test_samples_differ_between_indices_and_between_seeds(problem: GridProblem) -> None:
    first, second = problem.generate(0, [0, 1])
    other = problem.generate(1, [0])[0]
    for values in ("inputs", "targets"):
        assert not np.allclose(getattr(first, values), getattr(second, values), rtol=0.1)
        assert not np.allclose(getattr(first, values), getattr(other, values), rtol=0.1)


@every_problem
def test_the_number_of_blas_threads_does_not_change_a_bit(problem: GridProblem) -> None:
    # Large enough for BLAS to share a product among its threads, if it could.
    large = replace(problem, resolution=100)
    with threadpool_limits(limits=1):
        first = large.generate(0, range(2))
    with threadpool_limits(limits=2):
        second = large.generate(0, range(2))
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.inputs, two.inputs)
        np.testing.assert_array_equal(one.targets, two.targets)


@every_problem
def test_another_resolution_samples_the_same_input_function(problem: GridProblem) -> None:
    coarse = replace(problem, resolution=17).generate(2, [3])[0].inputs.reshape(17, 17)
    fine = replace(problem, resolution=33).generate(2, [3])[0].inputs.reshape(33, 33)
    np.testing.assert_allclose(fine[::2, ::2], coarse, atol=1e-12 * np.abs(coarse).max())


@every_problem
def test_another_resolution_has_nearly_the_same_solution(problem: GridProblem) -> None:
    coarse = replace(problem, resolution=65).generate(2, [3])[0].targets.reshape(65, 65)
    fine = replace(problem, resolution=129).generate(2, [3])[0].targets.reshape(129, 129)[::2, ::2]
    assert np.linalg.norm(fine - coarse) < 0.02 * np.linalg.norm(fine)


@every_problem
def test_no_indices_give_no_samples(problem: GridProblem) -> None:
    assert problem.generate(0, []) == []


@every_problem
def test_a_grid_too_coarse_is_refused(problem: GridProblem) -> None:
    with pytest.raises(ValueError, match=f"{problem.name} needs a resolution of at least 8 .* got 7"):
        replace(problem, resolution=7)


@every_problem
def test_the_coarsest_grid_works(problem: GridProblem) -> None:
    sample = replace(problem, resolution=8).generate(0, [0])[0]
    assert np.isfinite(sample.targets).all()


def test_typical_size_is_readable() -> None:
    assert Darcy().typical_size == "128 × 128 = 16,384 grid points"


def test_settings_are_ready_for_json() -> None:
    assert Advection(num_centres=30).settings == {"resolution": 128, "num_centres": 30, "length_scale": 0.25}
