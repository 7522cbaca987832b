from dataclasses import replace

import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.data.inspection import inspect
from gola.data.sample import Channel
from gola.graph import radius_neighbourhood
from tests.data.ragged import ragged_dataset, shared_dataset

RNG = np.random.default_rng(0)
POINTS = RNG.random((4, 60, 2))
INPUTS = RNG.standard_normal((4, 60, 2))
TARGETS = RNG.standard_normal((4, 60, 1))


def inspected(points=POINTS, inputs=INPUTS, targets=TARGETS):
    return inspect(Dataset.from_arrays(points, inputs, targets, input_channels=["k", "f"], target_channels=["T"]))


def changed(array, change):
    copy = array.copy()
    change(copy)
    return copy


def with_bad_values(dataset, name, row, value):
    """Return a data set whose first sample is broken, as a file written by hand may be."""
    broken = replace(dataset[0], **{name: changed(getattr(dataset[0], name), lambda a: a.__setitem__((row, 0), value))})
    return replace(dataset, samples=(broken, *dataset.samples[1:]))


def test_good_data_gives_no_warnings():
    found = inspected()
    assert found.warnings == ()
    assert found.remarks == ()


def test_sizes_and_ranges():
    dataset = ragged_dataset((20, 40, 100, 30))
    found = inspect(dataset)
    assert (found.num_samples, found.dim, found.num_points) == (4, 2, (20, 35, 100))
    everything = np.concatenate([sample.points for sample in dataset])
    assert found.lower == tuple(everything.min(axis=0))
    assert found.upper == tuple(everything.max(axis=0))
    assert found.has_boundary
    assert found.has_cells
    assert found.has_weights
    assert found.correspondence == "none"
    assert found.provenance == dataset.provenance


def test_channels_have_their_range_and_equal_weight_statistics():
    values = [np.full((30, 1), 2.0), np.full((90, 1), 6.0)]
    values[0][:15] = 0.0
    points = [RNG.random((30, 2)), RNG.random((90, 2))]
    dataset = Dataset.from_arrays(points, values, values, input_channels=[Channel(name="k", unit="m")])
    summary = inspect(dataset).channels[0]
    assert (summary.channel.unit, summary.role, summary.varies) == ("m", "input", "field")
    assert (summary.minimum, summary.maximum) == (0.0, 6.0)
    assert summary.mean == pytest.approx((1.0 + 6.0) / 2)
    assert summary.std == pytest.approx(np.sqrt((1.0 + 0.0) / 2 + 2.5**2))
    assert inspect(dataset).channels[1].role == "target"


def test_the_spacing_of_a_grid_is_its_step():
    axis = np.linspace(0, 1, 11)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    values = RNG.standard_normal((3, 121))
    found = inspect(Dataset.from_arrays(grid, values, values))
    assert found.spacing == pytest.approx(0.1)
    assert found.correspondence == "same points"


def test_the_suggested_radius_gives_about_sixteen_neighbours():
    points = RNG.random((1000, 2))
    found = inspect(Dataset.from_arrays(points, RNG.standard_normal((2, 1000))))
    degrees = radius_neighbourhood(points, found.radius).degrees
    assert degrees.double().mean() == pytest.approx(16, rel=0.02)


def test_a_file_gives_the_same_as_memory(tmp_path):
    for dataset in (ragged_dataset((20, 40, 30)), shared_dataset()):
        dataset.save(tmp_path / "a.h5")
        assert inspect(Dataset.load(tmp_path / "a.h5")) == inspect(dataset)


@pytest.mark.parametrize(
    ("data", "warning"),
    [
        ({"inputs": changed(INPUTS, lambda a: a[..., 1].fill(3.0))}, "input channel 'f' has the same value everywhere"),
        (
            {"points": changed(POINTS, lambda a: a[2].__setitem__(slice(1, 4), a[2, 0]))},
            "Points coincide in sample 2; sample 2 has 3 that lie where another does",
        ),
        (
            {"points": changed(POINTS, lambda a: a[2].__setitem__(1, a[2, 0] + 1e-14))},
            "Points coincide in sample 2; sample 2 has 1 ",
        ),
        (
            {name: changed(a, lambda a: a.__setitem__(3, a[1])) for name, a in
             {"points": POINTS, "inputs": INPUTS, "targets": TARGETS}.items()},
            "1 samples repeat another (first: 3 repeats 1)",
        ),
        (
            {name: changed(a, lambda a: a.__setitem__(3, a[1])) for name, a in
             {"points": POINTS, "inputs": INPUTS}.items()},
            "1 samples have the inputs of another but different targets (first: 3 and 1)",
        ),
        (
            {"points": POINTS[:, :16], "inputs": INPUTS[:, :16], "targets": TARGETS[:, :16]},
            "4 samples (first: 0) have 16 points or fewer (sample 0 has 16)",
        ),
        (
            {"points": np.stack([POINTS[0], POINTS[0][::-1], POINTS[0], POINTS[0]])},
            "All samples have the same points, but in different orders",
        ),
        (
            {"points": np.stack([POINTS[0], POINTS[0], POINTS[1], POINTS[0]])},
            "Sample 2 has points of its own, and all 3 others share theirs",
        ),
        ({"points": POINTS * [1.0, 500.0]}, "along y and"),
        ({"targets": changed(TARGETS, lambda a: a[1].fill(0.0))}, "All targets are zero in sample 1"),
        ({"targets": INPUTS[..., :1]}, "target channel 'T' equals input channel 'k' in every sample"),
        ({"targets": 101325.0 + 0.05 * TARGETS}, "target channel 'T' varies by 0.0493 around 1.01e+05"),
        (
            {"inputs": changed(INPUTS, lambda a: a[2, :, 0].__imul__(1e4))},
            "input channel 'k' is 9e+03 times larger in sample 2",
        ),
    ],
)  # fmt: skip
def test_what_will_hurt_is_told(data, warning):
    found = inspected(**data)
    assert len(found.warnings) == 1, found.warnings
    assert warning in found.warnings[0]


@pytest.mark.parametrize(
    ("name", "value", "warning"),
    [
        ("targets", np.nan, "target channel 'target': 1 values in sample 0 are NaN or infinite"),
        ("inputs", -np.inf, "input channel 'input_0': 1 values in sample 0 are NaN or infinite"),
        ("points", np.nan, "points: 1 values in sample 0 are NaN or infinite"),
    ],
)
def test_values_that_are_no_numbers_are_told_and_left_out(name, value, warning):
    good = Dataset.from_arrays(POINTS, INPUTS, TARGETS)
    found = inspect(with_bad_values(good, name, 7, value))
    assert len(found.warnings) == 1
    assert warning in found.warnings[0]
    for summary, clean in zip(found.channels, inspect(good).channels, strict=True):
        assert summary.mean == pytest.approx(clean.mean, abs=0.05)
        assert summary.std == pytest.approx(clean.std, abs=0.05)
    assert found.radius > 0


def test_one_number_per_sample_is_a_parameter_and_no_fault():
    found = inspected(inputs=changed(INPUTS, lambda a: a[..., 0].__setitem__(slice(None), np.arange(4.0)[:, None])))
    assert found.warnings == ()
    (remark,) = found.remarks
    assert remark.startswith("input channel 'k' is one number per sample. It is better a parameter")
    assert [summary.varies for summary in found.channels] == ["parameter", "field", "field"]


def test_inputs_without_solutions_are_inspected_too():
    found = inspect(Dataset.from_arrays(POINTS, INPUTS))
    assert found.warnings == ()
    assert len(found.channels) == 2


def test_a_single_point_has_no_spacing():
    found = inspect(Dataset.from_arrays(np.zeros((1, 2)), np.ones((2, 1)) * [[1], [2]]))
    assert np.isnan(found.spacing)
    assert np.isnan(found.radius)


@pytest.mark.parametrize("factor", [2.0**-530, 2.0**530])
def test_very_large_and_very_small_values_have_a_mean_and_a_spread(factor):
    rng = np.random.default_rng(0)
    points, values = rng.random((30, 2)), rng.random((4, 30, 1))
    usual, extreme = (inspect(Dataset.from_arrays(points, scale * values)).channels[0] for scale in (1.0, factor))
    assert extreme.mean == pytest.approx(factor * usual.mean)
    assert extreme.std == pytest.approx(factor * usual.std)
