import multiprocessing
import os
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
        for _ in completed(workers, time.sleep, {number: (60.0 * number,) for number in range(3)}):
            raise KeyboardInterrupt


def test_an_interruption_ends_the_processes_at_once():
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted_after_the_first_of_three_jobs()
    assert time.monotonic() - start < 30
    assert not multiprocessing.active_children()


def test_a_worker_that_is_killed_is_reported_with_what_to_do():
    with pytest.raises(ChildProcessError, match="fewer workers"), workers_for(2, num_workers=2) as workers:
        list(completed(workers, os._exit, {0: (1,), 1: (1,)}))
