import json
import logging
from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from gola.data.sample import Sample
from gola.geometry.domains import simplex_measures
from gola.problems.block_heat import BlockHeat
from gola.problems.deforming_channel import DeformingChannel
from gola.problems.finned_cooler import FinnedCooler
from gola.problems.flow_past_body import FlowPastBody
from gola.problems.moving_source import MovingSource
from gola.problems.parametric_problem import ParametricProblem

# Each with settings that make its mesh finer.
PROBLEMS: list[tuple[ParametricProblem, dict[str, float]]] = [
    (BlockHeat(resolution=6), {"resolution": 12}),
    (FlowPastBody(element_size=0.3), {"element_size": 0.2}),
    (DeformingChannel(resolution=10), {"resolution": 20}),
    (MovingSource(element_size=0.0025, num_times=10), {"element_size": 0.0015}),
    (FinnedCooler(resolution=1), {"resolution": 2}),
]
SAMPLES: dict[str, list[Sample]] = {}

every_problem = pytest.mark.parametrize(
    "problem", [problem for problem, _ in PROBLEMS], ids=[problem.name for problem, _ in PROBLEMS]
)


@pytest.fixture
def samples(problem: ParametricProblem) -> list[Sample]:
    """Three samples of the problem, solved once for all tests."""
    if problem.name not in SAMPLES:
        SAMPLES[problem.name] = problem.generate(11, range(3))
    return SAMPLES[problem.name]


def assert_same(first: Sample, second: Sample) -> None:
    for name in ("points", "parameters", "targets", "boundary", "cells", "weights"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


@every_problem
def test_a_sample_is_complete(problem: ParametricProblem, samples: list[Sample]) -> None:
    for sample in samples:
        assert sample.dim == problem.dim
        assert sample.parameters.shape == (len(problem.parameters),)
        assert sample.inputs.shape == (sample.num_points, 0)
        assert sample.targets.shape[-2:] == (sample.num_points, len(problem.targets))
        assert sample.points.dtype == sample.parameters.dtype == sample.targets.dtype == np.float64
        assert np.isfinite(sample.targets).all()
        assert sample.boundary is not None
        assert 0 < sample.boundary.sum() <= sample.num_points


@every_problem
def test_parameters_are_those_of_the_ranges(problem: ParametricProblem, samples: list[Sample]) -> None:
    assert [one.channel for one in problem.ranges] == list(problem.parameters)
    for sample in samples:
        for value, one in zip(sample.parameters, problem.ranges, strict=True):
            assert one.lower <= value <= one.upper


@every_problem
def test_cells_cover_all_points_and_weights_sum_to_their_measure(
    problem: ParametricProblem, samples: list[Sample]
) -> None:
    for sample in samples:
        assert sample.cells is not None
        assert sample.weights is not None
        assert sample.cells.shape[1] == problem.dim + 1
        np.testing.assert_array_equal(np.unique(sample.cells), np.arange(sample.num_points))
        measure = simplex_measures(sample.points[sample.cells]).sum()
        assert sample.weights.min() > 0.0
        assert sample.weights.sum() == pytest.approx(measure, rel=1e-12)


@every_problem
def test_samples_share_their_cells(problem: ParametricProblem, samples: list[Sample]) -> None:
    assert problem.parameters
    assert all(sample.cells is samples[0].cells for sample in samples)


@every_problem
def test_a_sample_depends_on_its_seed_and_index_only(problem: ParametricProblem, samples: list[Sample]) -> None:
    again = problem.generate(11, [2, 0])
    assert_same(again[0], samples[2])
    assert_same(again[1], samples[0])
    other = problem.generate(12, [0])[0]
    assert not np.isclose(other.parameters, samples[0].parameters).any()
    assert not np.allclose(other.targets, samples[0].targets, rtol=0.1)


@every_problem
def test_solving_for_given_parameters_gives_the_same_solution(
    problem: ParametricProblem, samples: list[Sample]
) -> None:
    found, expected = problem.simulate(samples[1].parameters).targets, samples[1].targets
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


@every_problem
def test_the_number_of_threads_does_not_change_a_bit(problem: ParametricProblem, samples: list[Sample]) -> None:
    with threadpool_limits(limits=2):
        assert_same(problem.generate(11, [1])[0], samples[1])


@every_problem
def test_solving_prints_and_warns_about_nothing(
    problem: ParametricProblem, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.WARNING):
        problem.generate(0, [0])
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


@every_problem
def test_settings_are_ready_for_json(problem: ParametricProblem) -> None:
    assert json.loads(json.dumps(problem.settings)) == problem.settings
    assert type(problem)(**problem.settings) == problem


@every_problem
def test_the_typical_size_is_right_at_the_defaults(problem: ParametricProblem) -> None:
    default = type(problem)()
    words = default.typical_size.split()
    said = float(next(word for word in words if word[0].isdigit()).replace(",", ""))
    num_points = default.generate(0, [0])[0].num_points
    assert said == pytest.approx(num_points, rel=0.1 if "about" in words else 0.0)


@pytest.mark.parametrize(("problem", "finer"), PROBLEMS, ids=[problem.name for problem, _ in PROBLEMS])
def test_finer_meshes_solve_the_same_problem(
    problem: ParametricProblem, finer: dict[str, float], samples: list[Sample]
) -> None:
    fine = replace(problem, **finer).generate(11, [0])[0]
    assert fine.num_points > 1.5 * samples[0].num_points
    np.testing.assert_array_equal(fine.parameters, samples[0].parameters)

    def mean_squares(sample: Sample) -> np.ndarray:
        assert sample.weights is not None
        # Trajectories have a table of targets for each time.
        squares = sample.weights[:, None] * sample.targets**2
        return np.asarray(squares.reshape(-1, squares.shape[-1]).sum(axis=0))

    np.testing.assert_allclose(mean_squares(fine), mean_squares(samples[0]), rtol=0.05)
