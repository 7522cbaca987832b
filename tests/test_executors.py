import json
import multiprocessing
import os
import subprocess
import sys
import time

import pytest

from gola.executors import completed, workers_for


def test_few_jobs_or_one_worker_stay_in_this_process():
    for num_jobs, num_workers in ((1, 8), (5, 1)):
        with workers_for(num_jobs, num_workers=num_workers) as workers:
            assert workers is None
            assert dict(completed(workers, divmod, {"a": (7, 2)})) == {"a": (3, 1)}


def test_results_come_with_their_keys_from_other_processes():
    with workers_for(3, num_workers=2) as workers:
        results = dict(completed(workers, pow, {number: (number, 2) for number in range(3)}))
        pids = dict(completed(workers, os.getpid, {0: ()}))
    assert results == {0: 0, 1: 1, 2: 4}
    assert pids[0] != os.getpid()


def interrupted_after_the_first_of_three_jobs():
    with workers_for(3, num_workers=2) as workers:
        for _ in completed(workers, time.sleep, {number: (3600.0 * number,) for number in range(3)}):
            raise KeyboardInterrupt


def test_an_interruption_ends_the_processes_at_once():
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted_after_the_first_of_three_jobs()
    assert time.monotonic() - start < 1800
    assert not multiprocessing.active_children()


def test_a_worker_that_is_killed_is_reported_with_what_to_do():
    with pytest.raises(ChildProcessError, match="fewer workers"), workers_for(2, num_workers=2) as workers:
        list(completed(workers, os._exit, {0: (1,), 1: (1,)}))


def test_every_process_computes_on_one_thread_and_this_one_on_as_many_as_before():
    # In a process of its own: the server that all processes are forked from reads the environment only once.
    code = """
import json, os
from threadpoolctl import threadpool_info
from gola.executors import completed, workers_for
before = dict(os.environ), threadpool_info()
with workers_for(2, num_workers=2, preload=["numpy", "scipy.linalg"]) as workers:
    found = dict(completed(workers, threadpool_info, {0: (), 1: ()}))
assert (dict(os.environ), threadpool_info()) == before
print(json.dumps([pool["num_threads"] for pools in found.values() for pool in pools]))
"""
    free = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=free)
    numbers = json.loads(done.stdout)
    assert len(numbers) >= 2
    assert set(numbers) == {1}


def test_a_scheduler_without_dask_is_told_which_extra_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(ValueError, match=r"needs distributed, .* `pip install 'gola\[cluster\]'`"),
        workers_for(2, scheduler="tcp://localhost:8786"),
    ):
        pass
