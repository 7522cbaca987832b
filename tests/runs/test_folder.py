from dataclasses import replace

import pytest

from gola.files import write_json, writing_alone
from gola.protocol import Session, TrainingConfig
from gola.runs import RunConfig, execute
from gola.runs.folder import RunFolder
from gola.surrogate.surrogate import Surrogate
from tests.runs.examples import small_run


def begun(path, run, **how):
    folder = RunFolder(path)
    folder.begin(run, **{"resume": False, "overwrite": False, **how})
    return folder


def test_a_folder_knows_the_run_that_was_started_in_it(data, tmp_path):
    run = small_run(data, "auto", settings={"members": ("mean", "nearest")})
    assert not RunFolder(tmp_path / "a").holds(run)
    folder = begun(tmp_path / "a", run)
    assert folder.holds(run)
    assert not folder.holds(replace(run, seed=1))
    assert not folder.holds(replace(run, training=TrainingConfig(num_epochs=7)))


def test_a_run_that_is_executed_in_a_folder_leaves_its_surrogate_and_errors(data, tmp_path):
    run = small_run(data)
    folder = begun(tmp_path / "a", run)
    result = execute(run, folder=folder)
    assert result.errors == execute(run).errors
    assert folder.evaluation()["evaluations"][0]["errors"] == list(result.errors)
    train, _ = run.samples()
    assert Surrogate.load(folder.surrogate_file).provenance["data"]["fingerprint"] == train.fingerprint()


def test_a_finished_fit_is_loaded_when_resumed_and_repeated_otherwise(data, tmp_path):
    run = small_run(data)
    folder = begun(tmp_path / "a", run)
    train, _ = run.samples()
    folder.fit(run, train, Session())
    written = folder.surrogate_file.stat().st_mtime_ns
    folder.fit(run, train, Session(resume=True))
    assert folder.surrogate_file.stat().st_mtime_ns == written
    folder.fit(run, train, Session())
    assert folder.surrogate_file.stat().st_mtime_ns > written


def test_other_settings_are_not_mixed_into_a_run(data, tmp_path):
    run = small_run(data, "gola")
    folder = begun(tmp_path / "a", run)
    with pytest.raises(ValueError, match="holds an unfinished run; resume it with --resume"):
        begun(folder.path, run)
    begun(folder.path, run, resume=True)
    with pytest.raises(ValueError, match=r"holds a run with seed 0 \(now 1\); resume with the same settings"):
        begun(folder.path, replace(run, seed=1), resume=True)
    begun(folder.path, replace(run, seed=1), overwrite=True)
    assert folder.holds(replace(run, seed=1))


def finished(path, run, **how):
    folder = begun(path, run, **how)
    folder.fit(run, run.samples()[0], Session())
    return folder


def test_a_new_run_replaces_the_old_one_only_when_it_is_finished(data, tmp_path, monkeypatch):
    run, other = small_run(data), small_run(data, "mean")
    folder = finished(tmp_path / "a", run)
    folder.keep_evaluation({"evaluations": []})
    old = folder.surrogate_file.read_bytes()
    begun(folder.path, other, overwrite=True)
    monkeypatch.setattr(type(run), "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        folder.fit(other, other.samples()[0], Session())
    assert folder.surrogate_file.read_bytes() == old
    assert folder.evaluation() == {"evaluations": []}
    monkeypatch.undo()
    begun(folder.path, other, resume=True)
    folder.fit(other, other.samples()[0], Session(resume=True))
    assert Surrogate.load(folder.surrogate_file).operator.name == "mean"
    assert folder.holds(other)
    assert folder.evaluation() is None
    assert sorted(path.name for path in folder.path.iterdir()) == ["run.json", "surrogate.gola"]
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def interrupted(*_, **__):
    raise KeyboardInterrupt


def test_a_crash_while_the_old_run_is_replaced_is_made_good_by_the_next_run(data, tmp_path, monkeypatch):
    run, other = small_run(data), small_run(data, "mean")
    folder = finished(tmp_path / "a", run)
    begun(folder.path, other, overwrite=True)
    monkeypatch.setattr("gola.runs.folder.RunFolder._clear", interrupted)
    with pytest.raises(KeyboardInterrupt):
        folder.fit(other, other.samples()[0], Session())
    monkeypatch.undo()
    begun(folder.path, other, resume=True)
    assert folder.is_finished
    assert Surrogate.load(folder.surrogate_file).operator.name == "mean"
    assert sorted(path.name for path in folder.path.iterdir()) == ["run.json", "surrogate.gola"]


def test_two_processes_do_not_write_into_one_folder(data, tmp_path):
    run = small_run(data)
    folder = begun(tmp_path / "a", run)
    with writing_alone(folder.path):
        with pytest.raises(ValueError, match=r"Another process is writing .*a"):
            folder.fit(run, run.samples()[0], Session())
        with pytest.raises(ValueError, match=r"Another process is writing .*a"):
            begun(folder.path, run, overwrite=True)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a": 1}', '{"checksum": "abc"}'])
def test_a_damaged_file_of_a_run_is_named(data, tmp_path, text):
    folder = finished(tmp_path / "a", small_run(data))
    folder.evaluation_file.write_text(text)
    with pytest.raises(ValueError, match=r"evaluation\.json"):
        folder.evaluation()
    (folder.path / "run.json").write_text(text)
    with pytest.raises(ValueError, match=r"run\.json"):
        RunConfig.load(folder.path)


@pytest.mark.parametrize(
    "change",
    [{"seed": "1"}, {"num_train": True}, {"training": []}, {"training": {"num_epochs": "x"}}, {"settings": 3},
     {"data": 5}, {"test_points": 4}, {"operator": None}],
)  # fmt: skip
def test_settings_of_other_types_are_an_error_that_names_the_file(data, tmp_path, change):
    write_json(tmp_path / "run.json", {**small_run(data).to_dict(), **change})
    with pytest.raises(ValueError, match=r"run\.json does not hold the settings of a run"):
        RunConfig.load(tmp_path)
