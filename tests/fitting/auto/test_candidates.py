from dataclasses import replace

import numpy as np
import pytest

from gola.fitting.auto.candidates import Candidates
from tests.fits import small_data

SAMPLES = list(small_data(num_samples=6, num_points=20))


def off_by(*shares, seed=0):
    """Predictions whose relative error on each sample is its share, in a random direction."""
    rng, found = np.random.default_rng(seed), {}
    for row, (sample, share) in enumerate(zip(SAMPLES, shares, strict=True)):
        noise = rng.standard_normal(sample.targets.shape)
        found[row] = sample.targets + share * noise / np.linalg.norm(noise) * np.linalg.norm(sample.targets)
    return found


def candidates(**held_out):
    return Candidates(samples=SAMPLES, scale=np.ones(1), held_out=held_out)


def test_the_best_candidate_may_differ_between_samples():
    both = candidates(early=off_by(0.1, 0.1, 0.4, 0.4, 0.4, 0.4), late=off_by(0.3, 0.3, 0.2, 0.2, 0.2, 0.2))
    name, errors = both.best(["early", "late"])
    assert name == "late"
    np.testing.assert_allclose(errors, [0.3, 0.3, 0.2, 0.2, 0.2, 0.2])
    assert both.best(["early"])[0] == "early"
    assert both.best_error([0, 1]) == pytest.approx(0.1)


def test_the_error_of_predictions_is_the_mean_over_their_samples():
    found = off_by(0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    assert candidates().mean_error({row: found[row] for row in (5, 1)}) == pytest.approx(0.4)


def test_a_candidate_that_others_cannot_improve_is_chosen_alone():
    choice = candidates(good=off_by(*[0.1] * 6), poor=off_by(*[0.9] * 6, seed=1)).choice("It rained.", "")
    assert choice.members == ("good",)
    assert choice.weights == (1.0,)
    assert choice.error == pytest.approx(0.1)
    assert choice.candidates["poor"] == pytest.approx(0.9)
    assert choice.why.startswith("Errors on held-out training samples: good 0.1000, poor 0.9000, blended ")
    assert choice.why.endswith(". It rained.")


def test_errors_that_cancel_make_a_blend():
    high, low = ({row: factor * one.targets for row, one in enumerate(SAMPLES)} for factor in (1.2, 0.9))
    both = candidates(high=high, low=low)
    choice = both.choice()
    assert choice.members == ("high", "low")
    np.testing.assert_allclose(choice.weights, [1 / 3, 2 / 3], atol=1e-4)
    assert choice.error < 1e-4
    assert "the blend is clearly better" in choice.why
    np.testing.assert_allclose(candidates(high=high).gains({1: low[1]}), [0.2], atol=1e-4)


def test_gains_are_clear_where_they_exceed_their_own_scatter_and_a_least_one():
    some = candidates()
    assert some.are_clear(np.array([0.10, 0.12, 0.08, 0.11]), least=0.05)
    assert not some.are_clear(np.array([0.10, 0.12, 0.08, 0.11]), least=0.15)
    assert not some.are_clear(np.array([0.5, -0.3, -0.2, 0.4]), least=0.05)


def test_channels_count_by_their_scale():
    doubled = [replace(one, targets=np.hstack([one.targets, 1e6 * one.targets])) for one in SAMPLES]
    found = {0: doubled[0].targets * [2.0, 1.0]}
    even = Candidates(samples=doubled, scale=np.array([1.0, 1e6]))
    assert even.mean_error(found) == pytest.approx(np.sqrt(0.5))


def test_a_blend_of_held_out_predictions_names_how_samples_were_held_out():
    both = candidates(high=off_by(*[0.2] * 6), low=off_by(*[0.1] * 6, seed=1))
    both.methods.update(high="leave-one-out", low="5-fold")
    blended = both.blended({"high": 0.25, "low": 0.75})
    np.testing.assert_allclose(blended.predictions[2], 0.25 * both.held_out["high"][2] + 0.75 * both.held_out["low"][2])
    assert blended.method == "5-fold and leave-one-out"
    assert both.blended({"low": 1.0}).method == "5-fold"
