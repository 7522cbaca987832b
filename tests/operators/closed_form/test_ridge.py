import pytest
import torch

from gola.operators.closed_form.ridge import fit_ridge


def random_matrix(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def predict(fit, kernel, terms):
    return kernel @ fit.dual + terms @ fit.free


@pytest.mark.parametrize("penalty", [1e-6, 1e-2, 10.0])
@pytest.mark.parametrize("num_terms", [1, 3])
def test_held_out_predictions_equal_those_of_refits(penalty, num_terms):
    features, targets = random_matrix(12, 20), random_matrix(12, 4, seed=1)
    terms = torch.cat([torch.ones(12, 1), random_matrix(12, num_terms - 1, seed=2)], dim=1)
    kernel = features @ features.T
    fit = fit_ridge(kernel, targets, penalty, terms)
    for row in range(12):
        others = torch.arange(12) != row
        refit = fit_ridge(kernel[others][:, others], targets[others], penalty, terms[others])
        expected = predict(refit, kernel[row, others], terms[row])
        torch.testing.assert_close(fit.held_out[row], expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("penalty", [1e-6, 1e-2, 10.0])
def test_groups_are_held_out_as_a_whole(penalty):
    features, targets = random_matrix(2, 12, 20), random_matrix(2, 12, 4, seed=1)
    kernel = features @ features.mT
    groups = torch.tensor([[0, 4, 5], [1, 2, 3], [11, 9, 7], [6, 8, 10]])
    fit = fit_ridge(kernel, targets, penalty, groups=groups)
    assert torch.equal(fit.dual, fit_ridge(kernel, targets, penalty).dual)
    for group in groups:
        others = torch.tensor([row for row in range(12) if row not in group])
        for node in range(2):
            refit = fit_ridge(kernel[node][others][:, others], targets[node][others], penalty)
            expected = predict(refit, kernel[node][group][:, others], torch.ones(3, 1, dtype=torch.float64))
            torch.testing.assert_close(fit.held_out[node][group], expected, rtol=1e-8, atol=1e-8)


def test_the_dual_solution_is_that_of_penalised_least_squares():
    features, targets = random_matrix(15, 4), random_matrix(15, 2, seed=1)
    fit = fit_ridge(features @ features.T, targets, 0.3)
    design = torch.cat([features, torch.ones(15, 1)], dim=1)
    # The constant is not penalised.
    penalties = torch.tensor([0.3, 0.3, 0.3, 0.3, 0.0], dtype=torch.float64).diag()
    weights = torch.linalg.solve(design.T @ design + penalties, design.T @ targets)
    torch.testing.assert_close(features.T @ fit.dual, weights[:4])
    torch.testing.assert_close(fit.free, weights[4:])


def test_a_constant_added_to_the_targets_is_held_out_like_any_other():
    features, targets = random_matrix(10, 20), random_matrix(10, 1, seed=1)
    kernel = features @ features.T
    shifted = fit_ridge(kernel, targets + 100.0, 0.1).held_out
    torch.testing.assert_close(shifted, fit_ridge(kernel, targets, 0.1).held_out + 100.0)


def test_several_regressions_are_fitted_as_if_each_were_alone():
    features, targets = random_matrix(3, 8, 5), random_matrix(3, 8, 2, seed=1)
    kernels = features @ features.mT
    together = fit_ridge(kernels, targets, 0.1)
    for node in range(3):
        alone = fit_ridge(kernels[node], targets[node], 0.1)
        torch.testing.assert_close(together.dual[node], alone.dual)
        torch.testing.assert_close(together.free[node], alone.free)
        torch.testing.assert_close(together.held_out[node], alone.held_out)


def test_the_first_samples_are_held_out_as_if_all_were():
    features, targets = random_matrix(2, 12, 20), random_matrix(2, 12, 4, seed=1)
    kernel = features @ features.mT
    for groups in (torch.arange(12).view(3, 4).T, None):
        wanted = fit_ridge(kernel, targets, 1e-3, groups=groups)
        found = fit_ridge(kernel, targets, 1e-3, groups=groups, num_held_out=4)
        assert torch.equal(found.dual, wanted.dual)
        torch.testing.assert_close(found.held_out, wanted.held_out[:, :4])
