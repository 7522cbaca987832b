import numpy as np

from gola.data.dataset import Dataset
from gola.plotting.names import file_names


def imported(**provenance):
    """Six samples, each with its own number as input, as if read from files of these numbers."""
    points = np.random.default_rng(0).random((9, 2))
    values = [np.full(9, float(number)) for number in range(6)]
    files = {"files": [f"folder/case_{number}.vtu" for number in range(6)]}
    return Dataset.from_arrays(points, values, values, provenance=files | provenance)


def numbers(data):
    return [f"case_{sample.inputs[0, 0]:.0f}.vtu" for sample in data]


def test_samples_are_named_by_their_files_after_every_step():
    data = imported()
    train, test = data.split(num_train=3, seed=5)
    for kept in (data, train, test, test.subsample(4), train.select([2, 0]), data[1:5].split(num_train=2)[1]):
        assert file_names(kept) == numbers(kept)


def test_samples_of_unknown_origin_have_no_names():
    assert file_names(imported(files=[])) == [""] * 6
    assert file_names(imported(files=["all.csv"])) == [""] * 6
    assert file_names(imported(files=["all.csv"]).split(num_train=2)[0]) == [""] * 2


def test_no_names_are_guessed_where_files_and_samples_do_not_fit():
    two = imported(files=["first.csv", "second.csv"])
    assert file_names(two.split(num_train=2)[0]) == ["", ""]
