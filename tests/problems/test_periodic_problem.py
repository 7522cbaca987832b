import json
from dataclasses import replace

import numpy as np
import pytest

from gola.problems.burgers import Burgers
from gola.problems.periodic_problem import PeriodicProblem, sample_series
from gola.problems.vorticity import Vorticity

PROBLEMS: list[PeriodicProblem] = [Burgers(resolution=48), Vorticity(resolution=24, time=1.0)]

every_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=[problem.name for problem in PROBLEMS])


@every_problem
def test_points_are_an_equispaced_grid_without_its_right_end(problem: PeriodicProblem) -> None:
    sample = problem.generate(0, [0])[0]
    resolution = problem.resolution
    assert sample.points.shape == (resolution**problem.dim, problem.dim)
    np.testing.assert_allclose(np.unique(sample.points), np.arange(resolution) / resolution)
    assert (np.diff(sample.points[:resolution, -1]) > 0.0).all()
    assert problem.periods == (1.0,) * problem.dim


@every_problem
def test_samples_share_their_points_and_carry_one_column_per_channel(problem: PeriodicProblem) -> None:
    samples = problem.generate(0, range(3))
    for sample in samples:
        assert sample.points is samples[0].points
        assert sample.inputs.shape == sample.targets.shape == (sample.num_points, 1)
        assert sample.inputs.dtype == sample.targets.dtype == np.float64
        assert np.isfinite(sample.targets).all()


@every_problem
def test_a_sample_depends_on_its_seed_and_index_alone(problem: PeriodicProblem) -> None:
    alone, among_others = problem.generate(5, [6])[0], problem.generate(5, [1, 6, 2])[1]
    np.testing.assert_allclose(alone.inputs, among_others.inputs, atol=1e-13)
    np.testing.assert_allclose(alone.targets, among_others.targets, atol=1e-12)
    first, second = problem.generate(0, [0, 1])
    assert not np.allclose(first.inputs, second.inputs, rtol=0.1)


@every_problem
def test_another_resolution_samples_the_same_functions(problem: PeriodicProblem) -> None:
    coarse = problem.generate(2, [3])[0]
    fine = replace(problem, resolution=3 * problem.resolution).generate(2, [3])[0]
    kept = np.all(np.isclose((fine.points * problem.resolution) % 1.0, 0.0), axis=1)
    assert kept.sum() == coarse.num_points
    np.testing.assert_allclose(fine.inputs[kept], coarse.inputs, atol=1e-12)
    np.testing.assert_allclose(fine.targets[kept], coarse.targets, atol=1e-12)


@every_problem
def test_the_mean_is_zero_and_stays_so(problem: PeriodicProblem) -> None:
    sample = problem.generate(1, [0])[0]
    assert abs(sample.inputs.mean()) < 1e-9
    assert abs(sample.targets.mean()) < 1e-9


@every_problem
def test_the_fastest_of_many_samples_is_stable_at_the_smallest_viscosity(problem: PeriodicProblem) -> None:
    rough = replace(problem, viscosity=problem.min_viscosity, time=2.0)
    for sample in rough.generate(0, range(30)):
        assert np.abs(sample.targets).max() < 1.05 * np.abs(sample.inputs).max()


@every_problem
def test_settings_are_ready_for_json(problem: PeriodicProblem) -> None:
    assert json.loads(json.dumps(problem.settings)) == problem.settings
    assert type(problem)(**problem.settings) == problem


@every_problem
@pytest.mark.parametrize(
    "settings", [{"resolution": 7}, {"viscosity": 0.0}, {"viscosity": float("nan")}, {"time": 0.0}]
)
def test_impossible_settings_are_refused(problem: PeriodicProblem, settings: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=f"{problem.name} needs"):
        replace(problem, **settings)


def test_no_indices_give_no_samples() -> None:
    assert Burgers().generate(0, []) == []


def test_typical_size_is_readable() -> None:
    assert Burgers().typical_size == "256 grid points"
    assert Vorticity().typical_size == "64 × 64 = 4,096 grid points"


def test_a_series_is_evaluated_as_by_the_inverse_transform() -> None:
    rng = np.random.default_rng(0)
    line, square = rng.normal(size=(2, 9)), rng.normal(size=(2, 9, 9))
    np.testing.assert_allclose(sample_series(np.fft.rfft(line, norm="forward"), 9, 1), line, atol=1e-13)
    np.testing.assert_allclose(sample_series(np.fft.rfft2(square, norm="forward"), 9, 2), square, atol=1e-13)


def test_a_series_is_sampled_on_a_grid_that_is_too_coarse_for_its_waves() -> None:
    spectrum = np.zeros((1, 20), dtype=complex)
    spectrum[0, 7] = 0.5
    np.testing.assert_allclose(sample_series(spectrum, 4, 1)[0], np.cos(2.0 * np.pi * 7 * np.arange(4) / 4), atol=1e-13)
