import json
import os
import subprocess
import sys

import pytest

from gola.files import TEMPORARY_PREFIX, read_json, replacing, write_json, writing_alone


def test_json_comes_back_and_any_change_is_noticed(tmp_path):
    file = tmp_path / "facts.json"
    write_json(file, {"name": "darcy", "sizes": [1, 2], "error": 0.25})
    assert read_json(file, "facts") == {"name": "darcy", "sizes": [1, 2], "error": 0.25}
    file.write_text(file.read_text().replace("0.25", "0.15"))
    with pytest.raises(ValueError, match=r"facts\.json is damaged or was changed by hand"):
        read_json(file, "facts")


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe", b"[" * 100_000, b'{"a": 1}'])
def test_json_that_is_damaged_is_named_with_its_file(tmp_path, content):
    file = tmp_path / "facts.json"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"facts\.json"):
        read_json(file, "facts")


def test_what_a_killed_process_left_is_removed_by_the_next_one(tmp_path):
    code = (
        "import os, sys; from gola.files import replacing\n"
        f"with replacing({str(tmp_path / 'a.txt')!r}) as path:\n    path.write_text('half'); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    assert len(list(tmp_path.glob(f"{TEMPORARY_PREFIX}*"))) == 1
    with replacing(tmp_path / "b.txt") as path:
        path.write_text("whole")
    assert [file.name for file in tmp_path.iterdir()] == ["b.txt"]


def test_a_temporary_file_of_a_running_process_stays(tmp_path):
    with replacing(tmp_path / "a.txt") as first:
        first.write_text("first")
        with replacing(tmp_path / "b.txt") as second:
            second.write_text("second")
        assert first.exists()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.txt", "b.txt"]


def test_two_processes_cannot_write_the_same_output(tmp_path):
    path = tmp_path / "data.h5"
    code = f"from gola.files import writing_alone\nwith writing_alone({str(path)!r}): pass"
    with writing_alone(path):
        other = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert "Another process is writing" in other.stderr
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.geteuid() == 0, reason="Root may write anywhere.")
def test_a_folder_that_cannot_be_written_to_is_a_clear_error(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(ValueError, match="Could not write"), replacing(tmp_path / "a.txt") as path:
        path.write_text("x")


def test_the_file_is_plain_json(tmp_path):
    write_json(tmp_path / "facts.json", {"a": 1})
    assert set(json.loads((tmp_path / "facts.json").read_text())) == {"a", "checksum"}
