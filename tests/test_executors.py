import multiprocessing
import os
import time

import pytest

from gola.executors import completed, executor_for


def test_few_jobs_or_one_worker_stay_in_this_process():
    for num_jobs, num_workers in ((1, 8), (5, 1)):
        with executor_for(num_jobs, num_workers=num_workers) as executor:
            assert executor is None
            assert dict(completed(executor, divmod, {"a": (7, 2)})) == {"a": (3, 1)}


def test_results_come_with_their_keys_from_other_processes():
    with executor_for(3, num_workers=2) as executor:
        results = dict(completed(executor, pow, {number: (number, 2) for number in range(3)}))
        pids = dict(completed(executor, os.getpid, {0: ()}))
    assert results == {0: 0, 1: 1, 2: 4}
    assert pids[0] != os.getpid()


def test_an_interruption_ends_the_processes_at_once():
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt), executor_for(3, num_workers=2) as executor:
        for _ in completed(executor, time.sleep, {number: (60.0 * number,) for number in range(3)}):
            raise KeyboardInterrupt
    assert time.monotonic() - start < 30
    assert not multiprocessing.active_children()


def test_a_worker_that_is_killed_is_reported_with_what_to_do():
    with pytest.raises(ChildProcessError, match="fewer workers"), executor_for(2, num_workers=2) as executor:
        list(completed(executor, os._exit, {0: (1,), 1: (1,)}))
