"""What every closed-form operator must do, besides what the battery asks of every operator."""

from dataclasses import replace

import pytest
import torch

from gola.operators import ClosedForm, ClosedFormConfig, Queries
from gola.registry import OPERATORS
from tests.operators.closed_form.examples import (
    UNIT_PERIODS,
    num_inputs_of,
    samples_of,
    small_operator,
    training_samples,
    without,
)

# What is made for one function on a line has tests of its own.
NAMES = [name for name, kind in OPERATORS.items() if issubclass(kind, ClosedForm) and kind.config_type.largest_dim > 1]
NUM_SAMPLES = 9


@pytest.fixture(params=NAMES, scope="module")
def fitted(request):
    """A fitted operator, its training samples, and other samples to predict."""
    # With symmetries the linear operator fits samples without noise so closely that rounding shows.
    plain = {"steps": without("symmetries", "diffusion")} if request.param == "linear" else {}
    operator = small_operator(request.param, num_inputs=num_inputs_of(request.param), **plain)
    training = training_samples(request.param, NUM_SAMPLES)
    operator.fit_cloud(*training, UNIT_PERIODS)
    return operator, training, training_samples(request.param, 3, seed=1)


def test_it_answers_in_the_precision_of_the_cloud(fitted):
    operator, _, (cloud, _) = fitted
    single = replace(cloud, points=cloud.points.float(), values=cloud.values.float())
    assert operator(single).dtype == torch.float32
    assert operator(cloud).dtype == torch.float64
    torch.testing.assert_close(operator(single), operator(cloud).float(), rtol=1e-3, atol=1e-3)


def test_held_out_predictions_equal_those_of_refits(fitted):
    operator, (cloud, targets), _ = fitted
    held_out = operator.leave_one_out().split(cloud.sizes)
    other = type(operator)(operator.config)
    other.load_state_dict(operator.state_dict())
    for row in range(NUM_SAMPLES):
        other.refit(*samples_of(cloud, targets, [sample for sample in range(NUM_SAMPLES) if sample != row]))
        alone, _ = samples_of(cloud, targets, [row])
        torch.testing.assert_close(held_out[row], other(alone), rtol=1e-8, atol=1e-8)


def test_it_predicts_on_one_thread_and_gives_the_others_back(fitted, monkeypatch):
    operator, _, (cloud, _) = fitted
    seen, coefficients = [], type(operator).coefficients

    def watched(self, cloud):
        seen.append(torch.get_num_threads())
        return coefficients(self, cloud)

    monkeypatch.setattr(type(operator), "coefficients", watched)
    torch.set_num_threads(2)
    operator(cloud)
    assert (set(seen), torch.get_num_threads()) == ({1} if seen else set(), 2)
    torch.set_num_threads(1)


def test_the_cv_error_is_that_of_the_held_out_predictions(fitted):
    operator, (cloud, targets), _ = fitted
    pairs = zip(operator.leave_one_out().split(cloud.sizes), targets.split(cloud.sizes), strict=True)
    errors = [(found - wanted).norm() / wanted.norm() for found, wanted in pairs]
    torch.testing.assert_close(operator.cv_error, torch.stack(errors).mean())


def test_the_representation_alone_leaves_less_than_the_whole_error(fitted):
    operator, _, _ = fitted
    assert 0.0 <= operator.representation_error < float(operator.cv_error) + 1e-9


def test_refitting_to_the_same_samples_changes_nothing(fitted):
    operator, training, (cloud, _) = fitted
    other = type(operator)(operator.config)
    other.load_state_dict(operator.state_dict())
    other.refit(*training)
    torch.testing.assert_close(other(cloud), operator(cloud), rtol=1e-9, atol=1e-9)


def test_held_out_predictions_can_be_had_elsewhere(fitted):
    operator, _, _ = fitted
    places = torch.rand(5, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert operator.leave_one_out(at=Queries.repeated(places, NUM_SAMPLES)).shape == (5 * NUM_SAMPLES, 1)
    with pytest.raises(ValueError, match=r"fitted to 9 samples and the queries are for 2; give queries for each"):
        operator.leave_one_out(at=Queries.repeated(places, 2))


def test_reordering_the_training_samples_changes_nothing(fitted):
    operator, (cloud, targets), (test, _) = fitted
    other = type(operator)(operator.config)
    other.load_state_dict(operator.state_dict())
    other.refit(*samples_of(cloud, targets, list(reversed(range(NUM_SAMPLES)))))
    torch.testing.assert_close(other(test), operator(test), rtol=1e-6, atol=1e-6)


def test_a_loaded_operator_asks_where_to_predict_what_was_held_out(fitted):
    operator, (cloud, _), _ = fitted
    other = type(operator)(operator.config)
    other.load_state_dict(operator.state_dict())
    assert other.cv_error == operator.cv_error
    at = Queries(points=cloud.points, offsets=cloud.offsets)
    assert torch.equal(other.leave_one_out(at=at), operator.leave_one_out())
    with pytest.raises(ValueError, match=r"was loaded, and the training points are not saved with it; say where"):
        other.leave_one_out()


def test_it_has_nothing_to_train_and_counts_what_it_fitted(fitted):
    operator, _, _ = fitted
    assert not list(operator.parameters())
    assert operator.num_parameters > 0


@pytest.mark.parametrize("name", NAMES)
def test_an_operator_that_is_not_fitted_says_so(name):
    operator = small_operator(name, num_inputs=num_inputs_of(name))
    cloud, targets = training_samples(name, 4)
    for use in (lambda: operator(cloud), operator.leave_one_out, lambda: operator.refit(cloud, targets)):
        with pytest.raises(
            ValueError, match=rf"This {operator.title} is not fitted yet; call fit_cloud\(cloud, targets\)"
        ):
            use()


@pytest.mark.parametrize("name", NAMES)
def test_samples_that_cannot_be_fitted_are_refused(name):
    operator = small_operator(name, num_inputs=num_inputs_of(name))
    cloud, targets = training_samples(name, 4)
    with pytest.raises(ValueError, match=r"made for 1 output channels and the targets have 2"):
        operator.fit_cloud(cloud, torch.cat([targets, targets], dim=1))
    with pytest.raises(ValueError, match=r"targets for 3 points and the cloud has \d+; give one row of targets"):
        operator.fit_cloud(cloud, targets[:3])
    with pytest.raises(ValueError, match=r"The targets of the training samples must be finite; remove NaN"):
        operator.fit_cloud(cloud, torch.where(targets == targets[0], torch.nan, targets))
    with pytest.raises(ValueError, match=r"needs at least \d training samples, to leave one out; got 1"):
        operator.fit_cloud(*samples_of(cloud, targets, [0]))
    with pytest.raises(ValueError, match=r"made for \d input channels and the cloud has \d"):
        operator.fit_cloud(replace(cloud, values=torch.cat([cloud.values, cloud.values], dim=1)), targets)


def test_a_box_smaller_than_the_bounding_box_is_refused():
    with pytest.raises(ValueError, match=r"padding must be at least 1, the bounding box itself; got 0\.5"):
        ClosedFormConfig(padding=0.5)
    with pytest.raises(ValueError, match="num_modes must be greater than 0"):
        ClosedFormConfig(num_modes=0)
