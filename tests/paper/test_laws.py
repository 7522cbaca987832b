import pytest
import torch

from benchmarks.runs import Runs
from paper.laws import __main__ as laws


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A table of results with two grids of one law."""
    runs = Runs(path=tmp_path / "laws.csv", columns=laws.RUNS.columns, keys=laws.RUNS.keys)
    monkeypatch.setattr(laws, "RUNS", runs)
    runs.append("length 0.2", "mean", 30, 128, 0, "0.424", "0")
    runs.append("length 0.2", "mean", 30, 32, 0, "0.9", "0")


@pytest.mark.parametrize("law", laws.LAWS)
def test_every_law_is_of_a_problem_with_published_errors(law):
    assert laws.PUBLISHED[laws.LAWS[law].problem]["FNO"]


@pytest.mark.usefixtures("written")
def test_the_table_shows_the_finest_grid_beside_what_is_published():
    lines = [line for line in laws.table() if line.startswith("| length 0.2")]
    # Twice the paper's 0.212.
    assert [line.split(" | ")[-2:] for line in lines] == [["0.424", "2.00 |"]]


def test_the_mean_of_the_training_solutions_is_exact_for_equal_solutions():
    fields = torch.ones(4, 3, 3)
    assert laws.error_of(laws.MEAN, (fields, fields), (fields, fields), problem="eikonal", seed=0) == 0.0


def test_samples_are_drawn_by_the_law():
    (inputs, _), (_, targets) = laws.samples("10 bumps", 8)
    assert inputs.shape == (laws.NUM_TRAIN, 8, 8)
    assert targets.shape == (laws.NUM_TEST, 8, 8)
