"""Error covariances, against plain regressions and their definition."""

import numpy as np
import torch

from gola.operators.closed_form.kriging import error_covariance, held_out_variances


def similarity(left, right):
    return torch.exp(-torch.cdist(left, right).square()) + left @ right.T


def random_samples(count=12, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(count, 2)))


def test_a_held_out_sample_has_the_variance_that_it_would_have_as_a_new_one():
    samples = random_samples()
    for is_affine in (True, False):
        found = held_out_variances(similarity(samples, samples), 0.1, is_affine=is_affine)
        others, new = samples[1:], samples[:1]
        matrices = [similarity(*pair) for pair in ((others, others), (new, others), (new, new))]
        wanted = error_covariance(*matrices, 0.1, is_affine=is_affine)
        torch.testing.assert_close(found[:1], wanted[0])


def test_errors_are_small_near_training_samples_and_alike_near_each_other():
    samples = random_samples()
    new = torch.stack([samples[3] + 1e-3, samples[3] + 8.0, samples[3] + 8.01])
    matrices = [similarity(*pair) for pair in ((samples, samples), (new, samples), (new, new))]
    found = error_covariance(*matrices, 1e-6)
    assert found[0, 0] < 1e-3 * found[1, 1]
    assert found[1, 2] > 0.99 * found[1, 1]
    assert torch.linalg.eigvalsh(found).min() > 0.0
