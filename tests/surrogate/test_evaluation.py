import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.surrogate.evaluation import evaluate
from gola.surrogate.fit import fit
from tests.fits import small_data, small_surrogate
from tests.surrogate.uncertainty.test_bands import KERNEL, waves


@pytest.fixture(scope="module")
def data():
    return small_data()


@pytest.fixture(scope="module")
def surrogate(data):
    return small_surrogate("gola", data)


def test_errors_are_relative_to_the_size_of_the_solution(surrogate, data):
    evaluation = evaluate(surrogate, data)
    sample = data[3]
    predictions = surrogate.predict(sample.points, sample.inputs)
    expected = np.linalg.norm(predictions - sample.targets) / np.linalg.norm(sample.targets)
    assert evaluation.errors[3] == pytest.approx(expected, rel=1e-6)
    assert evaluation.mean == pytest.approx(np.mean(evaluation.errors))
    assert evaluation.channel_errors[:, 0] == pytest.approx(evaluation.errors, rel=1e-6)


@pytest.mark.parametrize("together", [1, 130, 10_000])
def test_errors_do_not_depend_on_how_many_samples_are_predicted_together(surrogate, data, together, monkeypatch):
    expected = evaluate(surrogate, data).errors
    monkeypatch.setattr("gola.surrogate.evaluation._TOGETHER", together)
    finished = []
    found = evaluate(surrogate, data, on_progress=finished.append)
    assert found.errors == pytest.approx(expected, rel=1e-5)
    assert finished[-1] == len(data)


def test_fewer_points_can_be_drawn(surrogate, data):
    drawn = evaluate(surrogate, data, num_points=30, seed=4)
    assert drawn.errors == pytest.approx(evaluate(surrogate, data.subsample(30, seed=4)).errors)
    assert drawn.errors != pytest.approx(evaluate(surrogate, data).errors)


def test_channels_of_different_units_count_alike(data):
    def with_second_target(scale):
        targets = [np.hstack([sample.targets, scale * sample.inputs]) for sample in data]
        return Dataset.from_arrays(
            [sample.points for sample in data], [sample.inputs for sample in data], targets, target_channels=["u", "v"]
        )

    # The same numbers in other units: errors must not change by it.
    errors = [
        evaluate(small_surrogate("gola", with_second_target(scale), num_epochs=2), with_second_target(scale))
        for scale in (1.0, 1e6)
    ]
    assert errors[1].mean == pytest.approx(errors[0].mean, rel=1e-3)
    assert errors[0].channel_errors.shape == (len(data), 2)


def test_a_plain_summary_is_ready_for_json(surrogate, data):
    summary = evaluate(surrogate, data).to_dict()
    assert summary["num_samples"] == len(data)
    assert summary["mean"] <= summary["max"]
    assert len(summary["channels"]) == 1


def test_other_channels_are_refused(surrogate, data):
    points, values = [sample.points for sample in data], [sample.inputs for sample in data]
    targets = [sample.targets for sample in data]
    other = Dataset.from_arrays(points, values, targets, input_channels=["slowness"], target_channels=["travel_time"])
    with pytest.raises(ValueError, match="input channels slowness; the surrogate reads speed"):
        evaluate(surrogate, other)
    other = Dataset.from_arrays(points, values, input_channels=["speed"])
    with pytest.raises(ValueError, match="target channels none; the surrogate predicts travel_time"):
        evaluate(surrogate, other)


def test_the_errors_to_expect_are_those_of_single_predictions():
    surrogate, test = fit(waves(12), KERNEL, progress=False), waves(4, seed=2)
    evaluation = evaluate(surrogate, test)
    singly = [surrogate.predict_sample(sample, interval=0.9).error for sample in test]
    assert [one.value for one in evaluation.estimates] == pytest.approx([one.value for one in singly], rel=1e-6)
    assert [one.upper for one in evaluation.estimates] == pytest.approx([one.upper for one in singly], rel=1e-6)
    pairs = zip(evaluation.estimates, evaluation.errors, strict=True)
    assert evaluation.num_within == sum(one.lower <= error <= one.upper for one, error in pairs)
    assert evaluation.to_dict()["estimated"]["level"] == evaluation.level == 0.9


def test_without_held_out_predictions_there_is_nothing_to_expect(surrogate, data):
    evaluation = evaluate(surrogate, data)
    assert evaluation.estimates == ()
    assert "estimated" not in evaluation.to_dict()
