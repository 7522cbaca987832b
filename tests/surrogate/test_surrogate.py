import json
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch

from gola.data.dataset import Dataset
from gola.data.sample import Channel
from gola.surrogate.file import read_tensors, write_tensors
from gola.surrogate.surrogate import Surrogate
from tests.fits import small_data, small_surrogate


@pytest.fixture(scope="module")
def data():
    return small_data()


@pytest.fixture(scope="module", params=["gola", "linear"])
def surrogate(request, data):
    return small_surrogate(request.param, data)


def test_it_predicts_a_column_per_channel_at_the_points_of_the_user(surrogate, data):
    sample = data[0]
    predictions = surrogate.predict(sample.points, sample.inputs)
    assert predictions.shape == sample.targets.shape
    assert predictions.dtype == np.float64
    flat = surrogate.predict(sample.points.tolist(), sample.inputs[:, 0])
    assert np.array_equal(flat, predictions)


def test_predictions_follow_the_order_of_the_points(surrogate, data):
    sample = data[0]
    order = np.random.default_rng(0).permutation(sample.num_points)
    shuffled = surrogate.predict(sample.points[order], sample.inputs[order])
    expected = surrogate.predict(sample.points, sample.inputs)[order]
    assert shuffled == pytest.approx(expected, rel=1e-5, abs=1e-5 * np.abs(expected).max())


def test_it_answers_elsewhere(surrogate, data):
    sample = data[0]
    elsewhere = surrogate.predict(sample.points, sample.inputs, at=[[0.5, 0.5], [0.2, 0.7]])
    assert elsewhere.shape == (2, 1)
    there = surrogate.predict(sample.points, sample.inputs, at=sample.points)
    here = surrogate.predict(sample.points, sample.inputs)
    assert there == pytest.approx(here, rel=1e-4, abs=1e-4 * np.abs(here).max())


def test_units_of_length_and_values_do_not_matter(data):
    """Metres or millimetres: the same samples in other units give the same surrogate in those units."""
    other = Dataset.from_arrays(
        [1e3 * sample.points - 7.0 for sample in data],
        [1e-6 * sample.inputs for sample in data],
        [1e4 * sample.targets for sample in data],
    )
    plain, scaled = small_surrogate("gola", data), small_surrogate("gola", other)
    sample = data[0]
    expected = 1e4 * plain.predict(sample.points, sample.inputs)
    found = scaled.predict(1e3 * sample.points - 7.0, 1e-6 * sample.inputs)
    assert found == pytest.approx(expected, rel=1e-3, abs=1e-3 * np.abs(expected).max())


def test_a_saved_surrogate_comes_back_whole(surrogate, data, tmp_path):
    surrogate.save(tmp_path / "x.gola")
    loaded = Surrogate.load(tmp_path / "x.gola")
    sample = data[1]
    expected = surrogate.predict(sample.points, sample.inputs)
    assert np.array_equal(loaded.predict(sample.points, sample.inputs), expected)
    for name in ("inputs", "targets", "scaling", "scores"):
        assert getattr(loaded, name) == getattr(surrogate, name)
    assert loaded.provenance["data"]["fingerprint"] == data.fingerprint()
    assert repr(loaded) == repr(surrogate)


def test_another_process_predicts_the_same_to_the_last_bit(surrogate, data, tmp_path):
    surrogate.save(tmp_path / "x.gola")
    data.save(tmp_path / "data.h5")
    script = (
        "import gola, numpy as np, torch; torch.set_num_threads(1);"
        f"s = gola.Dataset.load({str(tmp_path / 'data.h5')!r})[2];"
        f"np.save({str(tmp_path / 'there.npy')!r},"
        f" gola.Surrogate.load({str(tmp_path / 'x.gola')!r}).predict(s.points, s.inputs))"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        here = surrogate.predict(data[2].points, data[2].inputs)
    finally:
        torch.set_num_threads(threads)
    assert np.array_equal(np.load(tmp_path / "there.npy"), here)


def test_the_file_is_safetensors_with_json_in_its_header(surrogate, tmp_path):
    surrogate.save(tmp_path / "x.gola")
    raw = (tmp_path / "x.gola").read_bytes()
    header = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
    about = json.loads(header["__metadata__"]["gola"])
    assert about["operator"] == surrogate.operator.name
    assert about["inputs"] == [{"name": "speed", "unit": ""}]


def test_a_missing_damaged_or_foreign_file_is_named(surrogate, tmp_path):
    path = tmp_path / "x.gola"
    with pytest.raises(ValueError, match=r"There is no surrogate .*x\.gola"):
        Surrogate.load(path)
    surrogate.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="damaged"):
        Surrogate.load(path)
    path.write_bytes(b"not at all a surrogate, but some other text")
    with pytest.raises(ValueError, match="damaged"):
        Surrogate.load(path)
    path.write_bytes(b"")
    with pytest.raises(ValueError, match="damaged"):
        Surrogate.load(path)


def test_a_newer_or_incomplete_file_is_refused(surrogate, tmp_path):
    path = tmp_path / "x.gola"
    surrogate.save(path)
    about, tensors = read_tensors(path)
    write_tensors(path, tensors, {**about, "version": 99})
    with pytest.raises(ValueError, match="format version 99 and this gola reads 3; update gola"):
        Surrogate.load(path)
    first = next(iter(tensors))
    write_tensors(path, {name: tensor for name, tensor in tensors.items() if name != first}, about)
    with pytest.raises(ValueError, match="not a whole surrogate"):
        Surrogate.load(path)
    write_tensors(path, tensors, {**about, "operator": "oracle"})
    with pytest.raises(ValueError, match="oracle"):
        Surrogate.load(path)


def test_a_failed_save_leaves_the_file_before(surrogate, tmp_path, monkeypatch):
    path = tmp_path / "x.gola"
    surrogate.save(path)
    before = path.read_bytes()

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gola.surrogate.saving.write_tensors", full_disk)
    with pytest.raises(ValueError, match="No space left"):
        surrogate.save(path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["x.gola"]


def test_wrong_shapes_and_values_are_refused_with_what_is_needed(surrogate, data):
    points, inputs = data[0].points, data[0].inputs
    with pytest.raises(ValueError, match=r"points must have the shape \(points, 2\)"):
        surrogate.predict(points[:, :1], inputs)
    with pytest.raises(ValueError, match=r"at must have the shape \(points, 2\)"):
        surrogate.predict(points, inputs, at=[0.5, 0.5])
    with pytest.raises(ValueError, match=r"inputs must have the shape \(60, 1\).* speed; got \(60, 2\)"):
        surrogate.predict(points, np.hstack([inputs, inputs]))
    with pytest.raises(ValueError, match=r"inputs must be finite numbers; row 3 is \[nan\]"):
        surrogate.predict(points, np.where(np.arange(60) == 3, np.nan, inputs[:, 0]))


def test_channels_of_other_names_are_refused(surrogate, data):
    surrogate.require_channels(replace(data, inputs=(Channel(name="speed", unit="m/s"),)), "x.h5")
    with pytest.raises(ValueError, match=r"x\.h5 has the input channels slowness; the surrogate reads speed"):
        surrogate.require_channels(replace(data, inputs=(Channel(name="slowness"),)), "x.h5")
    with pytest.raises(ValueError, match=r"x\.h5 has the parameters load; the surrogate reads none"):
        surrogate.require_channels(replace(data, parameters=(Channel(name="load"),)), "x.h5")


def test_points_far_outside_the_training_points_bring_a_warning(surrogate, data):
    points, inputs = data[0].points, data[0].inputs
    with pytest.warns(UserWarning, match=r"1 of 1 rows of at lie outside the training points .* the farthest \[3"):
        surrogate.predict(points, inputs, at=[[3.0, 0.5]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        surrogate.predict(points, inputs, at=[[1.01, 0.5]])


def test_scores_are_kept_with_the_surrogate(surrogate):
    expected = {"gola": {"training_error"}, "linear": {"cv_error"}}[surrogate.operator.name]
    assert set(surrogate.scores) == expected
    assert all(0.0 < score < 1.0 for score in surrogate.scores.values())
    assert replace(surrogate, scores={}).scores == {}


def test_others_may_read_the_file_if_the_user_lets_them(surrogate, tmp_path):
    surrogate.save(tmp_path / "x.gola")
    (tmp_path / "plain.txt").write_text("as the user's settings say")
    assert (tmp_path / "x.gola").stat().st_mode == (tmp_path / "plain.txt").stat().st_mode
