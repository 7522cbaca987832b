"""Trajectories in files."""

import h5py
import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.data.storage import read_dataset
from tests.data.trajectories import cooling


def assert_same(loaded, dataset):
    assert loaded.has_time
    assert loaded.fingerprint() == dataset.fingerprint()
    for found, wanted in zip(loaded, dataset, strict=True):
        for name in ("points", "inputs", "targets", "times", "parameters"):
            assert np.array_equal(getattr(found, name), getattr(wanted, name)), name
            assert getattr(found, name).shape == getattr(wanted, name).shape


@pytest.fixture(params=["shared times", "own times", "constant inputs", "inputs per time", "own points", "no targets"])
def dataset(request):
    if request.param == "inputs per time":
        rng = np.random.default_rng(0)
        return Dataset.from_arrays(
            rng.random((5, 2)), list(rng.random((3, 4, 5, 2))), list(rng.random((3, 4, 5))), times=[0.0, 0.1, 0.5, 2.0]
        )
    if request.param == "no targets":
        return Dataset.from_arrays(np.ones((5, 2)), parameters=[1.0, 2.0], times=[[0.0, 1.0], [0.0, 2.0, 3.0]])
    return cooling(
        num_samples=4,
        own_times=request.param == "own times",
        with_field=request.param == "constant inputs",
        own_points=request.param == "own points",
    )


@pytest.mark.parametrize("compress", [False, True])
def test_trajectories_come_back_to_the_last_bit(tmp_path, dataset, compress):
    dataset.save(tmp_path / "any.h5", compress=compress)
    loaded = Dataset.load(tmp_path / "any.h5")
    assert_same(loaded, dataset)
    assert_same(loaded.in_memory(), dataset)
    assert_same(loaded.select([1, 0]), dataset.select([1, 0]))


def test_times_stand_beside_the_samples(tmp_path):
    cooling(num_samples=3, num_points=7, own_times=True).save(tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["samples/time_offsets"][()].tolist() == [0, 6, 13, 21]
        assert file["samples/times"].shape == (21,)
        assert file["samples/targets"].shape == (7 * 21, 1)


def test_changed_times_are_noticed(tmp_path):
    cooling(num_samples=3).save(tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        file["samples/times"][7] = 0.41
    _, samples = read_dataset(tmp_path / "a.h5")
    with pytest.raises(ValueError, match="damaged"):
        samples[1]
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        file["samples/time_offsets"][1] = 5
    with pytest.raises(ValueError, match="damaged"):
        Dataset.load(tmp_path / "a.h5")


def by_hand(path, **changes):
    """Write a file as docs/data-format.md says, with h5py alone."""
    arrays = {
        "geometry/points": np.arange(10.0).reshape(5, 2),
        "geometry/offsets": [0, 5],
        "samples/times": [0.0, 0.5, 1.0],
        "samples/targets": np.arange(30.0).reshape(30, 1),
        "samples/parameters": [[1.0], [2.0]],
    }
    with h5py.File(path, "w") as file:
        file.attrs["format"], file.attrs["version"] = "gola-dataset", 1
        for name, values in (arrays | changes).items():
            file[name] = values
        file["samples/targets"].attrs["names"], file["samples/parameters"].attrs["names"] = ["u"], ["p"]
    return path


def test_files_written_by_hand_may_share_times(tmp_path):
    data = Dataset.load(by_hand(tmp_path / "a.h5"))
    assert len(data) == 2
    assert data[1].times.tolist() == [0.0, 0.5, 1.0]
    assert data[1].targets[2, :, 0].tolist() == [25.0, 26.0, 27.0, 28.0, 29.0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"samples/times": [0.0, 1.0]}, r"'samples/targets' has 30 rows where the points ask for 20"),
        ({"samples/times": [0.0, 2.0, 1.0]}, "times must ascend"),
        ({"samples/time_offsets": [0, 3]}, "'samples/time_offsets' has 2 entries and should have 3"),
        ({"samples/time_offsets": [0, 3, 3]}, "times must be a list of numbers"),
        ({"samples/time_offsets": [0, 2]}, "must rise from 0 to 3"),
    ],
)
def test_times_that_do_not_fit_are_refused(tmp_path, changes, message):
    changes.setdefault("samples/geometry", [0, 0])
    with pytest.raises(ValueError, match=message):
        Dataset.load(by_hand(tmp_path / "a.h5", **changes))
