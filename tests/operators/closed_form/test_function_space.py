import torch

from gola.operators.closed_form.function_space import FunctionSpace


def random_points(count, dim=2, seed=0):
    return torch.rand(count, dim, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def space_with(points, num_modes, penalty, padding=1.25):
    space = FunctionSpace.around(points, padding=padding, num_modes=num_modes)
    return space.with_penalties(torch.full((num_modes,), penalty, dtype=torch.float64))


def test_a_function_of_the_space_is_recovered_from_scattered_points():
    for dim in (1, 2, 3):
        points = 3.0 * random_points(150, dim) - 1.0
        space = space_with(points, 20, penalty=1e-12, padding=1.0)
        wanted = torch.randn(20, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
        found = space.coefficients([points], [space.values(points, wanted)])[0]
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-8)


def test_a_constant_stays_exactly_constant_however_strong_the_penalty():
    points = random_points(50)
    space = space_with(points, 20, penalty=100.0)
    found = space.coefficients([points], [torch.full((50, 1), 7.0, dtype=torch.float64)])[0]
    torch.testing.assert_close(space.values(random_points(30, seed=1), found), torch.full((30, 1), 7.0).double())


def test_padding_makes_smooth_functions_with_a_slope_at_the_boundary_representable():
    points, elsewhere = random_points(300), random_points(300, seed=1)

    def error(padding):
        space = space_with(points, 100, penalty=1e-6, padding=padding)
        found = space.coefficients([points], [points[:, :1].exp()])[0]
        return (space.values(elsewhere, found) - elsewhere[:, :1].exp()).norm()

    assert error(padding=1.25) < 0.1 * error(padding=1.0)


def test_the_order_of_points_does_not_matter():
    points = random_points(60)
    values = torch.sin(5.0 * points)
    space = space_with(points, 40, penalty=1e-3)
    order = torch.randperm(60, generator=torch.Generator().manual_seed(0))
    straight, shuffled = space.coefficients([points], [values]), space.coefficients([points[order]], [values[order]])
    torch.testing.assert_close(straight, shuffled, rtol=1e-9, atol=1e-9)


def test_samples_that_share_points_are_fitted_as_if_they_did_not():
    first, second = random_points(60), random_points(50, seed=1)
    values = [torch.sin(3.0 * first), torch.cos(3.0 * first), torch.sin(second)]
    space = space_with(first, 40, penalty=1e-3)
    together = space.coefficients([first, first.clone(), second], values)
    alone = [space.coefficients([points], [one])[0] for points, one in zip([first, first, second], values, strict=True)]
    torch.testing.assert_close(together, torch.stack(alone))


def test_points_on_a_line_are_fine():
    points = random_points(40)
    points[:, 1] = 0.5
    space = space_with(points, 30, penalty=1e-6)
    found = space.coefficients([points], [points[:, :1]])[0]
    torch.testing.assert_close(space.values(points, found), points[:, :1], rtol=0, atol=1e-2)


def test_many_points_are_taken_in_portions():
    points = random_points(40_000)
    space = space_with(points, 10, penalty=1e-6)
    functions = space.functions(points)
    torch.testing.assert_close(space.gram(points), functions.T @ functions)
    torch.testing.assert_close(space.moments(points, points), functions.T @ points)
    coefficients = torch.ones(10, 1, dtype=torch.float64)
    torch.testing.assert_close(space.values(points, coefficients), functions @ coefficients)
