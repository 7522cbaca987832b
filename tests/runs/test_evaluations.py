import json

import pytest

from gola.runs.evaluations import as_record, evaluate_at
from gola.surrogate.evaluation import evaluate
from tests.fits import small_data, small_surrogate


@pytest.fixture(scope="module")
def samples():
    return small_data(num_samples=4)


@pytest.fixture(scope="module")
def surrogate(samples):
    return small_surrogate("mean", samples)


def test_every_number_of_points_is_evaluated_by_itself(surrogate, samples):
    seen = []
    found = evaluate_at(surrogate, samples, [20, None], seed=3, on_progress=lambda *where: seen.append(where))
    assert found[20].errors.tolist() == evaluate(surrogate, samples, num_points=20, seed=3).errors.tolist()
    assert found[None].errors.tolist() == evaluate(surrogate, samples).errors.tolist()
    # Samples that are predicted together are reported together.
    assert [where for where in seen if where[1] == len(samples)] == [(20, 4), (None, 4)]


def test_a_record_is_ready_for_json_and_has_the_metrics(surrogate, samples):
    found = evaluate_at(surrogate, samples, [20], metrics=["r2"], seed=3)
    record = json.loads(json.dumps(as_record(found, data="data.h5", seed=3)))
    (row,) = record["evaluations"]
    assert (record["data"], record["seed"], row["num_points"], row["num_samples"]) == ("data.h5", 3, 20, 4)
    assert row["metrics"]["r2"]["mean"] == pytest.approx(found[20].metrics["r2"].mean())


def test_more_points_than_there_are_cannot_be_drawn(surrogate, samples):
    with pytest.raises(ValueError, match="Cannot draw 61 points from every sample: the smallest has 60"):
        evaluate_at(surrogate, samples, [10, 61], seed=0)
