import multiprocessing
import pickle
from dataclasses import replace

import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.data.sample import Channel, Sample
from tests.data.ragged import INPUTS, TARGETS, assert_same, ragged_dataset, shared_dataset


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "set.h5"
    ragged_dataset().save(path)
    return Dataset.load(path)


class TestFromArrays:
    def test_lists_of_ragged_arrays(self):
        points = [np.random.default_rng(n).random((n, 2)) for n in (3, 5)]
        dataset = Dataset.from_arrays(points, [p * 2 for p in points], [p[:, 0] for p in points])
        assert len(dataset) == 2
        assert dataset[1].points.shape == (5, 2)
        assert dataset[1].inputs.shape == (5, 2)
        assert dataset[1].targets.shape == (5, 1)
        np.testing.assert_array_equal(dataset[1].inputs, 2 * points[1])

    def test_points_of_all_samples_may_be_a_list_of_rows(self):
        points, values = [[0.0, 0.0], [1.0, 0.0], [0.5, 1.0]], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
        dataset = Dataset.from_arrays(points, targets=values, parameters=[1.0, 2.0], boundary=[True, True, False])
        assert dataset.correspondence == "same points"
        assert [one.targets[2, 0] for one in dataset] == [3.0, 6.0]
        assert dataset[1].boundary.tolist() == [True, True, False]

    def test_masked_entries_are_refused(self):
        values = np.ma.masked_greater(np.arange(6.0).reshape(2, 3), 4.5)
        with pytest.raises(ValueError, match="Sample 1: 1 of 3 entries of targets are masked"):
            Dataset.from_arrays(np.zeros((3, 2)), targets=values, parameters=[1.0, 2.0])

    def test_stacked_arrays(self):
        points, values = np.zeros((3, 6, 2)), np.arange(18.0).reshape(3, 6, 1)
        dataset = Dataset.from_arrays(points, values, values, weights=np.ones((3, 6)), boundary=np.ones((3, 6), bool))
        assert len(dataset) == 3
        assert dataset[2].targets[0, 0] == 12.0
        assert dataset[2].weights.shape == dataset[2].boundary.shape == (6,)

    def test_one_points_array_is_shared_by_all_samples(self):
        points = np.random.default_rng(0).random((6, 2))
        cells, boundary = np.array([[0, 1, 2]]), np.ones(6, dtype=bool)
        values = np.zeros((3, 6))
        dataset = Dataset.from_arrays(points, values, values, cells=cells, boundary=boundary)
        assert all(sample.points is points for sample in dataset)
        assert all(sample.cells.shape == (1, 3) and sample.boundary.all() for sample in dataset)
        assert dataset.shares_points

    def test_torch_tensors_are_welcome(self):
        import torch  # here, because the processes of a test below import this module and start faster without

        dataset = Dataset.from_arrays(torch.zeros(6, 2), torch.ones(3, 6, 1), torch.ones(3, 6, 1))
        assert len(dataset) == 3
        assert dataset[0].points.dtype == np.float64

    def test_channels_get_names_if_none_are_given(self):
        dataset = Dataset.from_arrays(np.zeros((4, 2)), np.zeros((1, 4, 2)), np.zeros((1, 4)))
        assert [c.name for c in dataset.inputs] == ["input_0", "input_1"]
        assert [c.name for c in dataset.targets] == ["target"]

    def test_channels_carry_units(self):
        channel = Channel(name="T", unit="K")
        dataset = Dataset.from_arrays(np.zeros((4, 2)), np.zeros((1, 4)), np.zeros((1, 4)), target_channels=[channel])
        assert dataset.targets == (channel,)

    def test_inputs_without_solutions(self):
        dataset = Dataset.from_arrays(np.zeros((4, 2)), np.zeros((2, 4)), input_channels=["f"])
        assert dataset.targets == ()
        assert dataset[0].targets.shape == (4, 0)

    @pytest.mark.parametrize(
        ("points", "inputs", "targets", "message"),
        [
            (np.zeros((4, 2)), np.zeros((3, 4)), np.zeros((2, 4)), "3 samples, and targets for 2"),
            (np.zeros((2, 4, 2)), np.zeros((3, 4)), np.zeros((3, 4)), "3 samples, and points for 2"),
            (np.zeros((4, 2)), [], [], "at least one sample"),
            ([np.zeros((4, 2)), np.zeros((5, 3))], [np.zeros(4), np.zeros(5)], None, "Sample 1 has points in 3"),
            ([np.zeros((4, 2)), np.zeros((5, 2))], [np.zeros(4), np.zeros(4)], None, "Sample 1: inputs .* 5 points"),
            ([np.zeros((4, 2))] * 2, [np.zeros((4, 1)), np.zeros((4, 2))], None, "Sample 1 has 2 input channels"),
            (np.zeros((4, 2)), np.zeros((4, 1)), None, r"each of the 4 points .* got shape \(1,\)"),
        ],
    )
    def test_mistakes_are_named(self, points, inputs, targets, message):
        with pytest.raises(ValueError, match=message):
            Dataset.from_arrays(points, inputs, targets)

    @pytest.mark.parametrize("value", [object(), float("nan"), {1, 2}])
    def test_provenance_must_fit_into_json(self, value):
        with pytest.raises(ValueError, match="Provenance must consist of what JSON can hold"):
            Dataset.from_arrays(np.zeros((4, 2)), np.zeros((1, 4)), provenance={"when": value})

    def test_provenance_is_a_copy(self):
        provenance = {"parameters": {"seed": 1}}
        dataset = Dataset.from_arrays(np.zeros((4, 2)), np.zeros((1, 4)), provenance=provenance)
        provenance["parameters"]["seed"] = 2
        assert dataset.provenance == {"parameters": {"seed": 1}}


class TestFromSamples:
    def test_needs_a_sample(self):
        with pytest.raises(ValueError, match="at least one sample; got none"):
            Dataset.from_samples([], inputs=["f"])

    def test_needs_something_that_tells_samples_apart(self):
        sample = Sample(points=np.zeros((4, 2)), inputs=np.empty((4, 0)), targets=np.zeros((4, 1)))
        with pytest.raises(ValueError, match="needs input channels, parameters, or points that differ"):
            Dataset.from_samples([sample, sample], targets=["u"])
        moved = replace(sample, points=np.ones((4, 2)))
        assert len(Dataset.from_samples([sample, moved], targets=["u"])) == 2

    def test_accepts_a_generator(self):
        samples = ragged_dataset()
        again = Dataset.from_samples(
            (s for s in samples), inputs=INPUTS, targets=TARGETS, provenance=samples.provenance
        )
        assert_same(again, samples)


@pytest.mark.parametrize("where", ["memory", "file"])
class TestSequence:
    @pytest.fixture
    def dataset(self, where, stored):
        return stored if where == "file" else ragged_dataset()

    def test_knows_sizes_without_reading_values(self, dataset):
        assert len(dataset) == 5
        assert dataset.dim == 2
        assert dataset.num_points.tolist() == [7, 12, 5, 9, 30]

    def test_indexing(self, dataset):
        assert dataset[-1].num_points == 30
        assert dataset[np.int64(1)].num_points == 12
        with pytest.raises(IndexError, match="no sample 5; the data set has samples 0 to 4"):
            dataset[5]

    def test_slices_are_data_sets(self, dataset):
        part = dataset[1::2]
        assert isinstance(part, Dataset)
        assert part.num_points.tolist() == [12, 9]
        assert [sample.num_points for sample in part] == [12, 9]
        assert part[1].num_points == 9
        with pytest.raises(ValueError, match="none of the 5 was selected"):
            dataset[5:]

    def test_selection_keeps_the_order(self, dataset):
        assert dataset.select([4, 0, -1]).num_points.tolist() == [30, 7, 30]
        assert dataset.select(np.array([2, 1])).num_points.tolist() == [5, 12]

    def test_split_has_no_overlap_and_is_reproducible(self, dataset):
        train, test = dataset.split(3)
        assert sorted([*train.num_points, *test.num_points]) == sorted(dataset.num_points)
        assert_same(train, dataset.split(3)[0])
        assert train.provenance["steps"] == [{"split": "train", "num_train": 3, "num_test": 2, "seed": 0}]

    def test_another_seed_splits_otherwise(self, dataset):
        orders = {tuple(dataset.split(4, seed=seed)[0].num_points.tolist()) for seed in range(6)}
        assert len(orders) > 1

    def test_a_larger_training_set_contains_the_smaller_and_leaves_the_test_set_alone(self, dataset):
        small, large = dataset.split(1, 2), dataset.split(3, 2)
        assert_same(small[0], Dataset(**{**vars(large[0][:1]), "provenance": small[0].provenance}))
        assert small[1].num_points.tolist() == large[1].num_points.tolist()

    @pytest.mark.parametrize(("num_train", "num_test"), [(5, None), (0, 1), (3, 3), (6, None), (2, 0), (2, -1)])
    def test_split_says_what_is_available(self, dataset, num_train, num_test):
        with pytest.raises(
            ValueError, match=r"from 5( and leave some for testing; ask for 1 to 4|; each needs at least one)"
        ):
            dataset.split(num_train, num_test)

    def test_subsample_draws_rows_of_each_sample(self, dataset):
        small = dataset.subsample(4, seed=1)
        assert small.num_points.tolist() == [4] * 5
        for few, many in zip(small, dataset, strict=True):
            rows = [np.flatnonzero((many.points == point).all(axis=1))[0] for point in few.points]
            assert len(set(rows)) == 4
            np.testing.assert_array_equal(few.inputs, many.inputs[rows])
            np.testing.assert_array_equal(few.targets, many.targets[rows])
            np.testing.assert_array_equal(few.boundary, many.boundary[rows])
            assert few.cells is None
            assert few.weights is None

    def test_subsample_depends_on_the_seed_only(self, dataset):
        assert dataset.subsample(4, seed=1).fingerprint() == dataset.subsample(4, seed=1).fingerprint()
        assert dataset.subsample(4, seed=1).fingerprint() != dataset.subsample(4, seed=2).fingerprint()

    def test_subsample_names_the_sample_with_too_few_points(self, dataset):
        with pytest.raises(ValueError, match="sample 2 has 5, so ask for 1 to 5"):
            dataset.subsample(6)
        with pytest.raises(ValueError, match="ask for 1 to 5"):
            dataset.subsample(0)

    def test_does_not_share_points(self, dataset):
        assert not dataset.shares_points

    def test_reads_well(self, dataset):
        assert repr(dataset) == "Dataset(5 samples in 2D: k [W/m/K] f -> T [K])"


def test_samples_on_the_same_grid_are_thinned_differently():
    small = shared_dataset().subsample(5)
    assert not small.shares_points
    assert not np.array_equal(small[0].points, small[1].points)


def test_points_that_are_equal_but_not_the_same_object_are_shared():
    points = np.random.default_rng(0).random((6, 2))
    assert Dataset.from_arrays([points, points.copy()], np.zeros((2, 6))).shares_points


def test_the_fingerprint_is_that_of_the_content_wherever_it_lies(stored):
    assert stored.fingerprint() == ragged_dataset().fingerprint()
    assert stored.fingerprint() == stored.in_memory().fingerprint()
    assert stored.fingerprint() != stored[1:].fingerprint()


def test_the_fingerprint_notices_a_changed_digit():
    values = np.zeros((2, 6))
    one = Dataset.from_arrays(np.zeros((6, 2)), values)
    values = values.copy()
    values[1, 3] = 1e-300
    assert one.fingerprint() != Dataset.from_arrays(np.zeros((6, 2)), values).fingerprint()


def test_a_stored_data_set_can_be_pickled(stored):
    sent = pickle.dumps(stored[1:3])
    assert len(sent) < 5000, "only the way to the file is sent, not the samples"
    assert_same(pickle.loads(sent), stored[1:3])


def _sum_of(dataset_and_index):
    dataset, index = dataset_and_index
    return float(dataset[index].inputs.sum())


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_other_processes_read_the_same_file(stored, method):
    expected = [float(sample.inputs.sum()) for sample in stored]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(_sum_of, [(stored, index) for index in range(5)] * 4) == expected * 4


def test_in_memory_reads_everything_and_keeps_points_shared(tmp_path):
    shared_dataset().save(tmp_path / "shared.h5")
    loaded = Dataset.load(tmp_path / "shared.h5")
    held = loaded.in_memory()
    (tmp_path / "shared.h5").unlink()
    assert len({id(sample.points) for sample in held}) == 1
    assert_same(held, shared_dataset())
