import pytest
import torch

from gola.representation.function_space import FunctionSpace
from gola.representation.smoothness import growth, held_out_errors, with_chosen_penalties


def random_points(count, seed=0):
    return torch.rand(count, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def wavy(points, wave):
    return torch.sin(wave * points[:, :1] + 1.0) * torch.cos(wave * points[:, 1:] - 0.5)


@pytest.mark.parametrize("num_modes", [25, 60])
def test_held_out_points_are_predicted_as_if_the_fit_were_made_without_them(num_modes):
    points = random_points(30)
    values = wavy(points, 4.0)
    values = values - values.mean()
    space = FunctionSpace.around(points, padding=1.25, num_modes=num_modes)
    strengths = torch.tensor([0.03, 1e-4], dtype=torch.float64)
    found = held_out_errors(space, growth(space, 2.0), strengths, points, values)
    for strength, errors in zip(strengths, found, strict=True):
        penalties = strength * growth(space, 2.0)
        for row in range(30):
            others = torch.arange(30) != row
            functions = space.functions(points[others])
            matrix = functions.T @ functions + penalties.diag()
            coefficients = torch.linalg.solve(matrix, functions.T @ values[others])
            predicted = space.functions(points[row : row + 1]) @ coefficients
            torch.testing.assert_close(errors[row], (values[row] - predicted)[0], rtol=1e-7, atol=1e-9)


def test_the_chosen_penalties_predict_unseen_points_nearly_as_well_as_the_best():
    points, elsewhere = random_points(200), random_points(400, seed=1)
    noise = 0.05 * torch.randn(200, 1, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    space = FunctionSpace.around(points, padding=1.25, num_modes=150)

    def error(fitted):
        found = fitted.coefficients([points], [wavy(points, 5.0) + noise])[0]
        return float((fitted.values(elsewhere, found) - wavy(elsewhere, 5.0)).norm())

    chosen = error(with_chosen_penalties(space, [points], [wavy(points, 5.0) + noise]))
    others = [error(space.with_penalties(200 * 10.0**power * growth(space, 2.0))) for power in range(-10, 0)]
    assert chosen < 1.2 * min(others)
    assert chosen < 0.2 * max(others)


def test_noise_is_smoothed_more_than_clean_values():
    points = random_points(150)
    noise = torch.randn(150, 1, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    space = FunctionSpace.around(points, padding=1.25, num_modes=100)
    clean = with_chosen_penalties(space, [points], [wavy(points, 4.0)])
    noisy = with_chosen_penalties(space, [points], [wavy(points, 4.0) + 0.3 * noise])
    assert noisy.penalties[1] > 100.0 * clean.penalties[1]


def test_constant_values_leave_every_penalty_possible():
    points = random_points(30)
    space = FunctionSpace.around(points, padding=1.25, num_modes=20)
    fitted = with_chosen_penalties(space, [points], [torch.ones(30, 1, dtype=torch.float64)])
    assert (fitted.penalties > 0.0).all()


def test_very_smooth_functions_are_recognised_by_few_points(monkeypatch):
    def bumps(points):
        return torch.exp(-8.0 * (points - 0.4).square().sum(dim=1, keepdim=True)) - 0.5 * torch.exp(
            -8.0 * (points - torch.tensor([0.9, 0.1])).square().sum(dim=1, keepdim=True)
        )

    samples, elsewhere = [random_points(20, seed) for seed in range(20)], random_points(400, seed=100)
    space = FunctionSpace.around(torch.cat(samples), padding=1.25, num_modes=40)

    def error():
        fitted = with_chosen_penalties(space, samples, [bumps(points) for points in samples])
        found = fitted.coefficients(samples, [bumps(points) for points in samples])
        return sum(float((fitted.values(elsewhere, one) - bumps(elsewhere)).norm()) for one in found)

    with_gaussians = error()
    monkeypatch.setattr("gola.representation.smoothness._FEW_POINTS", 0)
    assert with_gaussians < 0.8 * error()
