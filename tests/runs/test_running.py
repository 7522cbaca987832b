import json
import multiprocessing
import os
import sys
from dataclasses import replace

import pytest
import torch
from distributed import LocalCluster

import gola
from gola.operators.closed_form.mean import Mean
from gola.protocol import TrainingConfig
from gola.registry import OPERATORS
from gola.runs import ResultFolder, RunFailure, run_all
from gola.runs import running as running_module
from tests.runs.examples import small_run


class RegisteredHere(Mean):
    """An operator of a user's."""


def executed(monkeypatch):
    """Record which runs are really done."""
    done = []
    attempt = running_module.attempt

    def recording(run, session=None):
        done.append(run)
        return attempt(run, session)

    monkeypatch.setattr(running_module, "attempt", recording)
    return done


def two_runs(data):
    return [small_run(data, seed=seed) for seed in range(2)]


def test_results_are_kept_and_only_what_is_missing_is_done(data, tmp_path, monkeypatch):
    done = executed(monkeypatch)
    runs = two_runs(data)
    first = run_all(runs, tmp_path / "new" / "folder", num_workers=1)
    assert done == runs
    again = run_all(runs, tmp_path / "new" / "folder", num_workers=1)
    assert done == runs
    assert again == first
    ResultFolder(path=tmp_path / "new" / "folder").place_of(runs[1], ".json").unlink()
    third = run_all(runs, tmp_path / "new" / "folder", num_workers=1)
    assert done == [*runs, runs[1]]
    assert [result.errors for result in third] == [result.errors for result in first]


def test_a_changed_setting_is_another_run_and_an_equal_one_is_done_once(data, tmp_path, monkeypatch):
    done = executed(monkeypatch)
    run = small_run(data)
    other = replace(run, settings={"num_input_modes": 20})
    outcomes = run_all([run, replace(run, training=TrainingConfig(num_epochs=9)), other], tmp_path, num_workers=1)
    assert done == [run, other]
    assert outcomes[0].errors == outcomes[1].errors
    assert len(list(tmp_path.glob("*.json"))) == 2


def test_each_result_is_on_disk_before_the_next_run_starts(data, tmp_path):
    seen = []
    run_all(
        two_runs(data),
        tmp_path,
        num_workers=1,
        on_progress=lambda status: seen.append((status.num_done, len(list(tmp_path.glob("*.json"))))),
    )
    assert seen == [(0, 0), (1, 1), (2, 2)]


def test_a_failing_run_does_not_stop_the_others_and_is_tried_again(data, tmp_path, monkeypatch):
    runs = [small_run(data, "gola", seed=seed) for seed in range(2)]
    fit = type(runs[0]).fit

    def failing(run, samples, **options):
        if run.seed == 0:
            raise RuntimeError("out of luck")
        return fit(run, samples, **options)

    with monkeypatch.context() as patch:
        patch.setattr(type(runs[0]), "fit", failing)
        failure, result = run_all(runs, tmp_path, num_workers=1)
    assert failure.message == "RuntimeError: out of luck"
    assert result.error > 0
    (record,) = tmp_path.glob("*.failed.json")
    assert json.loads(record.read_text())["message"] == failure.message
    statuses = []
    outcomes = run_all(runs, tmp_path, num_workers=1, on_progress=statuses.append)
    assert (statuses[0].num_found, statuses[-1].num_done, statuses[-1].num_failed) == (1, 2, 0)
    assert not any(isinstance(outcome, RunFailure) for outcome in outcomes)
    assert not list(tmp_path.glob("*.failed.json"))


def test_results_of_other_code_do_not_mix_in_unless_asked(data, tmp_path, monkeypatch):
    runs = two_runs(data)
    before = run_all(runs, tmp_path, num_workers=1)
    for module in ("storage", "planning", "execution", "running"):
        monkeypatch.setattr(f"gola.runs.{module}.code_version", lambda _: "changed")
    done = executed(monkeypatch)
    assert run_all(runs, tmp_path, num_workers=1, keep=True) == before
    assert not done
    statuses = []
    after = run_all(runs, tmp_path, num_workers=1, on_progress=statuses.append)
    assert statuses[0].num_outdated == 2
    assert {result.code_version for result in after} == {"changed"}
    assert len(list(tmp_path.glob("*.json"))) == 4
    assert run_all(runs, tmp_path, num_workers=1, keep=True) == after


def test_an_interrupted_training_resumes_from_its_checkpoint(data, tmp_path, monkeypatch):
    monkeypatch.setattr("gola.fitting.training.checkpoint.Checkpoints.due", property(lambda _: True))
    run = small_run(data, "gola", training=TrainingConfig(num_epochs=3, batch_size=2))
    steps = []

    def stop_after_five_steps(_, progress):
        steps.append(progress.step)
        if len(steps) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_all([run], tmp_path / "a", on_step=stop_after_five_steps)
    (result,) = run_all([run], tmp_path / "a", on_step=stop_after_five_steps)
    assert steps == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert [path.suffix for path in (tmp_path / "a").iterdir()] == [".json"]
    (whole,) = run_all([run], tmp_path / "b")
    assert result.errors == whole.errors


def test_processes_give_the_numbers_of_this_one_on_one_thread_each(data, tmp_path):
    runs = [small_run(data), small_run(data, "gcn", settings={"width": 8})]
    here = run_all(runs, tmp_path / "here", num_workers=1)
    there = run_all(runs, tmp_path / "there", num_workers=2)
    assert [result.errors for result in there] == [result.errors for result in here]
    assert {result.num_threads for result in there} == {1}


def test_an_error_between_two_runs_ends_the_processes_at_once(data, tmp_path):
    endless = small_run(data, "gcn", settings={"width": 8}, training=TrainingConfig(num_epochs=10**6))

    def stop_after_the_first_run(status):
        if status.last is not None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        run_all([endless, small_run(data)], tmp_path, num_workers=2, on_progress=stop_after_the_first_run)
    assert caught.traceback  # still holds on to everything that was going on
    assert not multiprocessing.active_children()
    assert len(list(tmp_path.glob("*.json"))) == 1


def test_a_dask_cluster_gives_the_same_numbers(data, tmp_path):
    threads = torch.get_num_threads()
    # Relative paths and several threads in one process are what a user's cluster may well have.
    runs = [small_run(os.path.relpath(data), operator) for operator in ("nearest", "gola")]
    with LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster:
        there = run_all(runs, tmp_path / "there", scheduler=cluster.scheduler_address)
    torch.set_num_threads(threads)
    here = run_all(runs, tmp_path / "here", num_workers=1)
    assert [result.errors for result in there] == [result.errors for result in here]
    assert [result.run for result in there] == runs


@pytest.mark.parametrize("home", [__name__, "__main__"])
def test_an_operator_that_the_program_has_registered_takes_part_in_every_process(home, data, tmp_path, monkeypatch):
    monkeypatch.setattr(RegisteredHere, "__module__", home)  # no worker can import what lies in the main program
    monkeypatch.setattr(sys.modules[home], "RegisteredHere", RegisteredHere, raising=False)
    threads = torch.get_num_threads()
    gola.register_operator("registered", RegisteredHere)
    try:
        results = run_all([small_run(data, "registered", seed=seed) for seed in (0, 1)], tmp_path / "a", num_workers=2)
    finally:
        OPERATORS.remove("registered")
    means = run_all([small_run(data, "mean", seed=seed) for seed in (0, 1)], tmp_path / "b", num_workers=1)
    assert [result.errors for result in results] == [result.errors for result in means]
    assert torch.get_num_threads() == threads


def test_a_worker_with_other_code_or_data_refuses_at_once(data):
    run = small_run(data)
    code, fingerprint = running_module.code_version(run.operator), running_module.fingerprint_of(data)
    assert "another code version" in running_module.in_worker(run, None, "older", fingerprint, {}).message
    assert "other data" in running_module.in_worker(run, None, code, "another", {}).message
    missing = replace(run, data="nowhere.h5")
    assert "is not a file" in running_module.in_worker(missing, None, code, fingerprint, {}).message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"operator": "nearst"}, "no operator 'nearst'; did you mean 'nearest'"),
        ({"num_train": 13}, "Cannot take 13 training samples from .*, which has 12"),
        ({"num_train": 12}, "take fewer of them for training"),
        ({"num_test": 7}, "6 training and 7 test samples from 12"),
        ({"num_points": 300}, "Cannot draw 300 points from every sample of .*: the smallest has 256"),
        ({"test_points": (9999,)}, "Cannot draw 9999 points"),
        ({"settings": {"widht": 3}}, "no setting of the nearest sample 'widht'"),
        ({"operator": "gola", "settings": {"width": "wide"}}, "width must be like its default, .*; got 'wide'"),
        ({"operator": "gola", "settings": {"width": 2.5}}, "width must be like its default"),
        ({"num_train": 1}, "needs at least 2 training samples; it would get 1"),
        ({"num_folds": 6, "fold": 0, "num_train": 2}, "2 training samples into 6 folds"),
    ],
)
def test_a_run_that_cannot_work_stops_all_before_the_first_starts(data, tmp_path, monkeypatch, changes, message):
    done = executed(monkeypatch)
    with pytest.raises(ValueError, match=message):
        run_all([small_run(data), replace(small_run(data), **changes)], tmp_path / "new")
    assert not done
    assert not (tmp_path / "new").exists()


def test_a_scheduler_that_does_not_answer_is_reported(data, tmp_path, monkeypatch):
    monkeypatch.setattr("gola.executors._CONNECT_SECONDS", 1)
    with pytest.raises(ValueError, match="No Dask scheduler answers"):
        run_all([small_run(data)], tmp_path, scheduler="tcp://127.0.0.1:1")
