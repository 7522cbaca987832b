import numpy as np
import pytest

from benchmarks.engineering import cases
from benchmarks.engineering.cases import Split
from benchmarks.engineering.copies import copied
from benchmarks.engineering.rasters import from_raster, on_raster
from benchmarks.engineering.references import by_pod, features, splines
from benchmarks.engineering.report import PAGE, RUNS, cells, last_of_each, page
from gola.data.dataset import Dataset
from gola.problems import make_problem


def made(name, num_samples=6, **settings):
    problem = make_problem(name, **settings)
    samples = problem.generate(5, range(num_samples))
    data = Dataset.from_samples(
        samples, inputs=problem.inputs, targets=problem.targets, parameters=problem.parameters, periods=problem.periods
    )
    return Split(problem=problem, train=data, test=data)


def test_no_sample_is_in_both_parts_and_larger_parts_contain_smaller_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(cases, "FOLDER", tmp_path)
    small, large = (cases.split("advection", count, seed=0) for count in (10, 30))
    assert small.test.fingerprint() == large.test.fingerprint()
    sources = [{sample.inputs.tobytes() for sample in part} for part in (small.train, large.train, large.test)]
    assert sources[0] < sources[1]
    assert not sources[1] & sources[2]


def test_splines_of_pod_coefficients_return_the_snapshots_of_training_samples():
    split = made("block_heat", resolution=2, num_samples=16)
    seen, asked = features(split, logarithmic=True)
    snapshots = split.snapshots(split.train)
    assert by_pod(splines("cubic"), seen, snapshots, asked) == pytest.approx(snapshots, abs=1e-6)
    # The loads were not drawn on a logarithmic scale, and stay as they are.
    assert np.allclose(seen[:, 9:], features(split, logarithmic=False)[0][:, 9:])


def test_copies_of_burgers_are_solutions_too():
    split = made("burgers", resolution=16, num_samples=1)
    seen, values, groups = copied(split, split.train, np.ones(1), most=32)
    assert len(seen) == 32
    assert set(groups) == {0}
    f, u = split.train[0].inputs[:, 0], split.train[0].targets[:, 0] / split.scales
    for image_of_f, image_of_u in zip(seen, values, strict=True):
        moves = [(sign, shift) for sign in (1, -1) for shift in range(16)]
        images = [(sign * np.roll(f[::sign], s), sign * np.roll(u[::sign], s)) for sign, s in moves]
        assert any(np.allclose(a, image_of_f) and np.allclose(b, image_of_u) for a, b in images)


def test_a_raster_keeps_smooth_fields():
    rng = np.random.default_rng(0)
    clouds = [rng.random((800, 2)) for _ in range(2)]
    fields = [points.sum(axis=1) for points in clouds]
    data = Dataset.from_arrays(clouds, fields, fields)
    raster, _ = on_raster(data, data)
    assert raster.shares_points
    back = from_raster([sample.targets for sample in raster], raster, data)
    assert np.abs(back[0][:, 0] - fields[0]).mean() < 0.01


def test_of_cells_that_were_done_again_the_last_one_counts():
    row = {"problem": "burgers", "samples": "10", "seed": "0", "error": "0.2", "standard_error": "0.01"}
    ours = {**row, "method": "auto_closed_forms", "estimated_error": "0.1"}
    rows = [{**row, "method": "kernel_copies"}, ours, {**ours, "error": "0.1"}]
    (cell,) = cells(last_of_each(rows))
    assert cell.ratio == pytest.approx(0.5)
    assert cell.estimates == [1.0]


def test_the_page_is_what_the_results_say():
    assert PAGE.read_text() == page(last_of_each(RUNS.finished()))
