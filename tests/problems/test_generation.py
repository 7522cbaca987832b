import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.files import writing_alone
from gola.problems import generation, make_problem
from gola.problems.generation import generate
from gola.registry import PROBLEMS

SMALL = {"resolution": 16}


def assert_same(first: Dataset, second: Dataset):
    assert first.fingerprint() == second.fingerprint()


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """A hundred and fifty samples, six chunks, made in this process."""
    path = tmp_path_factory.mktemp("reference") / "darcy.h5"
    return generate(make_problem("darcy", **SMALL), path, num_samples=150, num_workers=1)


def test_the_number_of_workers_does_not_change_a_bit(reference, tmp_path, monkeypatch):
    monkeypatch.setattr(generation, "_WORTH_WORKERS_SECONDS", 0.0)
    assert_same(reference, generate(make_problem("darcy", **SMALL), tmp_path / "d.h5", num_samples=150, num_workers=2))


def test_a_small_job_starts_no_workers(reference, tmp_path, monkeypatch):
    monkeypatch.setattr("gola.executors.Processes", pytest.fail)
    assert_same(reference, generate(make_problem("darcy", **SMALL), tmp_path / "d.h5", num_samples=150, num_workers=2))


MY_PROBLEM = """
from dataclasses import dataclass
import gola
from gola.problems import generation
from gola.problems.advection import Advection

print("imported")

@dataclass(frozen=True, kw_only=True)
class Mine(Advection):
    def generate(self, seed, indices):
        print("solved here")
        return super().generate(seed, indices)
"""
GENERATE = """
generation._WORTH_WORKERS_SECONDS = 0.0
print(len(gola.generate(Mine(resolution=16), "mine.h5", num_samples=75, num_workers=2)))
"""


def run_script(folder, code):
    (folder / "script.py").write_text(code)
    return subprocess.run([sys.executable, "script.py"], cwd=folder, check=True, capture_output=True, text=True).stdout


def test_a_problem_of_the_main_program_is_solved_by_it(tmp_path):
    said = run_script(tmp_path, MY_PROBLEM + GENERATE)
    assert said.splitlines() == ["imported", *["solved here"] * 3, "75"]


def test_a_problem_of_a_module_is_solved_by_workers_but_for_the_first_chunk(tmp_path):
    (tmp_path / "mine.py").write_text(MY_PROBLEM)
    said = run_script(tmp_path, "from mine import *\n" + GENERATE)
    assert said.splitlines() == ["imported", "solved here", "75"]


def test_a_module_that_generates_when_it_is_imported_works_too(tmp_path):
    (tmp_path / "mine.py").write_text(MY_PROBLEM + GENERATE)
    assert run_script(tmp_path, "import mine").splitlines()[-1] == "75"


def test_two_processes_do_not_write_one_file(tmp_path):
    path = tmp_path / "a.h5"
    problem = make_problem("advection", **SMALL)
    with writing_alone(path), pytest.raises(ValueError, match=r"Another process is writing .*a\.h5"):
        generate(problem, path, num_samples=5)
    assert len(generate(problem, path, num_samples=5)) == 5


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_problem_generates_a_data_set_that_says_how_it_was_made(name, tmp_path):
    dataset = generate(PROBLEMS[name](), tmp_path / "data.h5", num_samples=2, seed=3, num_workers=1)
    assert len(dataset) == 2
    assert dataset.provenance["problem"] == name
    assert dataset.provenance["seed"] == 3
    assert all(np.isfinite(sample.targets).all() for sample in dataset)
    first, second = (np.concatenate([sample.parameters, sample.inputs.ravel()]) for sample in dataset)
    assert not np.array_equal(first, second)
    assert dataset.parameters == PROBLEMS[name].parameters
    assert dataset.periods == PROBLEMS[name].periods


def test_an_interruption_keeps_finished_chunks_and_the_next_call_makes_only_the_others(reference, tmp_path):
    problem = make_problem("darcy", **SMALL)

    def stop_after_the_first_chunk(num_done):
        if num_done == 25:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate(problem, tmp_path / "d.h5", num_samples=150, num_workers=1, on_progress=stop_after_the_first_chunk)
    assert not (tmp_path / "d.h5").exists()
    seen = []
    dataset = generate(problem, tmp_path / "d.h5", num_samples=150, num_workers=1, on_progress=seen.append)
    assert seen == [25, 50, 75, 100, 125, 150]
    assert_same(reference, dataset)
    assert [path.name for path in tmp_path.iterdir()] == ["d.h5"]


def test_a_finished_file_is_left_alone_and_another_is_not_overwritten_unasked(tmp_path):
    problem = make_problem("advection", **SMALL)
    path = tmp_path / "a.h5"
    generate(problem, path, num_samples=5, num_workers=1)
    written = path.stat().st_mtime_ns
    generate(problem, path, num_samples=5, num_workers=1)
    assert path.stat().st_mtime_ns == written
    with pytest.raises(ValueError, match="exists and holds other data"):
        generate(problem, path, num_samples=6, num_workers=1)
    assert path.stat().st_mtime_ns == written
    assert len(generate(problem, path, num_samples=6, num_workers=1, overwrite=True)) == 6


def test_parts_of_other_settings_are_not_mixed_in(tmp_path):
    problem = make_problem("advection", **SMALL)

    def stop(num_done):
        if num_done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate(problem, tmp_path / "a.h5", num_samples=50, num_workers=1, on_progress=stop)
    with pytest.raises(ValueError, match="seed was 0 and is now 1"):
        generate(problem, tmp_path / "a.h5", num_samples=50, seed=1, num_workers=1)


def test_an_unknown_problem_or_setting_comes_with_the_nearest_name():
    with pytest.raises(ValueError, match="no problem 'darci'; did you mean 'darcy'"):
        make_problem("darci")
    with pytest.raises(ValueError, match="no setting of eikonal 'length_scal'; did you mean 'length_scale'"):
        make_problem("eikonal", length_scal=0.2)
    with pytest.raises(ValueError, match="resolution must be like its default, 128; got 'many'"):
        make_problem("darcy", resolution="many")


def test_a_scheduler_that_does_not_answer_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr("gola.executors._CONNECT_SECONDS", 1)
    with pytest.raises(ValueError, match=r"No Dask scheduler answers at tcp://127\.0\.0\.1:1"):
        generate(make_problem("darcy"), tmp_path / "d.h5", num_samples=2, scheduler="tcp://127.0.0.1:1")


@pytest.fixture
def dask_cluster(tmp_path):
    """A scheduler and two single-threaded worker processes, started as a user would, talking over TCP."""
    address_file = tmp_path / "scheduler.json"
    environment = os.environ | {"OMP_NUM_THREADS": "1"}

    def start(*words):
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *words, "--scheduler-file", str(address_file)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=tmp_path,
        )

    processes = [start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")]
    workers = ["worker", "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    try:
        wait_for(address_file.exists)
        processes += [start(*workers) for _ in range(2)]
        yield scheduler_address(address_file), processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def scheduler_address(file: Path) -> str:
    return json.loads(file.read_text())["address"]


def wait_for(condition, seconds=1800):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the Dask cluster did not start"
        time.sleep(0.05)


def num_workers(address: str) -> int:
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        return len(client.scheduler_info(n_workers=-1)["workers"])


def test_killing_a_dask_worker_midway_loses_no_sample(reference, dask_cluster, tmp_path):
    address, workers = dask_cluster
    assert address.startswith("tcp://")
    wait_for(lambda: num_workers(address) == 2)
    killed = []

    def kill_one_worker_after_the_first_chunk(num_done):
        if num_done and not killed:
            os.kill(workers[0].pid, signal.SIGKILL)
            killed.append(num_done)

    problem = make_problem("darcy", **SMALL)
    dataset = generate(
        problem,
        tmp_path / "d.h5",
        num_samples=150,
        scheduler=address,
        on_progress=kill_one_worker_after_the_first_chunk,
    )
    assert killed[0] < 150
    assert workers[0].wait() == -signal.SIGKILL
    assert_same(reference, dataset)
