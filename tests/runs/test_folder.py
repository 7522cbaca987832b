from dataclasses import replace

import pytest

from gola.protocol import Session, TrainingConfig
from gola.runs import execute
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
