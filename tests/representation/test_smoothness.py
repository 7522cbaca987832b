import torch

from gola.representation.function_space import FunctionSpace
from gola.representation.smoothness import growth, with_chosen_penalties


def random_points(count, seed=0):
    return torch.rand(count, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def wavy(points, wave):
    return torch.sin(wave * points[:, :1] + 1.0) * torch.cos(wave * points[:, 1:] - 0.5)


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


def test_a_search_finds_penalties_nearly_as_good_as_the_best_of_all(monkeypatch):
    """Points around a point, or many points of one sample, show as much as all points of all samples."""
    samples, elsewhere = [random_points(400, seed) for seed in range(4)], random_points(400, seed=100)
    for num_modes in (500, 120):
        space = FunctionSpace.around(torch.cat(samples), padding=1.25, num_modes=num_modes)

        def error(space=space):
            values = [wavy(points, 9.0) + 0.01 * torch.cos(500.0 * points[:, :1]) for points in samples]
            fitted = with_chosen_penalties(space, samples, values)
            found = fitted.coefficients(samples, values)
            return sum(float((fitted.values(elsewhere, one) - wavy(elsewhere, 9.0)).norm()) for one in found)

        searched = error()
        with monkeypatch.context() as patched:
            patched.setattr("gola.representation.smoothness._ALL_BELOW", 1000)
            assert searched < 1.05 * error()


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
