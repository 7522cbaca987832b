import json
import logging
from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from gola.data.sample import Sample
from gola.geometry.domains import simplex_measures
from gola.problems.heat_sink import HeatSink
from gola.problems.mesh_problem import MeshProblem, hole_distance
from gola.problems.perforated_darcy import PerforatedDarcy
from gola.problems.plate_elasticity import PlateElasticity
from gola.problems.random_shapes import StarShape

PROBLEMS: list[MeshProblem] = [
    PerforatedDarcy(finest=0.013),
    PlateElasticity(finest=0.02, coarsest=0.1),
    HeatSink(num_layers=3),
]
SAMPLES: dict[str, list[Sample]] = {}

every_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=[problem.name for problem in PROBLEMS])


@pytest.fixture
def samples(problem: MeshProblem) -> list[Sample]:
    """Three samples of the problem, solved once for all tests."""
    if problem.name not in SAMPLES:
        SAMPLES[problem.name] = problem.generate(11, range(3))
    return SAMPLES[problem.name]


def assert_same(first: Sample, second: Sample) -> None:
    for name in ("points", "inputs", "targets", "boundary", "cells", "weights"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


@every_problem
def test_a_sample_is_complete(problem: MeshProblem, samples: list[Sample]) -> None:
    for sample in samples:
        assert sample.dim == problem.dim
        assert sample.inputs.shape == (sample.num_points, len(problem.inputs))
        assert sample.targets.shape == (sample.num_points, len(problem.targets))
        assert sample.points.dtype == sample.inputs.dtype == sample.targets.dtype == np.float64
        assert np.isfinite(sample.inputs).all()
        assert np.isfinite(sample.targets).all()
        assert sample.boundary is not None
        assert 0 < sample.boundary.sum() < sample.num_points


@every_problem
def test_cells_cover_all_points_and_weights_sum_to_their_measure(problem: MeshProblem, samples: list[Sample]) -> None:
    for sample in samples:
        assert sample.cells is not None
        assert sample.weights is not None
        assert sample.cells.shape[1] == problem.dim + 1
        np.testing.assert_array_equal(np.unique(sample.cells), np.arange(sample.num_points))
        measure = simplex_measures(sample.points[sample.cells]).sum()
        assert sample.weights.min() > 0.0
        assert sample.weights.sum() == pytest.approx(measure, rel=1e-12)


@every_problem
def test_every_sample_has_its_own_geometry(problem: MeshProblem, samples: list[Sample]) -> None:
    assert problem.inputs
    assert len({sample.num_points for sample in samples}) == len(samples)


@every_problem
def test_the_distance_to_the_holes_shows_where_their_edges_are(problem: MeshProblem, samples: list[Sample]) -> None:
    channel = [channel.name for channel in problem.inputs].index("hole_distance")
    for sample in samples:
        distance = sample.inputs[:, channel]
        assert distance.min() == 0.0
        assert sample.boundary is not None
        assert sample.boundary[distance == 0.0].all()
        assert distance[distance > 0.0].min() > 0.2 * problem.finest


@every_problem
def test_a_sample_depends_on_its_seed_and_index_only(problem: MeshProblem, samples: list[Sample]) -> None:
    again = problem.generate(11, [2, 0])
    assert_same(again[0], samples[2])
    assert_same(again[1], samples[0])
    other = problem.generate(12, [0])[0]
    assert other.num_points != samples[0].num_points


@every_problem
def test_the_number_of_threads_does_not_change_a_bit(problem: MeshProblem, samples: list[Sample]) -> None:
    with threadpool_limits(limits=2):
        assert_same(problem.generate(11, [1])[0], samples[1])


@every_problem
def test_solving_prints_and_warns_about_nothing(
    problem: MeshProblem, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.WARNING):
        problem.generate(0, [0])
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


@every_problem
def test_settings_are_ready_for_json(problem: MeshProblem) -> None:
    assert json.loads(json.dumps(problem.settings)) == problem.settings
    assert type(problem)(**problem.settings) == problem


@every_problem
def test_finer_meshes_solve_the_same_problem(problem: MeshProblem, samples: list[Sample]) -> None:
    finer = replace(problem, finest=0.7 * problem.finest, coarsest=0.7 * problem.coarsest).generate(11, [0])[0]
    assert finer.num_points > 1.2 * samples[0].num_points

    def mean_squares(sample: Sample) -> np.ndarray:
        values = np.column_stack([sample.inputs, sample.targets])
        assert sample.weights is not None
        return sample.weights @ values**2

    np.testing.assert_allclose(mean_squares(finer), mean_squares(samples[0]), rtol=0.03)


@every_problem
@pytest.mark.parametrize(
    "sizes", [{"finest": 0.0}, {"finest": 1.0}, {"coarsest": 1.0}, {"finest": 0.1, "coarsest": 0.1}]
)
def test_element_sizes_that_cannot_work_are_refused(problem: MeshProblem, sizes: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=f"{problem.name} needs"):
        replace(problem, **sizes)


def test_the_distance_to_round_holes_is_that_to_the_nearest_circle() -> None:
    centres, radius = np.array([[0.3, 0.3], [0.7, 0.6]]), 0.1
    mesh = PerforatedDarcy().mesh([StarShape.circle(centre, radius) for centre in centres])
    exact = np.linalg.norm(mesh.points[:, None] - centres, axis=2).min(axis=1) - radius
    np.testing.assert_allclose(hole_distance(mesh), exact, atol=1e-4)
