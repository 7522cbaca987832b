from dataclasses import replace

import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.runs import Candidate, RunConfig, RunFailure, Sweep, advice, run_all
from tests.runs.examples import made_failure, made_result, small_file, small_run

GRID = {"settings": {"width": [8, 16], "num_modes": [4, 8]}, "training": {"learning_rate": [1e-3, 3e-3]}}


def base(operator="gola"):
    return RunConfig(data="data.h5", operator=operator, num_train=6)


def candidate(errors, fit_seconds=1.0, **settings):
    return Candidate(settings=settings, training={}, errors=dict(enumerate(errors)), fit_seconds=fit_seconds)


def test_a_grid_has_every_combination_in_every_fold():
    runs = Sweep(base=base(), num_folds=3, **GRID).runs()
    seen = {(tuple(run.settings.items()), run.training.learning_rate, run.fold) for run in runs}
    assert len(runs) == len(seen) == 2 * 2 * 2 * 3
    assert {run.num_folds for run in runs} == {3}


def test_folds_of_a_combination_come_together_and_the_lowest_error_comes_first():
    sweep = Sweep(base=base(), settings={"width": [8, 16]}, num_folds=2)
    errors = {8: [0.4, 0.2], 16: [0.1, 0.3]}
    outcomes = [made_result(run=run, error=errors[run.settings["width"]][run.fold]) for run in sweep.runs()]
    first, second = sweep.candidates(outcomes)
    assert (first.settings, first.mean) == ({"width": 16}, pytest.approx(0.2))
    assert (second.settings, second.mean) == ({"width": 8}, pytest.approx(0.3))
    assert second.spread == pytest.approx(0.1 * 2**0.5)


def test_a_combination_with_a_failed_fold_comes_last():
    sweep = Sweep(base=base(), settings={"width": [8, 16]}, num_folds=2)
    outcomes = [made_failure() if (run.settings["width"], run.fold) == (8, 1) else made_result(run=run, error=0.9)
                for run in sweep.runs()]  # fmt: skip
    assert [one.settings["width"] for one in sweep.candidates(outcomes)] == [16, 8]
    assert sweep.candidates(outcomes)[1].failures == {1: "it broke"}


def test_advice_says_which_differences_count():
    best = candidate([0.10, 0.12, 0.11], fit_seconds=9.0, width=64)
    close = candidate([0.11, 0.11, 0.12], width=32)
    far = candidate([0.2, 0.22, 0.21], width=8)
    assert advice([best, far]) == "It has a lower error than the other one in every fold."
    assert advice([best, close, far]).startswith("The 3 folds cannot distinguish 1 of the 2 others from it")
    assert "width=32 is the fastest to fit" in advice([best, close, far])


def test_what_cannot_matter_or_is_not_a_value_is_refused():
    with pytest.raises(
        ValueError, match="linear ignores training settings, so there is nothing to choose for learning_rate"
    ):
        Sweep(base=base("linear"), training={"learning_rate": [1e-3]})
    with pytest.raises(ValueError, match=r"learning_rate must be like its default, 0\.001; got 'high'"):
        Sweep(base=base(), training={"learning_rate": ["high"]})
    with pytest.raises(ValueError, match="no setting of training 'learning_rat'; did you mean 'learning_rate'"):
        Sweep(base=base(), training={"learning_rat": [1e-3]}).runs()


def test_test_samples_are_never_used(tmp_path):
    path = small_file(tmp_path)
    other = tmp_path / "other.h5"
    with_other_values(Dataset.load(path), np.random.default_rng(0).permutation(12)[6:]).save(other)

    def errors(runs):
        return [result.errors for result in succeeded(run_all(runs, tmp_path / "out", num_workers=1))]

    def swept(file):
        return errors(Sweep(base=small_run(file), settings={"num_modes": [20, 40]}, num_folds=2).runs())

    assert swept(other) == swept(path)
    # A run that is evaluated on those samples does see the difference.
    assert errors([small_run(other)]) != errors([small_run(path)])


def succeeded(outcomes):
    assert not [outcome.details for outcome in outcomes if isinstance(outcome, RunFailure)]
    return outcomes


def with_other_values(dataset, rows):
    """Replace inputs and targets of some samples."""
    samples = [
        replace(sample, inputs=sample.inputs[::-1], targets=sample.targets[::-1]) if row in rows else sample
        for row, sample in enumerate(dataset)
    ]
    return Dataset.from_samples(samples, inputs=dataset.inputs, targets=dataset.targets)
