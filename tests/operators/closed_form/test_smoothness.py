import torch

from gola.operators.closed_form import smoothness
from gola.operators.closed_form.function_space import FunctionSpace
from gola.operators.closed_form.smoothness import growth, with_chosen_penalties


def random_points(count, seed=0):
    return torch.rand(count, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def wavy(points, wave):
    return torch.sin(wave * points[:, :1] + 1.0) * torch.cos(wave * points[:, 1:] - 0.5)


def test_left_out_points_are_scored_as_if_the_fit_were_made_without_them(monkeypatch):
    points = random_points(30)
    values = wavy(points, 4.0)
    values = values - values.mean()
    monkeypatch.setattr(smoothness, "_STRENGTHS", torch.tensor([1e-3], dtype=torch.float64))
    space = FunctionSpace.around(points, padding=1.25, num_modes=25)
    score = smoothness._scores(smoothness._spectrum(space, points, 2.0), values)
    penalties = 1e-3 * 30 * growth(space, 2.0)
    errors = []
    for row in range(30):
        others = torch.arange(30) != row
        functions = space.functions(points[others])
        matrix = functions.T @ functions + penalties.diag()
        found = torch.linalg.solve(matrix, functions.T @ values[others])
        errors.append(space.functions(points[row : row + 1]) @ found - values[row])
    brute_force = torch.cat(errors).square().sum() / values.square().sum()
    torch.testing.assert_close(score, brute_force[None], rtol=1e-9, atol=0.0)


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
