from dataclasses import replace

import numpy as np
import pytest

from gola.data.correspondence import correspondence_of
from gola.data.dataset import Dataset
from gola.data.sample import Sample


def sample_at(points, cells=None):
    points = np.asarray(points, dtype=np.float64)
    targets = points[:, :1].copy()
    return Sample(points=points, inputs=np.empty((len(points), 0)), targets=targets, cells=cells)


def bent(points, amount):
    """A channel whose upper wall comes down in the middle."""
    x, y = points.T
    return np.stack([x, y * (1.0 - amount * np.exp(-8.0 * (x - 0.5) ** 2))], axis=1)


@pytest.fixture
def points():
    return np.random.default_rng(0).random((200, 2))


def test_equal_points_are_the_same_points(points):
    assert correspondence_of([sample_at(points), sample_at(points.copy())]) == "same points"
    assert correspondence_of([sample_at(points)]) == "same points"


def test_nodes_that_move_with_their_neighbours_correspond(points):
    samples = [sample_at(bent(points, amount)) for amount in (0.0, 0.3, 0.6)]
    assert correspondence_of(samples) == "moved nodes"
    stretched = sample_at(1e3 * points + 5.0)
    assert correspondence_of([samples[0], stretched]) == "moved nodes"


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_points_drawn_again_do_not_correspond(dim):
    rng = np.random.default_rng(1)
    assert correspondence_of([sample_at(rng.random((100, dim))) for _ in range(2)]) == "none"


def test_points_drawn_again_along_a_line_do_not_correspond_in_their_order():
    rng = np.random.default_rng(1)
    assert correspondence_of([sample_at(np.sort(rng.random((100, 1)), axis=0)) for _ in range(2)]) == "none"


def test_a_part_of_the_points_in_another_order_does_not_correspond(points):
    assert correspondence_of([sample_at(points), sample_at(points[::-1])]) == "none"
    assert correspondence_of([sample_at(points), sample_at(points[:50])]) == "none"


def test_cells_decide_where_there_are_any(points):
    cells = np.arange(198)[:, None] + np.arange(3)
    moved = np.random.default_rng(2).random((200, 2))
    assert correspondence_of([sample_at(points, cells), sample_at(moved, cells.copy())]) == "moved nodes"
    assert correspondence_of([sample_at(points, cells), sample_at(moved, cells[:, ::-1])]) == "none"


def test_it_is_found_kept_in_the_file_and_may_be_declared(points, tmp_path):
    samples = [sample_at(bent(points, amount)) for amount in (0.0, 0.3, 0.6)]
    found = Dataset.from_samples(samples, targets=["u"])
    found.save(tmp_path / "moved.h5")
    assert Dataset.load(tmp_path / "moved.h5").correspondence == "moved nodes"
    assert Dataset.load(tmp_path / "moved.h5")[:2].correspondence == "moved nodes"
    declared = Dataset.from_samples(samples, targets=["u"], correspondence="none")
    declared.save(tmp_path / "none.h5")
    assert Dataset.load(tmp_path / "none.h5").correspondence == "none"


def test_what_is_declared_must_fit(points):
    samples = [sample_at(points), sample_at(points + 1.0)]
    with pytest.raises(ValueError, match="Sample 1 does not have the points of sample 0"):
        Dataset.from_samples(samples, targets=["u"], correspondence="same points")
    with pytest.raises(ValueError, match="Sample 1 has 50 points where sample 0 has 200"):
        Dataset.from_samples([samples[0], sample_at(points[:50])], targets=["u"], correspondence="moved nodes")


def test_samples_that_share_their_points_may_be_part_of_a_set_that_does_not(points):
    samples = [sample_at(points), sample_at(points[:50]), sample_at(points)]
    samples = [replace(sample, parameters=np.array([float(number)])) for number, sample in enumerate(samples)]
    data = Dataset.from_samples(samples, targets=["u"], parameters=["load"])
    assert data.correspondence == "none"
    assert data.select([0, 2]).correspondence == "same points"


def test_points_drawn_from_shared_ones_do_not_correspond(points):
    data = Dataset.from_arrays(points, targets=np.zeros((3, 200)), parameters=np.arange(3.0))
    assert data.correspondence == "same points"
    assert data.subsample(50).correspondence == "none"
