import shutil

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gola.data.dataset import Dataset
from gola.data.sample import Channel, Sample
from gola.data.storage import Header, read_dataset, write_samples
from gola.data.storage.hdf5 import FailureAbsorbingFile
from tests.data.ragged import INPUTS, TARGETS, assert_same, ragged_dataset, ragged_sample, shared_dataset

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "set.h5"
    ragged_dataset().save(path)
    return path


@st.composite
def contents(draw):
    dim, num_inputs, num_targets = draw(st.integers(1, 3)), draw(st.integers(0, 3)), draw(st.integers(0, 2))
    num_parameters = draw(st.integers(0 if num_inputs else 1, 2))
    optional = draw(st.sets(st.sampled_from(["boundary", "cells", "weights"])))
    vertices = draw(st.integers(2, dim + 1))
    samples = []
    for _ in range(draw(st.integers(1, 5))):
        n = draw(st.integers(1, 6))
        sample = Sample(
            points=draw(arrays(np.float64, (n, dim), elements=FINITE)),
            inputs=draw(arrays(np.float64, (n, num_inputs), elements=FINITE)),
            targets=draw(arrays(np.float64, (n, num_targets), elements=FINITE)),
            boundary=draw(arrays(bool, n)) if "boundary" in optional else None,
            cells=draw(arrays(np.int64, (draw(st.integers(0, 4)), vertices), elements=st.integers(0, n - 1)))
            if "cells" in optional
            else None,
            weights=draw(arrays(np.float64, n, elements=FINITE)) if "weights" in optional else None,
            parameters=draw(arrays(np.float64, num_parameters, elements=FINITE)),
        )
        samples += [sample] * draw(st.integers(1, 2))
    text = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1)
    names = draw(st.lists(text, min_size=num_inputs, max_size=num_inputs, unique=True))
    return {
        "samples": samples,
        "inputs": [Channel(name=name, unit="µm²") for name in names],
        "targets": [f"u{k}" for k in range(num_targets)],
        "parameters": [Channel(name=f"p{k}", unit="N") for k in range(num_parameters)],
        "provenance": draw(st.dictionaries(text, st.integers() | FINITE | text | st.none(), max_size=3)),
    }


@given(content=contents(), compress=st.booleans())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_saved_comes_back_to_the_last_bit(tmp_path, content, compress):
    dataset = Dataset.from_samples(**content)
    dataset.save(tmp_path / "any.h5", compress=compress)
    loaded = Dataset.load(tmp_path / "any.h5")
    assert_same(loaded, dataset)
    assert [sample.num_points for sample in dataset] == loaded.num_points.tolist()
    assert_same(loaded[::-1], dataset[::-1])


def test_shared_points_are_stored_once(tmp_path):
    dataset = shared_dataset(num_samples=4, num_points=20)
    dataset.save(tmp_path / "shared.h5")
    with h5py.File(tmp_path / "shared.h5") as file:
        assert file["geometry/points"].shape == (20, 2)
        assert file["geometry/weights"].shape == (20,)
        assert file["samples/inputs"].shape == (80, 1)
    loaded = Dataset.load(tmp_path / "shared.h5")
    assert_same(loaded, dataset)
    assert loaded.shares_points


def test_a_mesh_used_by_several_samples_is_stored_once(tmp_path):
    one, other = ragged_sample(6), ragged_sample(9)
    samples = [one, other, one, one, other]
    write_samples(tmp_path / "mixed.h5", samples, Header(inputs=INPUTS, targets=TARGETS))
    with h5py.File(tmp_path / "mixed.h5") as file:
        assert file["samples/geometry"][()].tolist() == [0, 1, 0, 0, 1]
        assert len(file["geometry/points"]) == 15
    assert_same(Dataset.load(tmp_path / "mixed.h5"), Dataset.from_samples(samples, inputs=INPUTS, targets=TARGETS))


def test_the_same_data_gives_the_same_bytes(tmp_path):
    for name in ("a.h5", "b.h5"):
        ragged_dataset().save(tmp_path / name)
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()


def test_compression_shrinks_what_can_be_shrunk(tmp_path):
    dataset = Dataset.from_arrays(np.random.default_rng(0).random((5000, 2)), np.zeros((20, 5000)))
    dataset.save(tmp_path / "plain.h5")
    dataset.save(tmp_path / "small.h5", compress=True)
    assert (tmp_path / "small.h5").stat().st_size < 0.3 * (tmp_path / "plain.h5").stat().st_size
    assert_same(Dataset.load(tmp_path / "small.h5"), dataset)


def test_samples_are_written_as_they_come(tmp_path):
    alive = []

    def one_at_a_time():
        for index in range(50):
            alive.append(index)
            yield ragged_sample(2000, seed=index, mesh=False)

    write_samples(tmp_path / "stream.h5", one_at_a_time(), Header(inputs=INPUTS, targets=TARGETS))
    assert len(Dataset.load(tmp_path / "stream.h5")) == len(alive) == 50


def test_no_further_samples_are_asked_for_once_the_disk_is_full(tmp_path, monkeypatch):
    def fill_up(sink, data):
        sink.failure = OSError(28, "No space left on device")
        return len(data)

    drawn = []
    samples = (drawn.append(index) or ragged_sample(20_000, mesh=False) for index in range(200))
    monkeypatch.setattr(FailureAbsorbingFile, "write", fill_up)
    with pytest.raises(ValueError, match="No space left on device"):
        write_samples(tmp_path / "a.h5", samples, Header(inputs=INPUTS, targets=TARGETS))
    assert len(drawn) < 60, "HDF5 keeps a few megabytes back before it writes"
    assert not list(tmp_path.iterdir())


def test_long_provenance_is_kept(tmp_path):
    files = [f"folder/case_{index}.vtu" for index in range(10_000)]  # more than an HDF5 attribute holds
    dataset = Dataset.from_arrays(np.zeros((4, 2)), np.zeros((1, 4)), provenance={"files": files})
    dataset.save(tmp_path / "long.h5")
    assert Dataset.load(tmp_path / "long.h5").provenance == {"files": files}


def test_bad_samples_never_reach_a_file(tmp_path):
    bad = Sample(points=np.zeros((4, 2)), inputs=np.full((4, 2), np.nan), targets=np.zeros((4, 1)))
    good = ragged_sample(5, mesh=False)
    with pytest.raises(ValueError, match="Sample 1, input channel 'k'"):
        write_samples(tmp_path / "bad.h5", [good, bad], Header(inputs=INPUTS, targets=TARGETS))
    with pytest.raises(ValueError, match="at least one sample"):
        write_samples(tmp_path / "bad.h5", [], Header(inputs=INPUTS, targets=TARGETS))
    assert not list(tmp_path.iterdir())


def test_a_data_set_can_replace_the_file_it_is_read_from(path):
    loaded = Dataset.load(path)
    loaded[1:].save(path)
    assert_same(Dataset.load(path), ragged_dataset()[1:])
    with pytest.raises(ValueError, match="was changed after it was loaded; load it again"):
        loaded[0]
    with pytest.raises(ValueError, match="was changed after it was loaded"):
        list(loaded)


def test_a_failing_write_inside_hdf5_leaves_the_old_file(path, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    before = path.read_bytes()
    monkeypatch.setattr(h5py.Dataset, "resize", fail)
    with pytest.raises(
        ValueError, match=r"Could not write .*set.h5: No space left on device; the existing file is unch"
    ):
        ragged_dataset((3, 4)).save(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["set.h5"]


@pytest.mark.parametrize("share", [0.0, 0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.9999])
def test_a_truncated_file_is_refused_in_one_line(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ValueError, match=r"truncated|not an HDF5 file|damaged") as caught:
        Dataset.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_flipped_byte_in_the_values_is_noticed(path):
    number = ragged_dataset()[2].inputs[3, 1].tobytes()
    content = path.read_bytes()
    place = content.index(number)
    path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    _, samples = read_dataset(path)
    with pytest.raises(ValueError, match="damaged"):
        samples[2]


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"absent.h5 is not a file; .*`gola generate`"):
        Dataset.load(tmp_path / "absent.h5")


def test_a_file_deleted_after_loading_is_named(path):
    loaded = Dataset.load(path)
    path.unlink()
    with pytest.raises(ValueError, match=r"set.h5 is not a file"):
        loaded[0]


def edit(path, change):
    with h5py.File(path, "r+") as file:
        change(file)


def replaced(name, data):
    def change(file):
        attributes = dict(file[name].attrs)
        del file[name]
        file[name] = data
        file[name].attrs.update(attributes)

    return change


def as_written_by_hand(file):
    """Remove the checksums, which files of version 1 and those of other programs do not have."""
    file.attrs.modify("version", 1)
    for name in ("geometry/checksums", "samples/checksums"):
        del file[name]
    del file.attrs["checksum"]


def without(name):
    return lambda file: file.__delitem__(name)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file: file.attrs.__delitem__("format"), "not a gola data set"),
        (lambda file: file.attrs.modify("format", "other"), "not a gola data set"),
        (lambda file: file.attrs.__delitem__("version"), "no valid attribute `version`"),
        (lambda file: file.attrs.modify("version", 9), "format version 9, and this gola reads up to 3; upgrade gola"),
        (without("geometry/points"), "lacks the array 'geometry/points'"),
        (without("geometry/offsets"), "lacks the array 'geometry/offsets'"),
        (without("geometry/cell_offsets"), "lacks the array 'geometry/cell_offsets'"),
        (without("geometry"), "lacks the array 'geometry/offsets'"),
        (replaced("geometry/points", np.zeros(63)), "'geometry/points' must be an array with 2 axes"),
        (replaced("geometry/points", np.zeros((63, 7))), "1, 2 or 3 columns; it has 7"),
        (replaced("geometry/offsets", [0, 7, 19, 24, 33, 64]), "must rise from 0 to 63"),
        (replaced("geometry/offsets", [0, 19, 7, 24, 33, 63]), "must rise from 0 to 63"),
        (replaced("geometry/offsets", [0, 7, 7, 24, 33, 63]), "geometry 1 has no points"),
        (replaced("samples/geometry", [0, 1, 2, 3, 5]), "must hold numbers from 0 to 4"),
        (replaced("samples/geometry", [0, 1, 2, 3, -1]), "must hold numbers from 0 to 4"),
        (replaced("samples/geometry", [0, 1, 2, 3, 3]), "'samples/inputs' has 63 rows where the points ask for 42"),
        (replaced("samples/targets", np.zeros((62, 1))), "'samples/targets' has 62 rows where the points ask for 63"),
        (replaced("samples/targets", np.zeros((63, 2))), "'samples/targets' has 2 columns, 1 names and 1 units"),
        (replaced("samples/inputs", np.full((63, 2), b"a")), "'samples/inputs' must hold numbers"),
        (replaced("geometry/boundary", np.zeros(5)), "'geometry/boundary' has 5 rows where the points ask for 63"),
        (replaced("provenance", "{"), "`provenance` must be a text in JSON"),
        (replaced("provenance", "[1]"), "`provenance` must be a JSON object; got list"),
        (replaced("provenance", 5.0), "`provenance` must be a text in JSON"),
    ],
)
def test_a_file_with_a_mistake_is_refused_in_one_line(path, change, message):
    edit(path, as_written_by_hand)
    edit(path, change)
    with pytest.raises(ValueError, match=message) as caught:
        Dataset.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.attrs.modify("version", 1),
        lambda file: file.attrs.modify("writer", "somebody else"),
        lambda file: file.attrs.__delitem__("checksum"),
        lambda file: file["samples/inputs"].attrs.modify("units", ["K", "K"]),
        lambda file: file["samples/inputs"].attrs.modify("names", ["f", "k"]),
        lambda file: file["samples/checksums"].__setitem__(0, 5),
        replaced("samples/geometry", [0, 1, 2, 4, 3]),
        replaced("provenance", '{"problem": "another"}'),
        without("geometry/weights"),
        without("geometry/checksums"),
    ],
)
def test_a_change_of_what_a_file_says_about_itself_is_noticed(path, change):
    edit(path, change)
    with pytest.raises(ValueError, match=r"set\.h5 is damaged: the checksum of its header does not fit"):
        Dataset.load(path)


def test_values_that_were_changed_with_an_hdf5_library_are_noticed(path):
    edit(path, lambda file: file["samples/targets"].__setitem__((0, 0), 7.0))
    edit(path, lambda file: file["geometry/weights"].__setitem__(8, 7.0))
    loaded = Dataset.load(path)
    for damaged in (0, 1):
        with pytest.raises(ValueError, match=r"set\.h5 is damaged: the checksum of a sample does not fit"):
            loaded[damaged]
    assert len(loaded[2].points) == 5


@pytest.mark.parametrize("version", [True, 0, -3, "1", 1.0, [1, 2]])
def test_a_version_is_a_whole_number_from_1(path, version):
    edit(path, lambda file: file.attrs.__setitem__("version", version))
    with pytest.raises(ValueError, match=r"set\.h5 has no valid attribute `version`"):
        Dataset.load(path)


def test_an_array_that_claims_more_rows_than_the_file_can_hold_is_refused(path):
    edit(path, as_written_by_hand)
    edit(path, lambda file: file["samples/inputs"].resize(10**12, axis=0))
    with pytest.raises(ValueError, match="claims 1000000000000 rows, more than the file can hold"):
        Dataset.load(path)


def test_other_files_are_refused(tmp_path):
    (tmp_path / "text.h5").write_text("hello")
    with pytest.raises(ValueError, match="not an HDF5 file; bring other formats in with `gola import`"):
        Dataset.load(tmp_path / "text.h5")
    with h5py.File(tmp_path / "foreign.h5", "w") as file:
        file["pressure"] = np.zeros(5)
    with pytest.raises(ValueError, match=r"not a gola data set .* see docs/data-format.md"):
        Dataset.load(tmp_path / "foreign.h5")


def test_a_file_written_by_hand_may_leave_out_what_goes_without_saying(tmp_path):
    with h5py.File(tmp_path / "hand.h5", "w") as file:
        file.attrs["format"], file.attrs["version"] = "gola-dataset", 1
        file["geometry/points"] = np.random.default_rng(0).random((6, 2)).astype(np.float32)
        file["geometry/offsets"] = [0, 6]
        file["samples/inputs"] = np.arange(18).reshape(18, 1)
        file["samples/inputs"].attrs["names"] = ["f"]
    dataset = Dataset.load(tmp_path / "hand.h5")
    assert len(dataset) == 3
    assert dataset.shares_points
    assert dataset.targets == ()
    assert dataset.provenance == {}
    assert dataset[1].inputs.ravel().tolist() == [6, 7, 8, 9, 10, 11]
    assert dataset[1].points.dtype == dataset[1].inputs.dtype == np.float64


def test_a_moved_file_is_loaded_from_its_new_place(path, tmp_path):
    shutil.move(path, tmp_path / "moved.h5")
    assert len(Dataset.load(tmp_path / "moved.h5")) == 5


def test_a_relative_path_survives_a_change_of_folder(path, monkeypatch, tmp_path):
    monkeypatch.chdir(path.parent)
    loaded = Dataset.load("set.h5")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert loaded[0].num_points == 7
