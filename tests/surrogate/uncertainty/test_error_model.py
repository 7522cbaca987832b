import numpy as np

from gola.surrogate.uncertainty.error_model import fit_error_model


def test_a_slope_is_found_where_there_is_one():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(40, 2))
    errors = np.exp(0.8 * features[:, 0] + 0.1 * rng.normal(size=40))
    model, held_out = fit_error_model(features, errors)
    assert 0.6 < model.slopes[0] < 0.9
    assert abs(model.slopes[1]) < 0.1
    assert np.corrcoef(np.log(held_out), np.log(errors))[0, 1] > 0.95


def test_slopes_that_would_narrow_bands_far_away_are_not_taken():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(40, 1))
    model, _ = fit_error_model(features, np.exp(-0.8 * features[:, 0]))
    assert model.slopes.tolist() == [0.0]


def test_few_or_equal_errors_give_a_constant():
    model, held_out = fit_error_model(np.random.default_rng(0).normal(size=(5, 2)), np.full(5, 0.3))
    np.testing.assert_allclose(held_out, 0.3)
    np.testing.assert_allclose(model(np.array([[7.0, -7.0]])), 0.3)


def test_errors_of_zero_do_no_harm():
    model, held_out = fit_error_model(np.zeros((5, 2)), np.zeros(5))
    assert np.isfinite(held_out).all()
    assert np.isfinite(model(np.zeros(2)))
