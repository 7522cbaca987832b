import os
import signal
import subprocess
import sys
import time

import pytest

from gola.data.dataset import Dataset
from gola.data.storage import Header, Parts
from tests.data.ragged import INPUTS, TARGETS, assert_same, ragged_dataset, ragged_sample


@pytest.fixture
def parts(tmp_path):
    header = Header(inputs=INPUTS, targets=TARGETS, provenance={"problem": "noise", "seed": 0})
    return Parts(path=tmp_path / "set.h5", header=header)


def test_parts_in_any_order_make_the_same_file(parts, tmp_path):
    samples = list(ragged_dataset())
    for index in (2, 0, 1):
        parts.write(index, samples[2 * index : 2 * index + 2])
    parts.merge(3)
    ragged_dataset().save(tmp_path / "whole.h5")
    assert_same(Dataset.load(parts.path), ragged_dataset())
    assert parts.path.read_bytes() == (tmp_path / "whole.h5").read_bytes()
    assert not parts.folder.exists()


def test_finished_parts_are_counted(parts):
    assert parts.finished() == {}
    parts.write(0, [ragged_sample(5), ragged_sample(6)])
    parts.write(7, [ragged_sample(5)])
    assert parts.finished() == {0: 2, 7: 1}


def test_a_damaged_part_counts_as_unfinished(parts):
    parts.write(0, [ragged_sample(5)])
    file = parts.folder / "part_00000.h5"
    file.write_bytes(file.read_bytes()[:-100])
    assert parts.finished() == {}
    parts.write(0, [ragged_sample(5)])
    assert parts.finished() == {0: 1}


def test_a_missing_part_is_named_and_the_others_are_kept(parts):
    parts.write(1, [ragged_sample(5)])
    with pytest.raises(ValueError, match=r"lacks 2 of 3 parts \(first: 0\)"):
        parts.merge(3)
    assert parts.finished() == {1: 1}
    assert not parts.path.exists()


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Header(inputs=INPUTS, targets=TARGETS, provenance={"problem": "noise", "seed": 1}), "seed was 0 and is now 1"),
        (Header(inputs=INPUTS, targets=(), provenance={"problem": "noise", "seed": 0}), "its channels differ"),
    ],
)
def test_parts_of_another_run_are_not_mixed_in(parts, other, message):
    parts.write(0, [ragged_sample(5)])
    with pytest.raises(ValueError, match=f"unfinished data set with other settings .*{message}.* delete the folder"):
        Parts(path=parts.path, header=other).finished()


def test_what_a_user_put_into_the_folder_is_left_alone(parts):
    parts.write(0, [ragged_sample(5)])
    (parts.folder / "notes.txt").write_text("mine")
    parts.merge(1)
    assert [file.name for file in parts.folder.iterdir()] == ["notes.txt"]


def test_a_missing_folder_is_named(tmp_path, parts):
    lost = Parts(path=tmp_path / "nowhere" / "set.h5", header=parts.header)
    with pytest.raises(ValueError, match="nowhere does not exist"):
        lost.write(0, [ragged_sample(5)])


_WRITE_PARTS = """
import signal, sys
from pathlib import Path
from gola.data.storage import Header, Parts
from tests.data.ragged import INPUTS, TARGETS, ragged_sample

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell may have switched off
parts = Parts(path=Path(sys.argv[1]), header=Header(inputs=INPUTS, targets=TARGETS))
for index in range(1000):
    parts.write(index, [ragged_sample(300, seed=index)])
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_whatever_was_finished_survives_being_killed(parts, number):
    parts = Parts(path=parts.path, header=Header(inputs=INPUTS, targets=TARGETS))
    command = [sys.executable, "-c", _WRITE_PARTS, str(parts.path)]
    with subprocess.Popen(command, cwd=os.getcwd(), stderr=subprocess.DEVNULL) as process:
        while not (parts.folder / "part_00005.h5").exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(number)
    done = parts.finished()
    assert set(range(6)) <= set(done)
    for index in set(range(max(done) + 2)) - set(done):
        parts.write(index, [ragged_sample(300, seed=index)])
    parts.merge(max(done) + 2)
    expected = [ragged_sample(300, seed=index) for index in range(max(done) + 2)]
    assert_same(Dataset.load(parts.path), Dataset.from_samples(expected, inputs=INPUTS, targets=TARGETS))
    assert not parts.folder.exists(), "half-written files are removed too"
