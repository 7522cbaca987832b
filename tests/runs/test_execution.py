import json

import pytest

from gola.data.dataset import Dataset
from gola.runs import RunResult, code_version, execute
from gola.runs.execution import attempt
from gola.surrogate.evaluation import evaluate
from tests.runs.examples import small_run


def test_a_run_fits_to_training_samples_and_is_evaluated_on_the_others(data):
    run = small_run(data, test_points=(30,))
    result = execute(run)
    train, test = run.samples()
    surrogate = run.fit(train)
    assert result.errors == pytest.approx(evaluate(surrogate, test).errors.tolist())
    whole = run.whole_samples()[1].subsample(30, seed=run.seed + 1)
    assert result.error_at(30) == pytest.approx(evaluate(surrogate, whole).mean)
    assert result.scores == surrogate.scores
    assert result.num_parameters == surrogate.operator.num_parameters
    assert 0 < result.fit_seconds < result.seconds
    assert 0 < result.predict_seconds < result.seconds
    assert result.code_version == code_version(run.operator)
    assert result.data == Dataset.load(data).fingerprint()


def test_a_result_survives_json(data):
    result = execute(small_run(data, test_points=(30,)))
    again = RunResult.from_dict(json.loads(json.dumps(result.to_dict())))
    assert again == result
    assert again.identity == small_run(data, test_points=(30,)).identity(result.data)


def test_the_result_of_an_automatic_choice_says_why(data):
    result = execute(small_run(data, "auto", settings={"members": ("kernel",)}))
    assert result.why.startswith("Errors on held-out training samples: kernel ")
    assert execute(small_run(data)).why == ""


def test_the_same_run_gives_the_same_numbers(data):
    first, second = (execute(small_run(data, "gola")) for _ in range(2))
    assert first.errors == second.errors


def test_a_run_without_test_samples_cannot_be_evaluated(data):
    failure = attempt(small_run(data, num_train=12))
    assert "none is left for testing" in failure.message
    assert "samples_by_points" in failure.details


def test_predictions_that_are_not_finite_are_a_failure(data, monkeypatch):
    monkeypatch.setattr(
        "gola.surrogate.surrogate.Surrogate.predict", lambda _, data: [one.points[:, :1] * float("nan") for one in data]
    )
    assert "are not finite" in attempt(small_run(data)).message
