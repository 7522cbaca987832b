import json
import os
import signal
import subprocess
import sys
import time
import types
import warnings

import psutil
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


def test_warnings_of_workers_come_in_one_line(capfd):
    with workers_for(2, num_workers=2) as workers:
        list(
            completed(workers, warnings.warn, {number: (f"take care {number}", RuntimeWarning) for number in range(2)})
        )
    told = [line for line in capfd.readouterr().err.splitlines() if line.strip()]
    assert sorted(told) == ["Warning: take care 0", "Warning: take care 1"]


def children():
    return [child for child in psutil.Process().children() if "gola.worker" in child.cmdline()]


def interrupted_after_the_first_of_three_jobs():
    with workers_for(3, num_workers=2) as workers:
        assert len(children()) == 2
        for _ in completed(workers, time.sleep, {number: (3600.0 * number,) for number in range(3)}):
            raise KeyboardInterrupt


def test_an_interruption_ends_the_processes_at_once():
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted_after_the_first_of_three_jobs()
    assert time.monotonic() - start < 1800
    assert not children()


def test_jobs_that_nobody_waits_for_do_not_hold_up_the_end():
    start = time.monotonic()
    with workers_for(2, num_workers=2) as workers:
        assert next(completed(workers, time.sleep, {0: (0.0,), 1: (3600.0,)})) == (0, None)
    assert time.monotonic() - start < 1800
    assert not children()


def test_a_job_that_raises_gives_its_own_exception_and_says_where():
    with pytest.raises(ZeroDivisionError, match=r"modulo|division") as caught, workers_for(2, num_workers=2) as workers:
        list(completed(workers, divmod, {0: (1, 0), 1: (1, 0)}))
    assert "In a worker process:" in caught.value.__notes__[0]
    assert "gola/worker.py" in caught.value.__notes__[0]


class StubbornError(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def fail_stubbornly():
    raise StubbornError("this", "that")


def test_an_exception_that_cannot_be_copied_is_told_by_name():
    with pytest.raises(RuntimeError, match="StubbornError: this and that"), workers_for(2, num_workers=2) as workers:
        list(completed(workers, fail_stubbornly, {0: (), 1: ()}))


def fail_with_last_words(code):
    os.write(2, b"the licence server is gone\n")
    os._exit(code)


def test_a_worker_that_ends_is_reported_with_its_exit_code_and_what_it_printed(capfd):
    with (
        pytest.raises(ChildProcessError, match=r"exit code 3\..*(?s:.*)the licence server is gone") as caught,
        workers_for(2, num_workers=2) as workers,
    ):
        list(completed(workers, fail_with_last_words, {0: (3,), 1: (3,)}))
    assert "memory" not in str(caught.value)
    assert "the licence server is gone" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("number", "message"),
    [(signal.SIGSEGV, r"signal 11 \(SIGSEGV\)\. "), (signal.SIGKILL, r"signal 9 \(SIGKILL\): some")],
)
def test_a_worker_that_is_killed_is_reported_with_the_signal_and_what_to_do(number, message):
    with (
        pytest.raises(ChildProcessError, match=message + "(?s:.*)fewer workers"),
        workers_for(2, num_workers=2) as workers,
    ):
        list(completed(workers, kill_this_process, {0: (number,), 1: (number,)}))


def kill_this_process(number):
    os.kill(os.getpid(), number)
    time.sleep(3600)


def test_what_a_job_prints_or_reads_does_not_disturb_its_result(capsys):
    with workers_for(2, num_workers=2) as workers:
        results = dict(completed(workers, talkative, {0: (), 1: ()}))
    assert results == {0: "", 1: ""}
    assert capsys.readouterr().err.count("so far so good") == 2


def talkative():
    os.write(1, b"so far so good\n")
    return sys.stdin.read()


@pytest.mark.parametrize("what", ["a function without a name", "a module that is on no disk", "the main program"])
def test_a_job_that_no_other_process_can_import_is_done_here(what, monkeypatch):
    function = functions_of_this_process(monkeypatch)[what]
    with workers_for(2, num_workers=2) as workers:
        assert dict(completed(workers, function, {0: (), 1: ()})) == {0: os.getpid(), 1: os.getpid()}


def functions_of_this_process(monkeypatch):
    here = types.ModuleType("only_in_memory")
    exec("import os\ndef pid(): return os.getpid()", here.__dict__)
    monkeypatch.setitem(sys.modules, "only_in_memory", here)

    def main():  # a name that the program of the workers has too
        return os.getpid()

    main.__module__, main.__qualname__ = "__main__", "main"
    monkeypatch.setattr(sys.modules["__main__"], "main", main, raising=False)
    return {
        "a function without a name": lambda: os.getpid(),
        "a module that is on no disk": here.pid,
        "the main program": main,
    }


def workers_of_a_worker():
    with workers_for(8, num_workers=8) as workers:
        return workers


def test_workers_start_no_workers():
    with workers_for(2, num_workers=2) as workers:
        assert dict(completed(workers, workers_of_a_worker, {0: (), 1: ()})) == {0: None, 1: None}


def start(code, folder, **options):
    (folder / "script.py").write_text(code)
    return subprocess.Popen([sys.executable, "script.py"], cwd=folder, stdout=subprocess.PIPE, text=True, **options)


SLEEPER = """
import time
from gola.executors import completed, workers_for
with workers_for(2, num_workers=2) as workers:
    for key, _ in completed(workers, time.sleep, {number: (3600.0 * number,) for number in range(3)}):
        print("busy", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_busy_workers_end_when_the_program_is_killed(number, tmp_path):
    program = start(SLEEPER, tmp_path, stderr=subprocess.DEVNULL)
    assert program.stdout.readline() == "busy\n"
    workers = psutil.Process(program.pid).children()
    assert len(workers) == 2
    program.send_signal(number)
    program.communicate()
    _, alive = psutil.wait_procs(workers, timeout=1800)
    assert not alive


def test_workers_ignore_ctrl_c():
    with workers_for(2, num_workers=2) as workers:
        assert dict(completed(workers, signal.raise_signal, {0: (signal.SIGINT,), 1: (signal.SIGINT,)})) == {
            0: None,
            1: None,
        }


def test_ctrl_c_in_the_terminal_is_told_by_the_program_alone(tmp_path):
    program = start(SLEEPER, tmp_path, stderr=subprocess.PIPE, process_group=0)
    assert program.stdout.readline() == "busy\n"
    os.killpg(program.pid, signal.SIGINT)
    _, said = program.communicate()
    assert program.returncode == -signal.SIGINT
    assert said.count("Traceback") == said.count("KeyboardInterrupt") == 1


def test_a_script_needs_no_main_guard_and_is_not_run_again(tmp_path):
    code = """
import beside
from gola.executors import completed, workers_for
print("once")
with workers_for(2, num_workers=2) as workers:
    print(sorted(dict(completed(workers, beside.double, {1: (1,), 2: (2,)})).values()))
"""
    (tmp_path / "beside.py").write_text("def double(number):\n    return 2 * number\n")
    said, _ = start(code, tmp_path).communicate()
    assert said == "once\n[2, 4]\n"


def test_every_process_computes_on_one_thread_and_this_one_on_as_many_as_before(tmp_path):
    code = """
import json, os
from gola.executors import completed, workers_for
from beside import pools
before = dict(os.environ), pools()
with workers_for(2, num_workers=2) as workers:
    found = dict(completed(workers, pools, {0: (), 1: ()}))
assert (dict(os.environ), pools()) == before
print(json.dumps([pool["num_threads"] for pools in found.values() for pool in pools]))
"""
    (tmp_path / "beside.py").write_text(
        "import scipy.linalg, threadpoolctl\ndef pools():\n    return threadpoolctl.threadpool_info()\n"
    )
    free = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    said, _ = start(code, tmp_path, env=free).communicate()
    numbers = json.loads(said)
    assert len(numbers) >= 2
    assert set(numbers) == {1}


def test_a_scheduler_without_dask_is_told_which_extra_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(ValueError, match=r"needs distributed, .* `pip install 'gola\[cluster\]'`"),
        workers_for(2, scheduler="tcp://localhost:8786"),
    ):
        pass
