import json

import pytest

from gola.surrogate.fit import fit
from tests.cli.runs import failure, success
from tests.surrogate.test_parameters import plates
from tests.surrogate.uncertainty.test_bands import waves


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suggest")
    fit(plates(12), "pod_gp", progress=False).save(folder / "plates.gola")
    fit(waves(10, num_points=40), "nearest", progress=False).save(folder / "waves.gola")
    waves(6, seed=3, num_points=40).save(folder / "candidates.h5")
    return folder


def test_candidates_are_listed_with_the_error_to_expect_then(files):
    command = ["suggest", files / "waves.gola", files / "candidates.h5", "--num", 2, "--out", files / "next.csv"]
    printed = success(*command)
    assert "error then" in printed
    assert "Errors by distances between inputs." in printed
    found = json.loads(success(*command, "--json"))
    assert len({one["candidate"] for one in found["chosen"]}) == 2
    assert len((files / "next.csv").read_text().splitlines()) == 3


def test_costs_of_all_candidates_count(files):
    (files / "costs.txt").write_text("1\n1\n1\n1000\n1000\n1000\n")
    command = ["suggest", files / "waves.gola", files / "candidates.h5", "--num", 2, "--costs", files / "costs.txt"]
    found = json.loads(success(*command, "--json"))
    assert all(one["candidate"] < 3 for one in found["chosen"])
    (files / "costs.txt").write_text("1\nx")
    assert "must hold a number on each line" in failure(*command)


def test_parameters_are_drawn_without_candidates(files):
    printed = success("suggest", files / "plates.gola", "--num", 1)
    assert "parameters" in printed
    assert "like speed=1:5; got 'x'" in failure("suggest", files / "plates.gola", "--range", "x")
    assert "Candidates are needed" in failure("suggest", files / "waves.gola")
