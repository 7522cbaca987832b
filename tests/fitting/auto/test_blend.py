import numpy as np
import pytest

from gola.fitting.auto.blend import best_weights, blended_errors, errors_of, residual_products

ONE = np.ones(1)


def products_of(errors, num_samples=20, seed=0):
    """Members whose errors are independent of each other, with these sizes."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(num_samples):
        target = rng.normal(size=(500, 1))
        found = [target + error * rng.normal(size=target.shape) for error in errors]
        made.append(residual_products(found, target, ONE))
    return np.stack(made)


def test_the_diagonal_holds_relative_errors():
    products = products_of([0.1, 0.4])
    assert np.sqrt(np.diagonal(products, axis1=1, axis2=2)).mean(axis=0) == pytest.approx([0.1, 0.4], rel=0.02)


def test_channels_count_in_units_of_their_scale():
    target = np.array([[1.0, 1000.0]])
    (one,) = residual_products([target + np.array([0.0, 100.0])], target, np.array([1.0, 1000.0])).ravel()
    assert one == pytest.approx(0.1**2 / 2)


def test_a_sample_that_is_zero_has_root_mean_square_errors():
    assert residual_products([np.ones((4, 1))], np.zeros((4, 1)), ONE) == pytest.approx(np.array([[1.0]]))


def test_independent_members_are_weighed_by_their_variance():
    weights = best_weights(products_of([0.1, 0.2]).sum(axis=0))
    assert weights == pytest.approx([0.8, 0.2], abs=0.02)
    assert errors_of(products_of([0.1, 0.2]), weights).mean() == pytest.approx(0.1 * 0.8**0.5, rel=0.02)


def test_a_member_that_only_adds_error_has_no_weight():
    rng = np.random.default_rng(0)
    target = rng.normal(size=(500, 1))
    good = 0.1 * rng.normal(size=target.shape)
    worse = residual_products([target + good, target + 3 * good], target, ONE)
    assert best_weights(worse).tolist() == [1.0, 0.0]


def test_no_choice_of_weights_is_better():
    products = products_of([0.3, 0.2, 0.25]).sum(axis=0)
    best = best_weights(products)
    assert best.sum() == pytest.approx(1.0)
    others = np.random.default_rng(1).dirichlet(np.ones(3), size=500)
    assert all(best @ products @ best <= other @ products @ other + 1e-12 for other in others)


def test_equal_and_perfect_members_are_no_problem():
    assert best_weights(np.ones((2, 2))).sum() == pytest.approx(1.0)
    assert best_weights(np.zeros((2, 2))).sum() == pytest.approx(1.0)


def test_a_sample_has_no_say_in_the_weights_it_is_judged_with():
    products = products_of([0.1, 0.1], num_samples=3)
    changed = products.copy()
    changed[0] = np.diag([1.0, 0.0])
    weights = best_weights(products[1:].sum(axis=0))
    assert blended_errors(changed)[0] == pytest.approx(weights[0])
