import json

import pytest

from gola.runs import ResultFolder
from tests.runs.examples import made_failure, made_result, small_run


def test_results_come_back_the_oldest_first_and_other_files_are_left_alone(data, tmp_path):
    folder = ResultFolder(path=tmp_path)
    new = made_result(run=small_run(data), finished="2026-02-01")
    old = made_result(run=small_run(data, seed=1), finished="2026-01-01")
    folder.write(new)
    folder.write(old)
    (tmp_path / "notes.json").write_text('{"by": "somebody else"}')
    assert folder.results() == [old, new]


def test_a_result_replaces_the_record_of_a_failure(data, tmp_path):
    folder = ResultFolder(path=tmp_path)
    run = small_run(data)
    failure = made_failure()
    folder.write(type(failure)(run=run, message="it broke"))
    assert folder.results() == []
    path = folder.write(made_result(run=run))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read as the result of a run"),
        ('{"format": "gola run", "version": 1, "run": {}}', "cannot be read as the result of a run"),
        ('{"format": "gola run", "version": true}', "format version is True"),
        ('{"format": "gola run", "version": 1, "checksum": "x"}', "checksum does not fit"),
        ('{"format": "gola run", "version": 1, "errors_by_points": []}', "cannot be read as the result of a run"),
        ('{"format": "gola run", "version": 99}', "format version is 99 and this gola knows 1; update gola"),
    ],
)
def test_a_damaged_or_newer_file_is_named(tmp_path, text, message):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(ValueError, match=rf"a\.json.*{message}"):
        ResultFolder(path=tmp_path).results()


def test_a_result_reads_well(data, tmp_path):
    path = ResultFolder(path=tmp_path).write(made_result(run=small_run(data), error=0.25))
    written = json.loads(path.read_text())
    assert written["error"] == 0.25
    assert written["run"]["operator"] == "nearest"
    assert path.name.startswith("nearest-6x60-0-")


def test_a_changed_number_is_found_and_files_without_a_checksum_load(data, tmp_path):
    folder = ResultFolder(path=tmp_path)
    path = folder.write(made_result(run=small_run(data), error=0.25))
    written = json.loads(path.read_text())
    path.write_text(json.dumps({**written, "fit_seconds": 3.0}))
    with pytest.raises(ValueError, match="its checksum does not fit its content"):
        folder.results()
    del written["checksum"]
    path.write_text(json.dumps(written))
    assert folder.results() == [made_result(run=small_run(data), error=0.25)]
