import errno
import os
import subprocess
import sys

import h5py
import numpy as np
import pytest

from gola.data.storage.hdf5 import creating_hdf5
from gola.files import replacing


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_file_appears_when_the_block_ends(tmp_path):
    with replacing(tmp_path / "a.vtu") as temporary:
        temporary.write_text("new")
        assert temporary.suffix == ".vtu"
        assert not (tmp_path / "a.vtu").exists()
    assert (tmp_path / "a.vtu").read_text() == "new"
    assert names(tmp_path) == ["a.vtu"]


def fail_half_way(path, failure):
    with replacing(path) as temporary:
        temporary.write_text("half")
        raise failure


@pytest.mark.parametrize("failure", [RuntimeError("bug"), KeyboardInterrupt()])
def test_a_failing_block_leaves_the_old_file_and_nothing_else(tmp_path, failure):
    (tmp_path / "a").write_text("old")
    with pytest.raises(type(failure)):
        fail_half_way(tmp_path / "a", failure)
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_a_failing_rename_is_one_clear_line(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "a").write_text("old")
    monkeypatch.setattr(os, "replace", refuse)
    message = "Could not write .*a: No space left on device; the existing file is unchanged"
    with pytest.raises(ValueError, match=message), replacing(tmp_path / "a") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_a_missing_folder_is_named(tmp_path):
    with (
        pytest.raises(ValueError, match="nowhere does not exist; create it first"),
        replacing(tmp_path / "nowhere" / "a"),
    ):
        pass


def test_a_folder_is_not_replaced(tmp_path):
    with pytest.raises(ValueError, match="it is a folder"), replacing(tmp_path):
        pass


def test_a_symbolic_link_keeps_pointing_to_the_new_content(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk" / "a")
    with replacing(tmp_path / "link") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "disk" / "a").read_text() == "new"


def test_a_new_file_has_the_usual_permissions(tmp_path):
    (tmp_path / "usual").touch()
    with replacing(tmp_path / "a") as temporary:
        temporary.touch()
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_hdf5_written_through_the_guard_reads_as_usual(tmp_path):
    values = np.random.default_rng(0).random((1000, 3))
    with creating_hdf5(tmp_path / "a.h5") as (file, _):
        file.create_dataset("deep/values", data=values, chunks=(100, 3), fletcher32=True)
    with h5py.File(tmp_path / "a.h5") as file:
        np.testing.assert_array_equal(file["deep/values"][()], values)


_WRITE_UNTIL_FULL = """
import resource, sys
import numpy as np
from gola.data.dataset import Dataset

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)  # like a disk with this much left
values = np.random.default_rng(0).random((30, 4000))
try:
    Dataset.from_arrays(np.random.default_rng(1).random((30, 4000, 2)), values, values).save(sys.argv[1])
except ValueError as error:
    print(error)
    sys.exit(2)
"""


@pytest.mark.parametrize("limit", [0, 1500, 300_000, 2_000_000, 3_840_000])
def test_a_full_disk_is_an_error_and_not_a_crash(tmp_path, limit):
    (tmp_path / "a.h5").write_text("old")
    command = [sys.executable, "-c", _WRITE_UNTIL_FULL, str(tmp_path / "a.h5"), str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr  # HDF5 left to itself ends in a segmentation fault here
    assert "Could not write" in done.stdout
    assert "File too large; the existing file is unchanged" in done.stdout
    assert done.stderr == ""
    assert (tmp_path / "a.h5").read_text() == "old"
    assert names(tmp_path) == ["a.h5"]
